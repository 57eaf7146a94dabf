package server

import "strings"

// argument is one argument in a command's syntax.
type argument struct {
	name, kind, token  string
	optional, multiple bool
}

// parseSyntax reads a row's syntax: words as they would be typed. [x] is optional, x... may be repeated, upper case is a
// keyword, and KEYWORD=x a keyword with a value. Names decide the kind: key, pattern, or a number when it is n or count.
func parseSyntax(syntax string) (arguments []argument) {
	for word := range strings.FieldsSeq(syntax) {
		var a argument
		word, a.multiple = strings.CutSuffix(word, "...")
		if inner, ok := strings.CutPrefix(word, "["); ok {
			word, a.optional = strings.TrimSuffix(inner, "]"), true
			if inner, ok := strings.CutSuffix(word, "..."); ok {
				word, a.multiple = inner, true
			}
		}
		if token, value, ok := strings.Cut(word, "="); ok {
			a.token, word = token, value
		}
		a.name, a.kind = strings.ToLower(word), "string"
		switch {
		case word == strings.ToUpper(word):
			a.kind, a.token = "pure-token", word
		case word == "key" || word == "pattern":
			a.kind = word
		case word == "n" || word == "count" || word == "step" || word == "cursor" || word == "index":
			a.kind = "integer"
		}
		arguments = append(arguments, a)
	}
	return arguments
}

// argument replies with one argument in the form of COMMAND DOCS.
func (c *client) argument(a argument) {
	var flags []string
	if a.optional {
		flags = append(flags, "optional")
	}
	if a.multiple {
		flags = append(flags, "multiple")
	}
	pairs := [][2]string{{"name", a.name}, {"type", a.kind}}
	if a.token != "" {
		pairs = append(pairs, [2]string{"token", a.token})
	}
	size := len(pairs)
	if len(flags) > 0 {
		size++
	}
	c.mapOf(size)
	for _, p := range pairs {
		c.bulk(p[0])
		c.bulk(p[1])
	}
	if len(flags) > 0 {
		c.bulk("flags")
		c.setOf(len(flags))
		for _, f := range flags {
			c.status(f)
		}
	}
}
