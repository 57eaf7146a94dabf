package alloc

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxTag is the longest tag, in characters: Leaf's column is varchar(128).
const MaxTag = 128

// CheckTag reports why a name can't be a tag, wrapping ErrBadTag: it must have 1 to MaxTag characters of UTF-8, no
// control characters, and no space at either end (databases disagree on whether that counts in comparisons).
func CheckTag(name string) error {
	if name == "" {
		return fmt.Errorf("%w: it is empty", ErrBadTag)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%w: it is not UTF-8", ErrBadTag)
	}
	if utf8.RuneCountInString(name) > MaxTag {
		return fmt.Errorf("%w: it has more than %d characters", ErrBadTag, MaxTag)
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return fmt.Errorf("%w: it starts or ends with a space", ErrBadTag)
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: it has a control character", ErrBadTag)
		}
	}
	return nil
}
