package limit

import (
	"context"
	"hash/maphash"
	"sync"

	"github.com/go-chi/httprate"

	"github.com/tenantry/tenantry/internal/clock"
)

// shards is how many locks the keys are spread over.
const shards = 64

// Memory counts in this process. What it holds is bounded by the keys of the
// last two minutes, eight bytes and a count each.
type Memory struct {
	clock  clock.Clock
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	counter httprate.LimitCounter
	_       [40]byte // one cache line each, so that neighbours don't slow each other
}

// NewMemory makes a counter whose windows follow c, which is the machine's clock
// outside of tests.
func NewMemory(c clock.Clock) *Memory {
	m := &Memory{clock: c, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].counter = httprate.NewLocalLimitCounter(Window)
	}
	return m
}

// Take implements Counter; it never fails.
func (m *Memory) Take(_ context.Context, key string, limit, hits int) (Count, error) {
	s := &m.shards[maphash.String(m.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := m.clock.Now() // under the lock: httprate's counter forgets everything when time goes back
	window := now.Truncate(Window)
	current, previous, err := s.counter.Get(key, window, window.Add(-Window))
	if err != nil {
		return Count{}, err
	}
	count := Count{Current: current, Previous: previous, Elapsed: now.Sub(window)}
	if !count.room(limit - hits + 1) {
		return count, nil
	}
	if err := s.counter.IncrementBy(key, window, hits); err != nil {
		return Count{}, err
	}
	count.Current += hits
	count.Taken = true
	return count, nil
}
