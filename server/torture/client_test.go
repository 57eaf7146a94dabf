package torture

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience is how long a client waits for a reply before it counts the node as hung.
const patience = 30 * time.Second

// think is how long a client pauses between pipelines.
const think = 3 * time.Millisecond

// client draws from one node, over one connection after the other, and keeps what it receives.
type client struct {
	w     *world
	node  *node
	rng   *rand.Rand
	store string // prefix of what ids are entered under

	mu sync.Mutex // protects what follows
	harvest
}

// harvest is what a client has seen.
type harvest struct {
	received map[string]*spans
	single   int64 // ids that came in a reply, or a place of an array, of their own
	silence  time.Duration
	errs     map[string]int64 // by first word
	broken   []string         // order breaks and replies that are none
}

func newHarvest() harvest { return harvest{received: map[string]*spans{}, errs: map[string]int64{}} }

// run draws until ctx is done.
func (c *client) run(ctx context.Context) {
	for ctx.Err() == nil {
		c.session(ctx)
		sleep(ctx, 10*time.Millisecond+time.Duration(c.rng.IntN(30))*time.Millisecond)
	}
}

// draw is one command of a pipeline.
type draw struct {
	kind    string
	request string
	n       int64 // ids asked for
	block   bool  // they come as one number
}

func (c *client) next() draw {
	tag := c.w.tags[c.rng.IntN(len(c.w.tags))]
	switch c.rng.IntN(12) {
	case 0:
		n := 1 + c.rng.Int64N(1000)
		if c.rng.IntN(20) == 0 {
			n *= 100
		}
		return draw{tag, request("INCRBY", "segment:"+tag, strconv.FormatInt(n, 10)), n, true}
	case 1, 2:
		n := 1 + c.rng.Int64N(500)
		return draw{tag, request("LPOP", "segment:"+tag, strconv.FormatInt(n, 10)), n, false}
	case 3, 4, 5:
		n := 1 + c.rng.Int64N(500)
		return draw{snowflakes, request("LPOP", "snowflake:x", strconv.FormatInt(n, 10)), n, false}
	case 6, 7:
		return draw{snowflakes, request("GET", "snowflake:x"), 1, false}
	}
	return draw{tag, request("INCR", "segment:"+tag), 1, false}
}

func request(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// session draws over one connection until that ends.
func (c *client) session(ctx context.Context) {
	dialing := time.Now()
	conn, err := net.DialTimeout("tcp", c.node.addr, patience)
	c.heard(time.Since(dialing))
	if err != nil {
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	in, last := bufio.NewReaderSize(conn, 1<<16), map[string]int64{}
	for ctx.Err() == nil {
		var pipeline []draw
		var out strings.Builder
		for range 1 + c.rng.IntN(4) {
			d := c.next()
			times := 1
			if d.n == 1 {
				times += c.rng.IntN(60) // runs of equal requests
			}
			for range times {
				pipeline = append(pipeline, d)
				out.WriteString(d.request)
			}
		}
		if _, err := io.WriteString(conn, out.String()); err != nil {
			return
		}
		for _, d := range pipeline {
			asked := time.Now()
			conn.SetReadDeadline(asked.Add(patience))
			ids, err := readReply(in, d)
			if ctx.Err() == nil {
				c.heard(time.Since(asked))
			}
			if refused, ok := errors.AsType[refusal](err); ok {
				c.refused(string(refused))
				continue
			}
			if err != nil {
				return
			}
			c.keep(d, ids, last)
		}
		sleep(ctx, think) // the nodes must have time for their faults
	}
}

// once sends each draw over one connection, and returns the first error, an error reply's too.
func (c *client) once(draws []draw) error {
	conn, err := net.DialTimeout("tcp", c.node.addr, patience)
	if err != nil {
		return err
	}
	defer conn.Close()
	in, last := bufio.NewReader(conn), map[string]int64{}
	for _, d := range draws {
		conn.SetDeadline(time.Now().Add(patience))
		if _, err := io.WriteString(conn, d.request); err != nil {
			return err
		}
		ids, err := readReply(in, d)
		if err != nil {
			return err
		}
		c.keep(d, ids, last)
	}
	return nil
}

// refusal is an error reply.
type refusal string

func (r refusal) Error() string { return string(r) }

// readReply reads what answers a draw.
func readReply(in *bufio.Reader, d draw) (ids spans, err error) {
	kind, n, err := readHeader(in)
	if err != nil {
		return nil, err
	}
	switch kind {
	case ':':
		ids.add(n-d.n+1, d.n) // INCRBY's are the last n
	case '$':
		id, err := readBulk(in, n)
		if err != nil {
			return nil, err
		}
		ids.add(id, 1)
	case '*':
		for range n {
			kind, id, err := readHeader(in)
			if err == nil && kind == '$' {
				id, err = readBulk(in, id)
			}
			if err != nil {
				return nil, err
			}
			ids.add(id, 1)
		}
	}
	return ids, nil
}

func readHeader(in *bufio.Reader) (kind byte, n int64, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	text := strings.TrimRight(string(line), "\r\n")
	if text == "" {
		return 0, 0, errors.New("an empty line")
	}
	if text[0] == '-' {
		return 0, 0, refusal(text[1:])
	}
	n, err = strconv.ParseInt(text[1:], 10, 64)
	if err != nil || n < 0 {
		return 0, 0, refusal("BROKEN reply " + text)
	}
	return text[0], n, nil
}

func readBulk(in *bufio.Reader, n int64) (int64, error) {
	buf := make([]byte, n+2)
	if _, err := io.ReadFull(in, buf); err != nil {
		return 0, err
	}
	id, err := strconv.ParseInt(string(buf[:n]), 10, 64)
	if err != nil {
		return 0, refusal("BROKEN bulk " + string(buf))
	}
	return id, nil
}

// keep enters ids and checks that they rise on this connection.
func (c *client) keep(d draw, ids spans, last map[string]int64) {
	kind := c.store + d.kind
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.received[kind] == nil {
		c.received[kind] = new(spans)
	}
	for _, s := range ids {
		if s.first <= last[kind] || s.first < 1 {
			c.broken = append(c.broken, fmt.Sprintf("%s: id %d after %d", kind, s.first, last[kind]))
		}
		last[kind] = s.end() - 1
		c.received[kind].add(s.first, s.n)
		if !d.block {
			c.single += s.n
		}
	}
}

func (c *client) refused(text string) {
	word, _, _ := strings.Cut(text, " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs[word]++
	if word != "TRYAGAIN" && len(c.broken) < 10 {
		c.broken = append(c.broken, "unexpected reply: "+text)
	}
}

// heard notes how long an answer took.
func (c *client) heard(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silence = max(c.silence, took)
}

// take returns what came since the last time, and forgets it.
func (c *client) take() harvest {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.harvest
	c.harvest = newHarvest()
	return h
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
