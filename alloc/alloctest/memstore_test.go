package alloctest_test

import (
	"testing"

	"redleaf/alloc"
	"redleaf/alloc/alloctest"
)

func TestMemStore(t *testing.T) {
	alloctest.Run(t, func(*testing.T) func() alloc.Store {
		s := alloc.NewMemStore()
		return func() alloc.Store { return s }
	})
}

func TestMemStricts(t *testing.T) {
	alloctest.RunStricts(t, func(*testing.T) func() alloc.Stricts {
		s := alloc.NewMemStricts()
		return func() alloc.Stricts { return s }
	})
}
