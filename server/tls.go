package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certCheck is how often, at most, the certificate's files are looked at.
const certCheck = time.Second

// TLSFiles are the files of a TLS listener.
type TLSFiles struct {
	Cert, Key string // PEM
	ClientCA  string // PEM; clients must show a certificate that one of these signed; "": they need none
}

// TLSConfig reads the files and returns a configuration that reads them again when they change. A changed file that
// can't be used is logged, and the old one stays.
func TLSConfig(files TLSFiles, log *slog.Logger) (*tls.Config, error) {
	r := &certReloader{files: files, log: log}
	if err := r.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return r.config(), nil },
	}, nil
}

// certReloader keeps the configuration of the files as they are. Safe for concurrent use.
type certReloader struct {
	files TLSFiles
	log   *slog.Logger

	mu      sync.Mutex // protects everything below
	current *tls.Config
	stamps  [3]stamp
	checked time.Time
}

// stamp tells whether a file has changed.
type stamp struct {
	size  int64
	mtime time.Time
}

func (r *certReloader) config() *tls.Config {
	r.mu.Lock()
	due := time.Since(r.checked) > certCheck
	r.mu.Unlock()
	if due {
		if err := r.load(); err != nil {
			r.log.Warn("the changed TLS files can't be used; the old ones stay", "err", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// load reads the files if they have changed.
func (r *certReloader) load() error {
	var stamps [3]stamp
	for i, name := range []string{r.files.Cert, r.files.Key, r.files.ClientCA} {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checked = time.Now()
	if r.current != nil && stamps == r.stamps {
		return nil
	}
	r.stamps = stamps
	config, err := r.read()
	if err != nil {
		return err
	}
	if r.current != nil {
		r.log.Info("TLS files have changed and are in use", "cert", r.files.Cert)
	}
	r.current = config
	return nil
}

func (r *certReloader) read() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(r.files.Cert, r.files.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", r.files.Cert, r.files.Key, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	if r.files.ClientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(r.files.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("client CA: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("client CA %s: %w", r.files.ClientCA, errors.New("no certificate in it"))
	}
	return config, nil
}
