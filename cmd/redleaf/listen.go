package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"redleaf/server"
)

// listenFlags say where clients connect.
type listenFlags struct {
	Listen         string `default:"127.0.0.1:6379" placeholder:"ADDR" help:"Address of the Redis port; empty: none (default: ${default})."`
	TLSListen      string `name:"tls-listen" placeholder:"ADDR" help:"Address of a Redis port that speaks TLS."`
	TLSCert        string `name:"tls-cert" placeholder:"FILE" help:"Certificate of the TLS port, PEM; read again when it changes."`
	TLSKey         string `name:"tls-key" placeholder:"FILE" help:"Its private key, PEM."`
	TLSClientCA    string `name:"tls-client-ca" placeholder:"FILE" help:"Clients of the TLS port must show a certificate signed by one of these, PEM."`
	UnixSocket     string `placeholder:"FILE" help:"Unix socket to listen on as well."`
	UnixSocketMode string `default:"0660" placeholder:"MODE" help:"Its permissions, octal (default: ${default})."`
}

func (f listenFlags) check() error {
	if f.Listen == "" && f.TLSListen == "" && f.UnixSocket == "" {
		return errors.New("--listen: it is empty, and there is no --tls-listen and no --unix-socket")
	}
	if (f.TLSListen == "") != (f.TLSCert == "") || (f.TLSCert == "") != (f.TLSKey == "") {
		return errors.New("--tls-listen, --tls-cert and --tls-key: give all three, or none")
	}
	if f.TLSClientCA != "" && f.TLSListen == "" {
		return errors.New("--tls-client-ca: there is no --tls-listen")
	}
	if _, err := f.socketMode(); err != nil {
		return err
	}
	for _, a := range [][2]string{{"--listen", f.Listen}, {"--tls-listen", f.TLSListen}} {
		if err := checkAddr(a[0], a[1]); err != nil {
			return err
		}
	}
	return nil
}

func (f listenFlags) socketMode() (fs.FileMode, error) {
	mode, err := strconv.ParseUint(f.UnixSocketMode, 8, 32)
	if err != nil || mode > 0o777 {
		return 0, fmt.Errorf("--unix-socket-mode %q: want octal permissions, as 0660", f.UnixSocketMode)
	}
	return fs.FileMode(mode), nil
}

// openListeners returns the listeners, the plain port first. When one can't be had, none is left open.
func (f listenFlags) openListeners(ctx context.Context, log *slog.Logger) (all []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(all)
		}
	}()
	for _, open := range []func(context.Context, *slog.Logger) (net.Listener, error){f.openPlain, f.openTLS, f.openUnix} {
		l, err := open(ctx, log)
		if err != nil {
			return all, err
		}
		if l != nil {
			all = append(all, l)
		}
	}
	return all, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		if l != nil {
			l.Close()
		}
	}
}

func (f listenFlags) openPlain(ctx context.Context, _ *slog.Logger) (net.Listener, error) {
	if f.Listen == "" {
		return nil, nil //nolint:nilnil // no such listener is wanted
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", explainListen(err))
	}
	return l, nil
}

func (f listenFlags) openTLS(ctx context.Context, log *slog.Logger) (net.Listener, error) {
	if f.TLSListen == "" {
		return nil, nil //nolint:nilnil // no such listener is wanted
	}
	config, err := server.TLSConfig(server.TLSFiles{Cert: f.TLSCert, Key: f.TLSKey, ClientCA: f.TLSClientCA}, log)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert/--tls-key/--tls-client-ca: %w", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.TLSListen)
	if err != nil {
		return nil, fmt.Errorf("--tls-listen: %w", explainListen(err))
	}
	return tls.NewListener(l, config), nil
}

// openUnix makes the socket. One that a process left behind, and that nobody listens on, is replaced.
func (f listenFlags) openUnix(ctx context.Context, _ *slog.Logger) (net.Listener, error) {
	if f.UnixSocket == "" {
		return nil, nil //nolint:nilnil // no such listener is wanted
	}
	if err := removeStale(ctx, f.UnixSocket); err != nil {
		return nil, fmt.Errorf("--unix-socket: %w", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "unix", f.UnixSocket)
	if err != nil {
		return nil, fmt.Errorf("--unix-socket: %w", err)
	}
	mode, err := f.socketMode()
	if err == nil {
		err = os.Chmod(f.UnixSocket, mode)
	}
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("--unix-socket: %w", err)
	}
	return l, nil
}

func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket", path)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if conn, err := new(net.Dialer).DialContext(ctx, "unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("%s: another server listens on it", path)
	}
	return os.Remove(path)
}

// explainListen says what to do about an address that can't be had.
func explainListen(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w; another server is there: stop it, or choose another address", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; choose a port above 1023, or grant the right to use it", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w; this machine has no such address", err)
	}
	return err
}
