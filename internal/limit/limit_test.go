package limit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
)

var minute = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newLimiter(groups map[string]int) (*limit.Limiter, *clock.Fixed) {
	now := clock.NewFixed(minute)
	return limit.New(limit.Config{Groups: groups, Counter: limit.NewMemory(now), Log: slog.New(slog.DiscardHandler)}), now
}

func TestAllowCountsDownAndRefuses(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(map[string]int{limit.Login: 3})
	now.Set(minute.Add(20 * time.Second))
	for remaining := 2; remaining >= 0; remaining-- {
		want := limit.Decision{Allowed: true, Limit: 3, Remaining: remaining}
		if diff := cmp.Diff(want, l.Allow(t.Context(), limit.Login, "a")); diff != "" {
			t.Error(diff)
		}
	}
	// The window ends in 40 s. After that, a third of its hits must leave the sliding window, which
	// takes 20 s.
	want := limit.Decision{Limit: 3, RetryAfter: 60 * time.Second}
	if diff := cmp.Diff(want, l.Allow(t.Context(), limit.Login, "a")); diff != "" {
		t.Error(diff)
	}
}

func TestAllowKeepsKeysAndGroupsApart(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(map[string]int{limit.Login: 1, limit.Register: 1})
	for _, c := range [][2]string{{limit.Login, "a"}, {limit.Login, "b"}, {limit.Register, "a"}} {
		if !l.Allow(t.Context(), c[0], c[1]).Allowed {
			t.Errorf("%v is rejected because of another key or group", c)
		}
	}
	if l.Allow(t.Context(), limit.Login, "a").Allowed {
		t.Error("a second login of \"a\" is allowed")
	}
}

func TestAllowOfAGroupThatIsOff(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(map[string]int{limit.Login: 0})
	for _, group := range []string{limit.Login, limit.Register} {
		for range 100 {
			if diff := cmp.Diff(limit.Decision{Allowed: true}, l.Allow(t.Context(), group, "a")); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// A request after RetryAfter is allowed, and a request one second earlier is rejected.
func TestRetryAfterIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 40).Draw(t, "limit")
		l, now := newLimiter(map[string]int{limit.Default: perMinute})
		at := minute
		for {
			d := l.Allow(context.Background(), limit.Default, "a")
			if !d.Allowed {
				if d.RetryAfter > time.Second {
					now.Set(at.Add(d.RetryAfter - time.Second - time.Microsecond))
					if l.Allow(context.Background(), limit.Default, "a").Allowed {
						t.Fatalf("passes more than a second before %v", d.RetryAfter)
					}
				}
				now.Set(at.Add(d.RetryAfter))
				if !l.Allow(context.Background(), limit.Default, "a").Allowed {
					t.Fatalf("refused after %v", d.RetryAfter)
				}
				return
			}
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(59*time.Second)/int64(perMinute)).Draw(t, "pause"))).Truncate(time.Microsecond)
			now.Set(at)
		}
	})
}

// For any distribution of hits, at most twice the limit is allowed within a minute, and a steady
// caller below the limit is never rejected.
func TestSlidingWindow(t *testing.T) {
	t.Parallel()
	l, now := newLimiter(map[string]int{limit.Default: 10})
	now.Set(minute.Add(59 * time.Second))
	hit := func(n int) (passed int) {
		for range n {
			if l.Allow(t.Context(), limit.Default, "burst").Allowed {
				passed++
			}
		}
		return passed
	}
	if got := hit(20); got != 10 {
		t.Errorf("%d of 20 passed at the end of a minute, want 10", got)
	}
	now.Set(minute.Add(61 * time.Second))
	if got := hit(20); got != 0 {
		t.Errorf("%d more passed two seconds later, want 0", got)
	}
	now.Set(minute.Add(90 * time.Second))
	if got := hit(20); got != 5 {
		t.Errorf("%d passed half a minute later, want 5", got)
	}
	for i := range 100 {
		now.Set(minute.Add(time.Hour + time.Duration(i)*7*time.Second))
		if !l.Allow(t.Context(), limit.Default, "steady").Allowed {
			t.Fatalf("request %d of a steady caller is refused", i)
		}
	}
}

func TestAllowIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	l, _ := newLimiter(map[string]int{limit.Default: 500})
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 100 {
				if l.Allow(context.Background(), limit.Default, "a").Allowed {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 500 {
		t.Errorf("%d passed, want 500", passed.Load())
	}
}

type brokenCounter struct{}

func (brokenCounter) Take(context.Context, string, int, int) (limit.Count, error) {
	return limit.Count{}, errors.New("connection refused")
}

func TestAFailingCounterLetsRequestsPass(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	l := limit.New(limit.Config{
		Groups: map[string]int{limit.Login: 1}, Counter: brokenCounter{}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if !l.Allow(gone, limit.Login, "a").Allowed || log.Len() > 0 {
		t.Errorf("a request whose caller is gone: %s", log.String())
	}
	for range 50 {
		if !l.Allow(t.Context(), limit.Login, "a").Allowed {
			t.Fatal("refused")
		}
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), "connection refused") {
		t.Errorf("%d warnings, want 1 with the reason:\n%s", got, log.String())
	}
}

func TestWithoutACounterItCountsInMemory(t *testing.T) {
	t.Parallel()
	l := limit.New(limit.Config{Groups: map[string]int{limit.Login: 1}, Log: slog.New(slog.DiscardHandler)})
	if !l.Allow(t.Context(), limit.Login, "a").Allowed || l.Allow(t.Context(), limit.Login, "a").Allowed {
		t.Error("one of two must pass")
	}
}

func BenchmarkAllow(b *testing.B) {
	l := limit.New(limit.Config{Groups: limit.Defaults(), Log: slog.New(slog.DiscardHandler)})
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			l.Allow(context.Background(), limit.Usage, keys[i%len(keys)])
		}
	})
}
