//go:build clients

package clienttest

import (
	"bytes"
	"context"
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

// prepare builds the programs of a language in a copy of its folder, and returns the copy or what is missing. The
// checkout stays clean.
func (l *language) prepare(t *testing.T) (dir, missing string) {
	t.Helper()
	if exec.Command("sh", "-c", l.probe).Run() != nil {
		return "", l.needs + " missing"
	}
	dir, err := filepath.Abs(filepath.Join(built, l.name))
	if err != nil {
		t.Fatal(err)
	}
	if err := update(dir, os.DirFS(l.folder)); err != nil {
		t.Fatal(err)
	}
	for _, words := range l.build {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, words[0], words[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
		}
	}
	return dir, ""
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
