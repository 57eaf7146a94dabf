//go:build browser

package httpd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// screenshotsEnv names a directory for screenshots; without it there are none.
const screenshotsEnv = "REDLEAF_SCREENSHOTS"

// browser is a Chromium that looks at a site.
type browser struct {
	t    *testing.T
	ctx  context.Context
	site *site
	home string

	mu       sync.Mutex // protects everything below
	problems []string   // what the console said, and what was loaded from elsewhere
}

// newBrowser starts Chromium, headless, and a site that it reaches over the loopback interface.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	s := newSite(t, func(c *setup) { c.alloc.AutoCreate = true })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(l)
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir())})
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx, site: s, home: "http://" + l.Addr().String()}
	if err := chromedp.Listen(ctx, b.notice); err != nil { // it starts the browser, whose life the context's is
		t.Fatal(err)
	}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b.run(sent(log.Enable, cdp.Empty{}), sent(network.Enable, network.EnableParams{}), sent(runtime.Enable, cdp.Empty{}))
	return b
}

// notice takes note of errors, and of requests to elsewhere.
func (b *browser) notice(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, fmt.Sprintf("console: %v", e.Args))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.home+"/") {
			b.problems = append(b.problems, "loads "+e.Request.URL)
		}
	}
}

// sent is a command of the protocol as an action.
func sent[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// ask runs an action that has a result.
func ask[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.home+path), chromedp.WaitReady(chromedp.CSS("footer")))
}

// text returns the page's text at the selector; "" when there is none, as between two pages.
func (b *browser) text(selector string) string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
	if err != nil {
		return ""
	}
	return text
}

// awaits waits until the page's text at the selector satisfies ok: parts change by themselves.
func (b *browser) awaits(selector, what string, ok func(string) bool) {
	b.t.Helper()
	text := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-time.After(100 * time.Millisecond) {
		if text = b.text(selector); ok(text) {
			return
		}
	}
	b.t.Fatalf("%s does not show %s, but %q", selector, what, text)
}

func contains(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

// The pages work in a browser: they show what changes while ids are drawn, and create, change, search and decode.
func TestBrowser(t *testing.T) {
	b := newBrowser(t)
	b.open("/")
	b.awaits("h2", "its headline", contains("Tags"))

	before := b.text("#issued")
	stop := b.drawing("orders", "users", "<script>alert(1)</script>", "snow")
	defer stop()
	b.awaits("#issued", "more ids issued", func(text string) bool { return text != before })
	b.awaits("#tags", "the tag as text", contains("<script>alert(1)</script>"))
	b.awaits("#rate", "a rate", func(text string) bool { return text != "0" })

	b.run(chromedp.SetValue(chromedp.CSS("#tag"), "browser made/this?"), chromedp.SetValue(chromedp.CSS("#first"), "500"), chromedp.SetValue(chromedp.CSS("#step"), "20"),
		chromedp.Click(chromedp.CSS("#create button")), chromedp.WaitVisible(chromedp.CSS("#tag-state")))
	b.awaits("h1", "the new tag", contains("browser made/this?"))
	b.run(chromedp.SetValue(chromedp.CSS("#step"), "43210"), chromedp.SetValue(chromedp.CSS("#description"), "changed here"), chromedp.Click(chromedp.CSS("main form button")), chromedp.WaitVisible(chromedp.CSS("#tag-state")))
	b.awaits("#tag-state", "the new step", contains("43,210"))
	if st, err := b.site.segments.Status(t.Context(), "browser made/this?"); err != nil || st.Row.Step != 43210 || st.Row.MaxID != 500 || st.Row.Description != "changed here" {
		t.Errorf("%+v, %v", st.Row, err)
	}

	b.open("/")
	b.run(chromedp.SendKeys(chromedp.CSS("#search"), "MADE"))
	b.awaits("#found", "one tag found", contains("1 of "))
	b.awaits("#tags", "the tag found", contains("changed here"))

	id := b.site.cfg.Layout.ID(1567733700834, 39, 3448)
	b.open("/")
	b.run(chromedp.SendKeys(chromedp.CSS("#decoder input"), fmt.Sprint(id)), chromedp.Click(chromedp.CSS("#decoder button")), chromedp.WaitVisible(chromedp.CSS("#decoder dl")))
	b.awaits("#decoder dl", "the parts", func(text string) bool {
		return strings.Contains(text, "2019-09-06 01:35:00.834 UTC") && strings.Contains(text, "39") && strings.Contains(text, "3448")
	})

	for _, path := range []string{"/cache", "/db", "/tag?name=" + url.QueryEscape("<script>alert(1)</script>")} {
		b.open(path)
		b.awaits("main", "the tag as text", contains("<script>alert(1)</script>"))
	}
	b.screenshots()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.problems) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(b.problems, "\n"))
	}
}

// drawing draws ids of the tags until stop is called.
func (b *browser) drawing(tags ...string) (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		for n := 7; ; n = 7 + n*31%101 {
			for _, tag := range tags {
				request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/segment/get/%s?n=%d", b.home, url.PathEscape(tag), n), nil)
				if err != nil {
					return
				}
				response, err := http.DefaultClient.Do(request)
				if err != nil {
					return
				}
				response.Body.Close()
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	return func() {
		cancel()
		work.Wait()
	}
}

// screenshots writes the pages at the widths of a desk and a phone, light and dark, where they are wanted, and checks
// that none is wider than its window.
func (b *browser) screenshots() {
	dir := os.Getenv(screenshotsEnv)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			for name, path := range map[string]string{"dashboard": "/", "tag": "/tag?name=orders", "cache": "/cache", "db": "/db"} {
				features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
				b.run(sent(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}), chromedp.EmulateViewport(width, 900))
				b.open(path)
				if wide := ask(b, chromedp.Evaluate[int64]("document.documentElement.scrollWidth")); wide > width {
					b.t.Errorf("%s is %d wide in a window of %d", path, wide, width)
				}
				if dir == "" {
					continue
				}
				png := ask(b, chromedp.FullScreenshot(100))
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.png", name, scheme, width)), png, 0o600); err != nil {
					b.t.Error(err)
				}
			}
		}
	}
}
