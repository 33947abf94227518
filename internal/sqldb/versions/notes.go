package versions

import (
	"context"
	"slices"
	"sync"
)

// Notes collects from what a value is read.
type Notes struct {
	of *Versions

	mu     sync.Mutex
	at     uint64 // 0 until the transaction that reads has committed
	tables []*table
	cells  []*cell // of stamps
	pairs  []pair  // of stamps
	lost   bool    // it was read from something that has no number
}

// Note begins to note what is read from now on.
func (v *Versions) Note() *Notes {
	v.quiet() // takes in a change by another process
	return &Notes{of: v, at: v.now.Load()}
}

// NoteWithin is Note for whoever has the open write transaction. The stamp holds nothing
// until Committed.
func (v *Versions) NoteWithin() *Notes { return &Notes{of: v} }

// Include notes that what a stamp is of is used.
func (n *Notes) Include(s Stamp) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.of != n.of {
		n.lost = true
		return
	}
	n.at = min(n.at, s.at)
	n.cells, n.pairs = append(n.cells, s.cells...), append(n.pairs, s.pairs...)
}

// Committed says that the transaction of NoteWithin has left the database as of a number
// that Writer.Left returned.
func (n *Notes) Committed(at uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at = at
}

// Read notes that a query in SQLite's words is run.
func (n *Notes) Read(ctx context.Context, query string) {
	tables, ok := n.of.scout.tables(ctx, query)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = n.lost || !ok
	for _, t := range tables {
		if !slices.Contains(n.tables, t) {
			n.tables = append(n.tables, t)
		}
	}
}

// Lose says that something is read that has no number: the stamp will never hold.
func (n *Notes) Lose() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = true
}

// Stamp returns the stamp of what was read so far. Of a table that one of keys names it
// depends on the rows with those keys alone: whoever gives them promises that no other
// row of the table can make a difference.
func (n *Notes) Stamp(keys ...Key) Stamp {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost || n.at == 0 || n.of.refused.Load() {
		return Stamp{}
	}
	s := Stamp{of: n.of, at: n.at, cells: make([]*cell, 0, len(n.tables)+len(n.cells)), pairs: make([]pair, 0, len(keys)+len(n.pairs))}
	s.cells, s.pairs = append(s.cells, n.cells...), append(s.pairs, n.pairs...)
	for _, t := range n.tables {
		whole := true
		for _, k := range keys {
			if k.Table == t.name && t.byKey != nil {
				s.pairs, whole = append(s.pairs, t.of(k.Value)), false
			}
		}
		if whole {
			s.cells = append(s.cells, &t.cell)
		}
	}
	return s
}

// Renew returns a stamp of what another one held of, where that did HoldsWithin in the
// transaction of NoteWithin: as the transaction has left it. What it has changed of that the
// caller knows. Before Committed the stamp holds nothing.
func (n *Notes) Renew(s Stamp) Stamp {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.at == 0 || s.of != n.of || n.of.refused.Load() {
		return Stamp{}
	}
	s.at = n.at
	return s
}
