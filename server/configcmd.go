package server

import (
	"net"
	"strconv"
	"strings"
)

// configCmd is CONFIG GET pattern...: what clients and tools ask for before they work.
func (c *client) configCmd(args [][]byte) error {
	switch strings.ToUpper(string(args[1])) {
	case "GET":
		if len(args) < 3 {
			return wrongArity("config|get")
		}
		c.configGet(args[2:])
	case "HELP":
		c.help("CONFIG", "GET <pattern>")
	default:
		return unknownSubcommand("CONFIG", args[1])
	}
	return nil
}

func (c *client) configGet(patterns [][]byte) {
	var found []field
	for _, f := range c.s.parameters() {
		for _, pattern := range patterns {
			if glob(strings.ToLower(string(pattern)), f.name) {
				found = append(found, f)
				break
			}
		}
	}
	c.mapOf(len(found))
	for _, f := range found {
		c.bulk(f.name)
		c.bulk(f.value)
	}
}

// parameters lists the settings under Redis's names. Secrets are not among them.
func (s *Server) parameters() []field {
	host, port := s.listening()
	protected := "yes"
	if s.cfg.Unprotected {
		protected = "no"
	}
	return []field{
		{"appendonly", "no"},
		{"bind", host},
		{"databases", strconv.Itoa(databases)},
		{"maxclients", strconv.Itoa(s.cfg.MaxClients)},
		{"maxmemory", "0"},
		{"maxmemory-policy", "noeviction"},
		{"port", port},
		{"proto-max-bulk-len", strconv.Itoa(s.cfg.MaxRequest)},
		{"protected-mode", protected},
		{"replica-read-only", "yes"},
		{"save", ""},
		{"slave-read-only", "yes"},
		{"timeout", "0"},
	}
}

// listening returns the host and the port of the listener.
func (s *Server) listening() (host, port string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener == nil {
		return "", "0"
	}
	host, port, err := net.SplitHostPort(s.listener.Addr().String())
	if err != nil {
		return s.listener.Addr().String(), "0"
	}
	return host, port
}
