package bench

import (
	"fmt"
	"strconv"
)

// requests are a load's requests, ready to be sent: enough of them that a batch which begins at any key is one stretch of
// bytes.
type requests struct {
	keys  []string
	bytes []byte
	at    []int // where each request begins, and where the last ends
}

// newRequests encodes the requests of a load.
func newRequests(l Load) (*requests, error) {
	r := &requests{keys: l.keys()}
	var each [][]byte // the request to each key
	for _, key := range r.keys {
		each = append(each, appendRequest(nil, l.command(key)))
	}
	n := l.Depth + l.Tags - 1
	if size := n * len(each[0]); size > maxBatchBytes {
		return nil, fmt.Errorf("%d requests of this kind take %d bytes: %d is the most", n, size, maxBatchBytes)
	}
	for i := range n {
		r.at = append(r.at, len(r.bytes))
		r.bytes = append(r.bytes, each[i%len(each)]...)
	}
	r.at = append(r.at, len(r.bytes))
	return r, nil
}

// batch is the bytes of n requests, the first of which is the load's request number first.
func (r *requests) batch(first int64, n int) []byte {
	i := r.key(first)
	return r.bytes[r.at[i]:r.at[i+n]]
}

// key is the index of the key that a request draws from.
func (r *requests) key(request int64) int { return int(request % int64(len(r.keys))) }

// command is the load's request to a key.
func (l Load) command(key string) []string {
	count := strconv.Itoa(l.Count)
	switch l.Workload {
	case "incrby":
		return []string{"INCRBY", key, count}
	case "get":
		return []string{"GET", key}
	case "mget":
		args := []string{"MGET"}
		for range l.Count {
			args = append(args, key)
		}
		return args
	case "lpop":
		return []string{"LPOP", key, count}
	default:
		return []string{"INCR", key}
	}
}

func appendRequest(b []byte, args []string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(args))
	for _, arg := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(arg), arg)
	}
	return b
}
