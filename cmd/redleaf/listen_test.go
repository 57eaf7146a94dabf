package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// writeCert writes a self-signed certificate for 127.0.0.1 and its key, and returns the certificate.
func writeCert(t *testing.T, certFile, keyFile, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func trusting(cert *x509.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// lastAddr returns the address of the listener that the process announced last.
func lastAddr(p *process) string {
	all := servingLine.FindAllStringSubmatch(p.logged(), -1)
	return all[len(all)-1][1]
}

// A changed certificate is used for new connections, one that can't be read is not, and both without a restart.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writeCert(t, certFile, keyFile, "first")
	p := startProcess(t, "--init", "--store", newSQLite(t), "--listen", "", "--tls-listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--requirepass", "sesame")
	client := redis.NewClient(&redis.Options{Addr: p.addr, Password: "sesame", TLSConfig: trusting(first), MaxRetries: -1})
	defer client.Close()
	if id, err := client.Incr(t.Context(), "segment:a").Result(); err != nil || id != 1 {
		t.Fatalf("INCR over TLS: %d, %v", id, err)
	}
	out, err := exec.CommandContext(t.Context(), "redis-cli", "-h", "127.0.0.1", "-p", p.addr[strings.LastIndex(p.addr, ":")+1:], "--tls", "--cacert", certFile,
		"--no-auth-warning", "-a", "sesame", "INCR", "segment:a").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "2" {
		t.Errorf("redis-cli --tls: %q, %v", out, err)
	}

	second := writeCert(t, certFile, keyFile, "second")
	awaitCert(t, p.addr, trusting(second))
	if err := os.WriteFile(certFile, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); !strings.Contains(p.logged(), "can't be used"); {
		if time.Now().After(deadline) {
			t.Fatal("the log does not tell of the broken certificate")
		}
		awaitCert(t, p.addr, trusting(second))
	}
}

// awaitCert connects until the server shows a certificate that the configuration trusts: files are looked at once a second.
func awaitCert(t *testing.T, addr string, config *tls.Config) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		var conn *tls.Conn
		if conn, err = tls.Dial("tcp", addr, config); err == nil {
			conn.Close()
			return
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal(err)
}

// With --tls-client-ca only clients that show a certificate get in.
func TestTLSClientCertificates(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	caFile, caKey := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "ca-key.pem")
	serverCert := writeCert(t, certFile, keyFile, "server")
	writeCert(t, caFile, caKey, "client")
	p := startProcess(t, "--init", "--store", newSQLite(t), "--tls-listen", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--tls-client-ca", caFile)
	config := trusting(serverCert)
	for range 2 {
		client := redis.NewClient(&redis.Options{Addr: tlsAddr(t, p), TLSConfig: config, MaxRetries: -1})
		err := client.Ping(t.Context()).Err()
		client.Close()
		if (err == nil) != (len(config.Certificates) > 0) {
			t.Errorf("with %d certificates: %v", len(config.Certificates), err)
		}
		pair, err := tls.LoadX509KeyPair(caFile, caKey)
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
}

// tlsAddr waits for the second listener to be announced.
func tlsAddr(t *testing.T, p *process) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		if addr := lastAddr(p); addr != p.addr {
			return addr
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("no second listener:\n%s", p.logged())
	return ""
}

// The Unix socket has the mode asked for, survives a crash's leftover, and is gone after a stop.
func TestUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "redleaf.sock")
	args := []string{"--init", "--store", newSQLite(t), "--unix-socket", socket, "--unix-socket-mode", "0600"}
	p := startProcess(t, args...)
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1})
	defer client.Close()
	tlsAddr(t, p)
	if id, err := client.Incr(t.Context(), "segment:a").Result(); err != nil || id != 1 {
		t.Fatalf("INCR over the socket: %d, %v", id, err)
	}
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, stderr, status := command(t, t.TempDir(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...); status != 1 || !strings.Contains(stderr, "--unix-socket") {
		t.Errorf("a second server on the socket: exit status %d, %s", status, stderr)
	}
	p.kill()
	p = startProcess(t, args...)
	if status := p.stop(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	if _, err := os.Stat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// SHUTDOWN stops the node as SIGTERM does.
func TestShutdownCommand(t *testing.T) {
	p := startProcess(t, "--init", "--store", newSQLite(t))
	redisCLI(t, p.addr, "INCR", "segment:a")
	redisCLI(t, p.addr, "SHUTDOWN", "NOSAVE")
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		t.Fatal("it goes on")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 || !strings.Contains(p.logged(), "gave back unused ids\" ids=999") {
		t.Errorf("exit status %d\n%s", code, p.logged())
	}
}

// An ACL file decides who may what.
func TestACLFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users.acl")
	if err := os.WriteFile(file, []byte("user default off\nuser shop on >pw ~segment:orders -@all +@draw\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, "--init", "--store", newSQLite(t), "--acl-file", file)
	login := []string{"--no-auth-warning", "--user", "shop", "-a", "pw"}
	for line, want := range map[string]string{
		"INCR segment:orders":  "1",
		"INCR segment:other":   "NOPERM this user has no permissions to access one of the keys used as arguments",
		"SET segment:orders 5": "NOPERM this user has no permissions to run the 'set' command",
	} {
		if got := redisCLI(t, p.addr, append(login, strings.Fields(line)...)...); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := redisCLI(t, p.addr, "INCR", "segment:orders"); got != "NOAUTH Authentication required." {
		t.Errorf("without AUTH: %q", got)
	}
}
