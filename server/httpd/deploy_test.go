package httpd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"
)

const deploy = "../../deploy/"

// Every metric that the alert rules and the dashboard ask for is one that redleaf shows, with the labels that they name.
func TestDeployNamesRealMetrics(t *testing.T) {
	s := newSite(t).byHand()
	s.commands(t, "INCR segment:orders", "PING", "NOSUCH")
	s.get("/api/segment/get/orders").want(t, http.StatusOK)
	s.sampler.sample(time.Now())
	text := s.get("/metrics").want(t, http.StatusOK).body
	name := regexp.MustCompile(`\b(redleaf|process)_[a-z_]+`)
	for _, file := range []string{"prometheus-alerts.yml", "prometheus-alerts-test.yml", "grafana-dashboard.json"} {
		content, err := os.ReadFile(deploy + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range name.FindAllString(string(content), -1) {
			if !regexp.MustCompile(`(?m)^(# TYPE )?` + metric + `[{ ]`).MatchString(text) {
				t.Errorf("%s asks for %s", file, metric)
			}
		}
	}
}

// commands sends inline commands to the Redis port, each answered by one line.
func (s *site) commands(t *testing.T, lines ...string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.cfg.Redis.Serve(l)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	replies := bufio.NewScanner(conn)
	for _, line := range lines {
		fmt.Fprintf(conn, "%s\r\n", line)
		if !replies.Scan() {
			t.Fatal(replies.Err())
		}
	}
}

// The dashboard is JSON whose panels do not overlap.
func TestGrafanaDashboard(t *testing.T) {
	content, err := os.ReadFile(deploy + "grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			ID      int
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(content, &d); err != nil {
		t.Fatal(err)
	}
	taken, ids := map[[2]int]string{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q: %+v", p.Title, p)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("panels %q and %q overlap", other, p.Title)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
}

// The alert rules are right, and each goes off when it should and not before: promtool says so, where it is installed.
func TestAlertRules(t *testing.T) {
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: make test-deploy installs it")
	}
	for _, args := range [][]string{{"check", "rules", "prometheus-alerts.yml"}, {"test", "rules", "prometheus-alerts-test.yml"}} {
		cmd := exec.CommandContext(t.Context(), path, args...)
		cmd.Dir = deploy
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
