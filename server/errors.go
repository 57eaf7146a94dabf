package server

import (
	"errors"
	"fmt"
	"strings"

	"redleaf/alloc"
	"redleaf/snowflake"
)

// replyError is an error in the words that the client gets.
type replyError string

func (e replyError) Error() string { return string(e) }

// Redis's own errors, word for word.
const (
	errSyntax      replyError = "ERR syntax error"
	errNotInt      replyError = "ERR value is not an integer or out of range"
	errNotPositive replyError = "ERR value is out of range, must be positive"
	errWrongType   replyError = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNoAuth      replyError = "NOAUTH Authentication required."
	errWrongPass   replyError = "WRONGPASS invalid username-password pair or user is disabled."
	errNoPassword  replyError = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	errDBIndex     replyError = "ERR DB index is out of range"
	errCursor      replyError = "ERR invalid cursor"
)

// Errors of redleaf's own.
const (
	errKeys          replyError = "ERR keys are segment:<tag> or snowflake:<tag>"
	errForward       replyError = "ERR value must be 1 or more: ids only move forward"
	errSegmentsOff   replyError = "ERR segment mode is off on this node (--modes)"
	errSnowflakesOff replyError = "ERR snowflake mode is off on this node (--modes)"

	// In Redis's words as far as they are true here.
	protectedModeError = "DENIED redleaf is running in protected mode because protected mode is enabled and no password is set for " +
		"the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from " +
		"external computers to redleaf you may adopt one of the following solutions: 1) Restart it with --requirepass and give " +
		"clients the password, or define users in --acl-file. 2) Restart it with --no-protected-mode, making sure that the port is not reachable from the internet."
)

// tagError is an error about one tag.
type tagError struct {
	tag string
	err error
}

func (e *tagError) Error() string { return e.err.Error() }
func (e *tagError) Unwrap() error { return e.err }

// errorReply turns an error into the words that the client gets. The first word says what the client may do: TRYAGAIN may
// pass, everything else will not by itself.
func errorReply(err error) string {
	if e, ok := errors.AsType[replyError](err); ok {
		return string(e)
	}
	if e, ok := errors.AsType[protocolError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*alloc.FloorError](err); ok {
		return "ERR " + e.Error()
	}
	switch {
	case errors.Is(err, alloc.ErrNoTag), errors.Is(err, alloc.ErrTooManyTags):
		return noTag(err)
	case errors.Is(err, alloc.ErrStopped): // snowflakes wrap it in an ErrUnavailable
		return "MISCONF " + err.Error()
	case errors.Is(err, alloc.ErrUnavailable), errors.Is(err, snowflake.ErrUnavailable):
		return "TRYAGAIN " + err.Error()
	case errors.Is(err, alloc.ErrClosed), errors.Is(err, snowflake.ErrClosed):
		return "TRYAGAIN this node is stopping"
	case errors.Is(err, alloc.ErrExhausted), errors.Is(err, snowflake.ErrExhausted):
		return "EXHAUSTED " + err.Error()
	case errors.Is(err, alloc.ErrWentBackwards):
		return "MISCONF " + err.Error()
	}
	return "ERR " + err.Error()
}

func noTag(err error) string {
	tag := "<tag>"
	if e, ok := errors.AsType[*tagError](err); ok {
		tag = e.tag
	}
	if errors.Is(err, alloc.ErrTooManyTags) {
		return fmt.Sprintf("NOTAG tag '%s' does not exist, and no more are created by drawing (--max-tags); SET segment:%s 0 creates it", tag, tag)
	}
	return fmt.Sprintf("NOTAG tag '%s' does not exist; SET segment:%s 0 creates it", tag, tag)
}

// unknownCommand says so as Redis does, with the arguments' beginning.
func unknownCommand(args [][]byte) replyError {
	const most = 128 // bytes of the name, and of the arguments shown
	var shown strings.Builder
	for _, arg := range args[1:] {
		if shown.Len() >= most {
			break
		}
		fmt.Fprintf(&shown, "'%s' ", clip(arg, most-shown.Len()))
	}
	return replyError(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", clip(args[0], most), shown.String()))
}

func unknownSubcommand(command string, sub []byte) replyError {
	return replyError(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.", clip(sub, 128), command))
}

// subcommandSyntax is Redis's error for subcommands whose number of arguments it checks itself.
func subcommandSyntax(command string, sub []byte) replyError {
	return replyError(fmt.Sprintf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.", clip(sub, 128), command))
}

func wrongArity(name string) replyError {
	return replyError(fmt.Sprintf("ERR wrong number of arguments for '%s' command", name))
}

func clip(b []byte, most int) []byte { return b[:min(len(b), most)] }
