//go:build clients

package clienttest

import (
	"bytes"
	"context"
	"testing"
	"time"
)

// TestCachingClient lets a client ask for client-side caching. A cached reply would be an id that is issued twice, so the
// server must refuse in a way that the client can't overlook: it does not look at the reply to CLIENT CACHING YES.
func TestCachingClient(t *testing.T) {
	dir, err := golang().prepare(t.Context())
	need(t, err)
	s := serve(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := client{run: []string{"bin/caching"}}.command(ctx, dir, s.addr, "")
	cmd.Env = append(cmd.Env, "REDLEAF_TAG=caching")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, complaint(err))
	}
	got, err := listen(bytes.NewReader(out), nil)
	if err != nil {
		t.Fatal(err)
	}
	if twice := (ledger{}).add("", got.ids); twice > 0 || got.refusal == "" {
		t.Errorf("%d ids came twice; the refusal was %q:\n%s", twice, got.refusal, out)
	}
}
