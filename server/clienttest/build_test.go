//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// built holds what the toolchains make, so that a second run is quick. The go tool does not look into folders with an underscore.
const built = "../../bin/_clients"

// missingError says what a language needs and this machine has not.
type missingError string

func (e missingError) Error() string { return string(e) + " missing" }

// prepare builds the programs of a language in a copy of its folder, which it returns: the checkout stays clean.
func (l *language) prepare(ctx context.Context) (dir string, err error) {
	l.once.Do(func() { l.dir, l.err = l.make(ctx) })
	return l.dir, l.err
}

func (l *language) make(ctx context.Context) (dir string, err error) {
	if exec.CommandContext(ctx, "sh", "-c", l.probe).Run() != nil {
		return "", missingError(l.needs)
	}
	dir, err = filepath.Abs(filepath.Join(built, l.name))
	if err != nil {
		return "", err
	}
	if err := update(dir, os.DirFS(l.folder)); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	for _, words := range l.build {
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
		}
	}
	return dir, nil
}

// need ends the test when a language could not be built. One that is missing is left out, but not in CI.
func need(t *testing.T, err error) {
	t.Helper()
	_, missing := errors.AsType[missingError](err)
	switch {
	case missing && os.Getenv("CI") != "true":
		t.Skip("not run:", err)
	case err != nil:
		t.Fatal("not run:", err)
	}
}

// update writes the files that differ. Those that do not keep their time, by which cargo and maven see what to build.
func update(dir string, from fs.FS) error {
	return fs.WalkDir(from, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path)
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(from, path)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, text) {
			return nil
		}
		return os.WriteFile(to, text, 0o644)
	})
}
