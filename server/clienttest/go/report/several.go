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

// Several draws from 100 tags with 8 workers until the file is there, whatever becomes of the nodes, and tells of each
// id after how many milliseconds it came, failures included.
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
			for i := w * 12; ; i++ {
				if _, err := os.Stat(os.Getenv("REDLEAF_UP")); err == nil {
					return
				}
				tag := i % 100
				since := time.Now()
				for {
					id, err := draw(fmt.Sprintf("segment:t%d", tag))
					if err == nil {
						say("drew", tag, id, time.Since(since).Milliseconds())
						break
					}
					say("failed", strings.ReplaceAll(err.Error(), "\n", " "))
					time.Sleep(20 * time.Millisecond)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	workers.Wait()
}
