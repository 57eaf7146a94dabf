package report

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Addrs are the addresses of several nodes.
func Addrs() []string { return strings.Split(os.Getenv("REDLEAF_ADDR"), ",") }

// Several draws from 100 tags in turn with 8 workers until the file is there, whatever becomes of the nodes. Of each id it
// tells for how many milliseconds its worker had got none.
func (r *Report) Several(draw func(key string) (int64, error)) {
	var mu sync.Mutex // protects the output
	say := func(words ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(r.out, words...)
		r.out.Flush()
	}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			since := time.Now()
			for i := w * 12; ; i++ {
				if _, err := os.Stat(os.Getenv("REDLEAF_UP")); err == nil {
					return
				}
				if id, err := draw(fmt.Sprintf("segment:t%d", i%100)); err != nil {
					say("failed", strings.ReplaceAll(err.Error(), "\n", " "))
				} else {
					say("drew", i%100, id, time.Since(since).Milliseconds())
					since = time.Now().Add(20 * time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	workers.Wait()
}
