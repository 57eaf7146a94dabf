package server

import (
	"errors"
	"net"
)

// Errors of those who may not come in.
var (
	// ErrAuthNeeded: a name and a password are needed, or the ones given are wrong.
	ErrAuthNeeded = errors.New("a user name and password are needed")
	// ErrProtected: no password is set, and the caller is not on this machine.
	ErrProtected = errors.New("redleaf is in protected mode: no password is set, so only clients on this machine are served; " +
		"set --requirepass or --acl-file, or start with --no-protected-mode where the port can't be reached from the internet")
)

// Caller is somebody who came through another door than the Redis port, with the rights that its user has there.
type Caller struct {
	s     *Server
	user  *user
	local bool // on this machine
}

// Anonymous returns a caller who gave no password. Errors: ErrAuthNeeded, ErrProtected.
func (s *Server) Anonymous(local bool) (Caller, error) {
	u := s.firstUser()
	switch {
	case u == nil:
		return Caller{}, ErrAuthNeeded
	case !local && !s.cfg.Unprotected:
		return Caller{}, ErrProtected
	}
	return Caller{s, u, local}, nil
}

// Authenticate returns the caller with this name and password; the name "" is the default user's. An unknown name takes
// as long as a wrong password. Errors: ErrAuthNeeded, ErrProtected.
func (s *Server) Authenticate(name, password string, local bool) (Caller, error) {
	if name == "" {
		name = "default"
	}
	u := s.users[name]
	known := u != nil
	if !known {
		u = s.users["default"]
	}
	if right := u.checkPassword([]byte(password)); !right || !known || !u.on {
		return Caller{}, ErrAuthNeeded
	}
	if s.firstUser() != nil && !local && !s.cfg.Unprotected { // as on the Redis port, where it would not get as far as AUTH
		return Caller{}, ErrProtected
	}
	return Caller{s, u, local}, nil
}

// Name returns the user's name.
func (c Caller) Name() string { return c.user.name }

// Unlimited reports whether no rule limits what the caller may do to which keys.
func (c Caller) Unlimited() bool { return c.user.everything() }

// May says why the caller may not send this request on the Redis port: the command's name in lower case and its
// arguments. Its error begins with the word NOPERM.
func (c Caller) May(request ...string) error {
	cmd := c.s.commands[request[0]]
	if cmd.flags&admin != 0 && c.MayAdmin() != nil {
		return noAdmin(cmd.name)
	}
	if c.user.everything() {
		return nil
	}
	args := make([][]byte, len(request))
	for i, word := range request {
		args[i] = []byte(word)
	}
	return c.user.may(cmd, args)
}

// MayAdmin says why the caller may not administer, whatever its user's rules: it gave no password and is elsewhere.
func (c Caller) MayAdmin() error {
	if c.user.nopass && !c.local {
		return replyError("NOPERM without a password (--requirepass, --acl-file), redleaf is administered from this machine only")
	}
	return nil
}

// SegmentKey returns the key of a segment's tag on the Redis port.
func (s *Server) SegmentKey(tag string) string { return s.key(tag) }

// IsLocal reports whether a connection comes from this machine.
func IsLocal(conn net.Conn) bool { return isLocal(conn) }
