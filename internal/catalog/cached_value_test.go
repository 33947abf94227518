package catalog

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

var (
	errAway  = errors.New("the database is away")
	errWrong = errors.New("the statement is wrong")
)

// countedSource is the source of a cache: a number that increases with each read.
type countedSource struct {
	mu     sync.Mutex
	reads  int
	fails  error
	during func() // called during a read
}

func (s *countedSource) read(context.Context) (*int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.during != nil {
		s.during()
	}
	if s.fails != nil {
		return nil, s.fails
	}
	s.reads++
	n := s.reads
	return &n, nil
}

func newTestCache(s *countedSource) (*cache[int], *clock.Fixed) {
	now := clock.NewFixed(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	return newCache(now, time.Minute, s.read, func(err error) bool { return errors.Is(err, errAway) }), now
}

func wantValue(t *testing.T, c *cache[int], want int) {
	t.Helper()
	if got, err := c.Get(t.Context()); err != nil || *got != want {
		t.Errorf("%v, %v, want %d", got, err, want)
	}
}

// A value is read once until it expires. It is read again after a drop, after its maximum age, and
// after the clock was set back.
func TestValuesAreCached(t *testing.T) {
	t.Parallel()
	s := &countedSource{}
	c, now := newTestCache(s)
	wantValue(t, c, 1)
	wantValue(t, c, 1)
	now.Set(now.Now().Add(59 * time.Second))
	wantValue(t, c, 1)
	now.Set(now.Now().Add(time.Second))
	wantValue(t, c, 2)
	c.Drop()
	wantValue(t, c, 3)
	now.Set(now.Now().Add(-time.Second))
	wantValue(t, c, 4)
}

// A value that is dropped during the read is read again, because it can miss a change that
// committed meanwhile.
func TestDropDuringRead(t *testing.T) {
	t.Parallel()
	s := &countedSource{}
	c, _ := newTestCache(s)
	s.during = c.Drop
	wantValue(t, c, 1)
	s.during = nil
	wantValue(t, c, 2)
	wantValue(t, c, 2)
}

// While reads fail temporarily, the last value is returned, regardless of its age, but never a
// dropped value. Other errors are returned.
func TestLastValueIsUsedDuringOutage(t *testing.T) {
	t.Parallel()
	s := &countedSource{fails: errAway}
	c, now := newTestCache(s)
	if _, err := c.Get(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("without a value: %v", err)
	}
	s.fails = nil
	wantValue(t, c, 1)
	now.Set(now.Now().Add(time.Hour))
	s.fails = errAway
	wantValue(t, c, 1)
	s.fails = errWrong
	if _, err := c.Get(t.Context()); !errors.Is(err, errWrong) {
		t.Errorf("for another error: %v", err)
	}
	s.fails = errAway
	c.Drop()
	if _, err := c.Get(t.Context()); !errors.Is(err, errAway) {
		t.Errorf("after a drop: %v", err)
	}
	s.fails = nil
	wantValue(t, c, 2)
}

// Of concurrent readers, one reads. A waiting reader stops waiting if its context ends.
func TestOneReads(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	s := &countedSource{}
	s.during = sync.OnceFunc(func() { close(begun); <-release })
	c, _ := newTestCache(s)
	var all sync.WaitGroup
	all.Go(func() { wantValue(t, c, 1) })
	<-begun
	for range 20 {
		all.Go(func() { wantValue(t, c, 1) })
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(release)
	all.Wait()
	if s.reads != 1 {
		t.Errorf("%d readings", s.reads)
	}
}
