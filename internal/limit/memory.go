package limit

import (
	"context"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"github.com/tenantry/tenantry/internal/clock"
)

// shards is the number of locks that the keys are distributed over.
const shards = 64

// Memory counts in this process. It stores the keys of the last two minutes, with eight bytes and a
// count each.
type Memory struct {
	clock  clock.Clock
	seed   maphash.Seed
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	counter httprate.LimitCounter
	once    map[string]time.Time // last hits of keys with a limit of one
	swept   time.Time            // last removal of old hits from once
	_       [8]byte              // pads to a cache line to avoid false sharing
}

// NewMemory returns a counter whose windows follow c, which is the machine's clock outside of
// tests.
func NewMemory(c clock.Clock) *Memory {
	m := &Memory{clock: c, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].counter = httprate.NewLocalLimitCounter(Window)
		m.shards[i].once = map[string]time.Time{}
	}
	return m
}

// Take implements Counter. It never fails.
func (m *Memory) Take(_ context.Context, key string, limit, hits int) (Count, error) {
	s := &m.shards[maphash.String(m.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := m.clock.Now() // under the lock, because httprate's counter is reset if time goes back
	if limit == one {
		return s.takeOne(key, now), nil
	}
	window := now.Truncate(Window)
	current, previous, err := s.counter.Get(key, window, window.Add(-Window))
	if err != nil {
		return Count{}, err
	}
	count := Count{Current: current, Previous: previous, Elapsed: now.Sub(window)}
	if !count.hasRoom(limit - hits + 1) {
		return count, nil
	}
	if err := s.counter.IncrementBy(key, window, hits); err != nil {
		return Count{}, err
	}
	count.Current += hits
	count.Taken = true
	return count, nil
}

// takeOne counts a hit of a key with a limit of one. It ignores a previous hit in the future, which
// means that the clock has been set back.
func (s *shard) takeOne(key string, now time.Time) Count {
	isOld := func(_ string, at time.Time) bool { return now.Sub(at) >= Window || at.After(now) }
	if at, found := s.once[key]; found && !isOld(key, at) {
		return Count{Current: 1, Elapsed: now.Sub(at)}
	}
	if isOld("", s.swept) {
		maps.DeleteFunc(s.once, isOld)
		s.swept = now
	}
	s.once[key] = now
	return Count{Taken: true, Current: 1}
}
