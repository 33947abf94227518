// Package lastused stores when things were last used, such as keys and logins, beside the
// requests that use them: to the minute, and at most once a minute for each thing.
package lastused

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// interval is how often uses are stored.
const interval = 2 * time.Second

// Recorder collects uses and stores them. It is safe for concurrent use.
type Recorder struct {
	store func(ctx context.Context, id uuid.UUID, at time.Time) error
	log   *slog.Logger

	mu sync.Mutex
	at map[uuid.UUID]time.Time
}

// New returns a Recorder. store stores one use; it is called outside of a transaction.
func New(store func(ctx context.Context, id uuid.UUID, at time.Time) error, log *slog.Logger) *Recorder {
	return &Recorder{store: store, log: log}
}

// Add notes that something is used now. last is the use that is stored, nil for none.
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

// takePending returns what is not stored yet, and forgets it.
func (r *Recorder) takePending() map[uuid.UUID]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.at
	r.at = nil
	return at
}

// Run stores uses until ctx ends, so that no request waits for it.
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

// flush stores what was used since the last time, each row by itself, so that nobody who
// has locked one of them waits for another. What fails is left out: the next use says it
// again.
func (r *Recorder) flush(ctx context.Context) {
	for id, at := range r.takePending() {
		if err := r.store(ctx, id, at); err != nil {
			if ctx.Err() == nil && r.log != nil {
				r.log.WarnContext(ctx, "a use was not stored", "error", err)
			}
			return
		}
	}
}
