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
	once    map[string]time.Time // the last hits of keys whose limit is one
	swept   time.Time            // when once was last rid of old hits
	_       [8]byte              // one cache line each, so that neighbours don't slow each other
}

// NewMemory makes a counter whose windows follow c, which is the machine's clock
// outside of tests.
func NewMemory(c clock.Clock) *Memory {
	m := &Memory{clock: c, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].counter = httprate.NewLocalLimitCounter(Window)
		m.shards[i].once = map[string]time.Time{}
	}
	return m
}

// Take implements Counter; it never fails.
func (m *Memory) Take(_ context.Context, key string, limit, hits int) (Count, error) {
	s := &m.shards[maphash.String(m.seed, key)%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := m.clock.Now() // under the lock: httprate's counter forgets everything when time goes back
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

// takeOne counts a hit of a key whose limit is one. A hit that lies in the future, because the
// clock was set back since, does not count.
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
