package mariadbtest

import (
	"net/url"
	"testing"
)

// Through returns a store's URL with another host:port.
func Through(t testing.TB, storeURL, addr string) string {
	t.Helper()
	u, err := url.Parse(storeURL)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = addr
	return u.String()
}
