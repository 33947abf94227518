// Package lastused records when objects such as API keys and sessions were last used, outside of
// the requests that use them. Times are truncated to the minute, and each object is written at most
// once per minute.
package lastused

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// interval is the time between two flushes.
const interval = 2 * time.Second

// Recorder collects last-used times and stores them in batches. It is safe for concurrent use.
type Recorder struct {
	store func(ctx context.Context, id uuid.UUID, at time.Time) error
	log   *slog.Logger

	mu sync.Mutex
	at map[uuid.UUID]time.Time
	// recent has the objects that AddRecent has recorded since it was last cleared, at since.
	recent map[uuid.UUID]struct{}
	since  time.Time
}

// New returns a Recorder. It calls store, outside of a transaction, for each last-used time.
func New(store func(ctx context.Context, id uuid.UUID, at time.Time) error, log *slog.Logger) *Recorder {
	return &Recorder{store: store, log: log}
}

// Add records that the object id is used now. last is its stored last-used time, or nil.
func (r *Recorder) Add(id uuid.UUID, last *time.Time, now time.Time) {
	minute := now.Truncate(time.Minute)
	if last != nil && !last.Before(minute) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at == nil {
		r.at = map[uuid.UUID]time.Time{}
	}
	r.at[id] = minute
}

// recentFor is how long AddRecent waits before it records an object again.
const recentFor = 4 * time.Minute

// AddRecent records that the object id is used now, for an object whose stored last-used time is not
// known. This process records it at most once in recentFor, so the stored time is exact to five
// minutes.
func (r *Recorder) AddRecent(id uuid.UUID, now time.Time) {
	r.mu.Lock()
	if since := now.Sub(r.since); r.recent == nil || since >= recentFor || since < 0 {
		r.recent, r.since = map[uuid.UUID]struct{}{}, now
	}
	_, isKnown := r.recent[id]
	r.recent[id] = struct{}{}
	r.mu.Unlock()
	if !isKnown {
		r.Add(id, nil, now)
	}
}

// takePending returns and clears the pending times.
func (r *Recorder) takePending() map[uuid.UUID]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at
	r.at = nil
	return at
}

// Run stores the pending times periodically until ctx ends.
func (r *Recorder) Run(ctx context.Context) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			r.flush(context.WithoutCancel(ctx))
			return nil
		case <-ticker.C:
			r.flush(ctx)
		}
	}
}

// flush stores the pending times, each in its own statement, so that a transaction that has locked
// one row does not wait for another row. Times that fail to be stored are dropped; the next use
// records a new one.
func (r *Recorder) flush(ctx context.Context) {
	for id, at := range r.takePending() {
		if err := r.store(ctx, id, at); err != nil {
			if ctx.Err() == nil && r.log != nil {
				r.log.WarnContext(ctx, "failed to record last-used time", "error", err)
			}
			return
		}
	}
}
