package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxBody bounds what is read of a reply: an id is 19 bytes, an error page may be long.
const maxBody = 64 << 10

// An httpClient asks a server that gives out one id a request as plain text, as Leaf does. It keeps one connection.
type httpClient struct {
	client http.Client
	urls   []string // of each key
	reqs   *requests
}

func newHTTPClient(l Load, reqs *requests) *httpClient {
	h := &httpClient{reqs: reqs, client: http.Client{Transport: &http.Transport{
		TLSClientConfig: l.Target.TLS, MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true,
	}}}
	for _, key := range reqs.keys {
		_, tag, ok := strings.Cut(key, ":")
		if !ok {
			tag = key
		}
		h.urls = append(h.urls, l.Target.Scheme+"://"+l.Target.Addr+strings.ReplaceAll(l.Target.Template, "{tag}", url.PathEscape(tag)))
	}
	return h
}

func (h *httpClient) exchange(ctx context.Context, first int64, n int, w *worker) error {
	for i := range int64(n) {
		if err := h.one(ctx, first+i, w); err != nil {
			return err
		}
	}
	return nil
}

// one asks for one id.
func (h *httpClient) one(ctx context.Context, request int64, w *worker) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, h.urls[h.reqs.key(request)], nil)
	if err != nil {
		return err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	id, ok := number(bytes.TrimSpace(body))
	if !ok || resp.StatusCode != http.StatusOK {
		w.fail(fmt.Sprintf("%s: %.80q", resp.Status, body))
		w.arrived(1, 0, 1)
		return nil
	}
	w.arrived(1, taken(w, request, id), 0)
	return nil
}

func (h *httpClient) interrupt() {} // calls end with their context
func (h *httpClient) close()     { h.client.CloseIdleConnections() }
