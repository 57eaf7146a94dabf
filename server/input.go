package server

// Sizes of a connection's buffers: they start small and grow with what the client sends at once.
const (
	minInput  = 1 << 10
	fullInput = 64 << 10 // beyond, only a request that needs it grows the buffer, and the budget is asked
)

// input is the bytes received and not yet served.
type input struct {
	buf    []byte
	r, w   int   // unread are buf[r:w]
	filled bool  // the last read filled the room it had
	held   int64 // taken from the budget
	budget *budget
}

func (in *input) unread() []byte { return in.buf[in.r:in.w] }

// consume takes n bytes from the front. They stay valid until room is called.
func (in *input) consume(n int) { in.r += n }

// room returns space to read into, or nil when the budget has none for a request this large.
func (in *input) room() []byte {
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	switch n := in.size(); {
	case n != len(in.buf):
		in.resize(n) // not beyond what needs no budget
	case in.w == len(in.buf) && in.r > 0:
		in.w = copy(in.buf, in.buf[in.r:])
		in.r = 0
	}
	if in.w == len(in.buf) && !in.resize(2*len(in.buf)) {
		return nil
	}
	return in.buf[in.w:]
}

// size returns how large the buffer should be for the traffic: a read that filled its room was not the end of a pipeline.
func (in *input) size() int {
	switch {
	case len(in.buf) == 0:
		return minInput
	case len(in.buf) > fullInput && in.w == 0:
		return fullInput
	case in.filled && len(in.buf) < fullInput:
		return 2 * len(in.buf)
	}
	return len(in.buf)
}

// resize moves what is unread into a buffer of n bytes.
func (in *input) resize(n int) bool {
	beyond := int64(max(0, n-fullInput))
	if beyond > in.held && !in.budget.take(beyond-in.held) {
		return false
	}
	if beyond < in.held {
		in.budget.give(in.held - beyond)
	}
	in.held = beyond
	buf := make([]byte, n)
	in.w = copy(buf, in.unread())
	in.buf, in.r = buf, 0
	return true
}

// received notes that n bytes of the room were filled.
func (in *input) received(n int) {
	in.w += n
	in.filled = in.w == len(in.buf)
}

// release gives everything back.
func (in *input) release() {
	in.budget.give(in.held)
	*in = input{budget: in.budget}
}
