package requestlog

import (
	"context"
	"math"
	"slices"
	"time"
)

const (
	// interval is the time between two flushes.
	interval = time.Second
	// flushTimeout limits a flush. A flush delays the end of the process, which allows five seconds.
	flushTimeout = 4 * time.Second
	// maxRows is the number of rows of a statement. It is small so that recording usage, which shares
	// SQLite's single writer, does not wait.
	maxRows = 100
)

// Run stores recorded requests until ctx ends, and then the remaining ones.
func (l *Log) Run(ctx context.Context) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			l.flush(ctx, math.MaxInt64)
			return nil
		case <-ticker.C:
			l.flush(ctx, l.deps.Machine.Now().Unix())
		}
	}
}

// flush stores the requests of the seconds before the given one, even if ctx has ended. Requests that
// cannot be stored are dropped, and the gap is stored later.
func (l *Log) flush(ctx context.Context, before int64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	taken := l.buffer.take(before)
	entries, gaps := contents(taken)
	slices.SortStableFunc(entries, func(a, b entry) int { return a.at.Compare(b.at) })
	err := l.store.insertGaps(ctx, gaps)
	for batch := range slices.Chunk(entries, maxRows) {
		if err == nil {
			err = l.store.insert(ctx, batch)
		}
	}
	if err == nil {
		return
	}
	if len(entries) > 0 { // once per loss, not once per attempt to store the gap
		l.deps.Log.WarnContext(ctx, "failed to store the request log", "requests", len(entries), "error", err)
	}
	l.buffer.putBack(taken)
}
