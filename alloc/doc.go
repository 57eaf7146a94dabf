// Package alloc hands out the ids of segment tags: integers that strictly increase on this node and that no other
// node ever issues.
//
// It is Leaf's segment mode. A tag's row in the store says which integers are spoken for; the allocator leases
// ranges of them ("segments"), always durably before the first id of a range is issued, and keeps one segment ready
// behind the current one so that callers rarely wait for the store.
package alloc
