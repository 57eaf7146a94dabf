package snowflake

import (
	"context"
	"errors"
	"fmt"
)

// Close stops drawing for good and releases the windows, as far as ctx allows: each row's mark is lowered to the last
// timestamp used. A release that is lost costs nothing but time: the row frees itself when its window has passed.
func (n *Node) Close(ctx context.Context) error {
	n.change(func() { n.closed = true }) // no call is between its check and its ids any more
	n.keeper.stop(ctx)
	return n.keeper.release(ctx)
}

// stop ends the goroutine, waiting for its statement under way as long as ctx allows.
func (k *keeper) stop(ctx context.Context) {
	stop := context.AfterFunc(ctx, k.endStatements)
	defer stop()
	k.endQuit()
	<-k.done
	k.endStatements()
}

// release lowers the marks of the rows that this node surely holds, once each. Nobody draws any more, so what a window
// has used is final. A window that was never used falls back to the mark before the claim.
func (k *keeper) release(ctx context.Context) error {
	var errs []error
	for _, l := range k.leases {
		used, ok := k.n.gen.used(l.row.ID, l.row.Until)
		if !ok || used >= l.row.Until {
			continue
		}
		if err := k.swap(ctx, l.row.Token, k.row(l.row.ID, used)); err != nil {
			errs = append(errs, fmt.Errorf("releasing worker id %d: %w", l.row.ID, err))
		}
	}
	k.leases = nil
	return errors.Join(errs...)
}
