package alloc

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckTag(t *testing.T) {
	good := []string{"a", "orders", "a b", "ümlaut", "😀", "'; DROP TABLE leaf_alloc; --", "%s%n", "`x`", "a\\b",
		"{x}", strings.Repeat("x", 128), strings.Repeat("😀", 128)}
	for _, name := range good {
		if err := CheckTag(name); err != nil {
			t.Errorf("CheckTag(%q) = %v, want nil", name, err)
		}
	}
	bad := []string{"", " a", "a ", "\u00a0a", "a\n", "a\x00b", "\x7f", "a\u0085b", "\xff", "a\xc3",
		strings.Repeat("x", 129), strings.Repeat("😀", 129)}
	for _, name := range bad {
		if err := CheckTag(name); !errors.Is(err, ErrBadTag) {
			t.Errorf("CheckTag(%q) = %v, want ErrBadTag", name, err)
		}
	}
}
