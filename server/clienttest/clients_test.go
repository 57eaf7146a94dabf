//go:build clients

package clienttest

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
)

// language is a toolchain and how it makes its programs ready.
type language struct {
	name   string
	folder string     // where the programs are
	needs  string     // what must be installed, in words
	probe  string     // a shell command that succeeds where it is
	build  [][]string // commands, run in a copy of the folder

	once sync.Once // makes dir and err
	dir  string    // the copy
	err  error
}

// client is a library, and the program that uses it.
type client struct {
	name string
	in   *language
	run  []string // in the copy of the folder
}

// clients are all the libraries.
func clients() []client {
	golang := golang()
	redis8, redis4 := python("redis8"), python("redis4")
	node, java := node(), java()
	rust := &language{name: "rust", folder: "rust", needs: "cargo 1.88 or newer",
		probe: `cargo --version | awk '{split($2, v, "."); exit !(v[1] > 1 || v[2] >= 88)}'`,
		build: [][]string{{"cargo", "build", "--quiet"}}}
	c := &language{name: "c", folder: "c", needs: "gcc and hiredis", probe: "echo '#include <hiredis/hiredis.h>' | gcc -E -",
		build: [][]string{{"gcc", "-Wall", "-Wextra", "-Werror", "-o", "draw", "draw.c", "-lhiredis"}}}
	php := &language{name: "php", folder: "php", needs: "php and its redis extension",
		probe: `php -r 'exit(extension_loaded("redis") ? 0 : 1);'`}
	shell := &language{name: "shell", folder: "shell", needs: "redis-cli", probe: "redis-cli --version"}
	return []client{
		{"go-redis", golang, []string{"bin/goredis"}},
		{"rueidis", golang, []string{"bin/rueidis"}},
		{"redis-py 8", redis8, []string{"venv/bin/python", "draw.py"}},
		{"redis-py 4", redis4, []string{"venv/bin/python", "draw.py"}},
		{"ioredis", node, []string{"node", "ioredis.mjs"}},
		{"node-redis 6", node, []string{"node", "noderedis.mjs", "redis"}},
		{"node-redis 4", node, []string{"node", "noderedis.mjs", "redis4"}},
		{"Jedis", java, jvm("JedisDraw")},
		{"Lettuce", java, jvm("LettuceDraw")},
		{"Redisson", java, jvm("RedissonDraw")},
		{"redis-rs", rust, []string{"target/debug/draw"}},
		{"hiredis", c, []string{"./draw"}},
		{"phpredis", php, []string{"php", "draw.php"}},
		{"redis-cli", shell, []string{"bash", "draw.sh"}},
	}
}

func golang() *language {
	return &language{name: "go", folder: "go", needs: "go", probe: "go version",
		build: [][]string{{"go", "build", "-o", "bin/", "./..."}}}
}

// python is an environment of its own for one set of requirements.
func python(requirements string) *language {
	return &language{name: "python-" + requirements, folder: "python", needs: "python3 with venv",
		probe: "python3 -c 'import ensurepip, venv'",
		build: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "-r", "requirements-" + requirements + ".txt"},
		}}
}

func node() *language {
	return &language{name: "js", folder: "js", needs: "node 20 or newer with npm",
		probe: `npm --version && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'`,
		build: [][]string{{"npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"}}}
}

func java() *language {
	return &language{name: "java", folder: "java", needs: "a JDK 17 or newer with maven",
		probe: "mvn --version && javac --version | awk '{exit !($2 + 0 >= 17)}'",
		build: [][]string{{"mvn", "--quiet", "--batch-mode", "compile", "dependency:copy-dependencies"}}}
}

func jvm(class string) []string {
	return []string{"java", "-cp", "target/classes:target/dependency/*", "redleaf." + class}
}

func TestMain(m *testing.M) {
	if out, err := exec.Command("make", "--silent", "-C", "../..", "build").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building redleaf: %v\n%s", err, out)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestClients(t *testing.T) {
	table := &summary{}
	t.Cleanup(table.print)
	modes := []mode{
		{name: "plain, stopped", signal: syscall.SIGTERM},
		{name: "auth, killed", signal: syscall.SIGKILL, password: "s3cret:/@% ü"},
	}
	for i := range modes {
		modes[i].server = serve(t, modes[i].password)
		modes[i].all = ledger{}
	}
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			dir, err := c.in.prepare(t.Context())
			rows := table.add(c.name, modes, err)
			need(t, err)
			for i, m := range modes {
				t.Run(m.name, func(t *testing.T) { c.test(t, dir, m, rows[i]) })
			}
		})
	}
}
