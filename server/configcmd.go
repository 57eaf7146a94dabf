package server

import (
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"
)

// configCmd is CONFIG GET pattern... | SET name value... | RESETSTAT.
func (c *client) configCmd(args [][]byte) error {
	switch sub := strings.ToUpper(string(args[1])); {
	case sub == "GET" && len(args) > 2:
		c.configGet(args[2:])
	case sub == "SET" && len(args) > 3 && len(args)%2 == 0:
		return c.configSet(args[2:])
	case sub == "RESETSTAT" && len(args) == 2:
		if !c.mayAdmin() {
			return noAdmin("config|resetstat")
		}
		c.s.stats.reset()
		c.status("OK")
	case sub == "REWRITE" && len(args) == 2:
		return replyError("ERR The server is running without a config file")
	case sub == "HELP" && len(args) == 2:
		c.help("CONFIG", "GET <pattern> ...", "RESETSTAT", "SET <directive> <value> ...")
	case sub == "GET", sub == "SET", sub == "RESETSTAT", sub == "REWRITE", sub == "HELP":
		return wrongArity("config|" + strings.ToLower(sub))
	default:
		return unknownSubcommand("CONFIG", args[1])
	}
	return nil
}

func (c *client) configGet(patterns [][]byte) {
	var found []parameter
	for _, p := range c.s.parameters() {
		for _, pattern := range patterns {
			if glob(strings.ToLower(string(pattern)), p.name) {
				found = append(found, p)
				break
			}
		}
	}
	c.mapOf(len(found))
	for _, p := range found {
		c.bulk(p.name)
		c.bulk(p.value)
	}
}

// configSet sets all parameters or, when one is wrong, none.
func (c *client) configSet(args [][]byte) error {
	if !c.mayAdmin() {
		return noAdmin("config|set")
	}
	var changes []func()
	seen := map[string]bool{}
	for i := 0; i < len(args); i += 2 {
		name := strings.ToLower(string(args[i]))
		if seen[name] {
			return configError(name, "duplicate parameter")
		}
		seen[name] = true
		change, err := c.s.setting(name, string(args[i+1]))
		if err != nil {
			return err
		}
		changes = append(changes, change)
	}
	for _, change := range changes {
		change()
	}
	c.status("OK")
	return nil
}

// setting returns what setting the parameter to the value does.
func (s *Server) setting(name, value string) (func(), error) {
	for _, p := range s.parameters() {
		if p.name != name {
			continue
		}
		if p.set == nil {
			return nil, configError(name, "can't set immutable config")
		}
		change, problem := p.set(value)
		if problem != "" {
			return nil, configError(name, problem)
		}
		return change, nil
	}
	return nil, replyError("ERR Unknown option or number of arguments for CONFIG SET - '" + string(clip([]byte(name), 128)) + "'")
}

func configError(name, problem string) error {
	return replyError("ERR CONFIG SET failed (possibly related to argument '" + name + "') - " + problem)
}

// parameter is a setting under Redis's name, or our own where Redis has none. set, where it can change while the server
// runs, returns what changes it, or what is wrong with the value.
type parameter struct {
	name, value string
	set         func(value string) (change func(), problem string)
}

// parameters lists the settings by name. Secrets are not among them.
func (s *Server) parameters() []parameter {
	host, port := s.listening()
	protected := "yes"
	if s.cfg.Unprotected {
		protected = "no"
	}
	bare := "no"
	if s.cfg.BareKeys {
		bare = "yes"
	}
	return []parameter{
		{"appendonly", "no", nil},
		{"bare-keys", bare, nil},
		{"bind", host, nil},
		{"databases", strconv.Itoa(databases), nil},
		{"latency-monitor-threshold", strconv.FormatInt(s.latency.threshold.Load()/1e6, 10), number(0, 1e9, func(n int64) { s.latency.threshold.Store(n * 1e6) })},
		{"loglevel", s.logLevel(), s.setLogLevel},
		{"maxclients", strconv.FormatInt(s.maxClients.Load(), 10), number(1, 1e6, s.maxClients.Store)},
		{"maxmemory", "0", nil},
		{"maxmemory-policy", "noeviction", nil},
		{"port", port, nil},
		{"proto-max-bulk-len", strconv.Itoa(s.cfg.MaxRequest), nil},
		{"protected-mode", protected, nil},
		{"replica-read-only", "yes", nil},
		{"save", "", nil},
		{"slave-read-only", "yes", nil},
		{"slowlog-max-len", strconv.FormatInt(s.slow.limit.Load(), 10), number(0, maxSlowlog, s.slow.limit.Store)},
		{"slowlog-log-slower-than", micros(s.slow.threshold.Load()), number(-1, 1e12, func(n int64) { s.slow.threshold.Store(n * 1000) })},
		{"timeout", strconv.FormatInt(s.idle.Load()/1e9, 10), number(0, 1e9, func(n int64) { s.idle.Store(n * 1e9) })},
		{"wait", s.wait(), s.setWait},
	}
}

// maxSlowlog bounds slowlog-max-len.
const maxSlowlog = 100_000

// number is the set of a parameter that is a number from lo to hi.
func number(lo, hi int64, store func(int64)) func(string) (func(), string) {
	return func(value string) (func(), string) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, "argument couldn't be parsed into an integer"
		}
		if n < lo || n > hi {
			return nil, "argument must be between " + strconv.FormatInt(lo, 10) + " and " + strconv.FormatInt(hi, 10) + " inclusive"
		}
		return func() { store(n) }, ""
	}
}

// logLevel returns the level under Redis's name.
func (s *Server) logLevel() string {
	if s.cfg.LogLevel == nil {
		return "notice"
	}
	switch level := s.cfg.LogLevel.Level(); {
	case level <= slog.LevelDebug:
		return "debug"
	case level <= slog.LevelInfo:
		return "notice"
	}
	return "warning"
}

// setLogLevel knows Redis's levels and slog's.
func (s *Server) setLogLevel(value string) (func(), string) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "verbose": slog.LevelDebug, "notice": slog.LevelInfo, "info": slog.LevelInfo,
		"warning": slog.LevelWarn, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[strings.ToLower(value)]
	switch {
	case !ok:
		return nil, "argument(s) must be one of the following: debug, verbose, notice, warning"
	case s.cfg.LogLevel == nil:
		return nil, "can't set immutable config"
	}
	return func() { s.cfg.LogLevel.Set(level) }, ""
}

// wait returns how long a call may wait for ids.
func (s *Server) wait() string {
	if s.cfg.Segments != nil {
		return s.cfg.Segments.Wait().String()
	}
	return s.cfg.Snowflakes.Wait().String()
}

func (s *Server) setWait(value string) (func(), string) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return nil, "argument must be a time from 1ms to 1h, as 500ms"
	}
	return func() {
		if s.cfg.Segments != nil {
			s.cfg.Segments.SetWait(d)
		}
		if s.cfg.Snowflakes != nil {
			s.cfg.Snowflakes.SetWait(d)
		}
	}, ""
}

// listening returns the host and the port of the first listener.
func (s *Server) listening() (host, port string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) == 0 {
		return "", "0"
	}
	addr := s.listeners[0].Addr().String()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr, "0"
	}
	return host, port
}
