package limit_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
)

// timed is a counter with a clock that the test sets.
type timed struct {
	limit.Counter
	set func(time.Time)
}

// counters returns all counters, each empty and starting at a full minute.
func counters() map[string]func(t testing.TB) timed {
	return map[string]func(t testing.TB) timed{
		"memory": func(testing.TB) timed {
			now := clock.NewFixed(minute)
			return timed{limit.NewMemory(now), now.Set}
		},
		"redis": func(t testing.TB) timed {
			server := miniredis.RunT(t)
			now := minute
			server.SetTime(now)
			return timed{newRedis(t, "redis://"+server.Addr()), func(at time.Time) {
				server.SetTime(at)
				server.FastForward(at.Sub(now)) // expires keys
				now = at
			}}
		},
	}
}

// newRedis returns a counter with a long timeout, so that on a busy machine the test still knows
// whether each hit counted.
func newRedis(t testing.TB, url string) *limit.Redis {
	t.Helper()
	r, err := limit.NewRedisWithLongTimeout(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func TestCounters(t *testing.T) {
	t.Parallel()
	for name, start := range counters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("a hit at a time", func(t *testing.T) {
				t.Parallel()
				countsHits(t, start(t))
			})
			t.Run("one a minute", func(t *testing.T) {
				t.Parallel()
				passesAfterAMinute(t, start(t))
			})
			t.Run("keys are apart", func(t *testing.T) {
				t.Parallel()
				keepsKeysApart(t, start(t))
			})
			t.Run("exact under concurrency", func(t *testing.T) {
				t.Parallel()
				isExact(t, start(t), 4)
			})
		})
	}
}

func countsHits(t *testing.T, c timed) {
	const s = time.Second
	for _, step := range []struct {
		at    time.Duration // since the start of the first minute
		limit int
		want  limit.Count
	}{
		{0, 2, limit.Count{Taken: true, Current: 1}},
		{1 * s, 2, limit.Count{Taken: true, Current: 2, Elapsed: 1 * s}},
		{2 * s, 2, limit.Count{Current: 2, Elapsed: 2 * s}}, // a rejected hit is not counted
		{2 * s, 3, limit.Count{Taken: true, Current: 3, Elapsed: 2 * s}},
		{60*s - 1000, 3, limit.Count{Current: 3, Elapsed: 60*s - 1000}},
		{60 * s, 3, limit.Count{Previous: 3}}, // all three hits are within the last minute
		{80*s - 1000, 3, limit.Count{Previous: 3, Elapsed: 20*s - 1000}},
		{80 * s, 3, limit.Count{Taken: true, Current: 1, Previous: 3, Elapsed: 20 * s}}, // two of the three still count
		{80 * s, 3, limit.Count{Current: 1, Previous: 3, Elapsed: 20 * s}},
		{179 * s, 3, limit.Count{Taken: true, Current: 1, Previous: 1, Elapsed: 59 * s}},
		{300 * s, 1, limit.Count{Taken: true, Current: 1}}, // two minutes without a hit reset the key
		{299 * s, 2, limit.Count{Taken: true, Current: 1, Elapsed: 59 * s}},
	} {
		c.set(minute.Add(step.at))
		got, err := c.Take(t.Context(), "a", step.limit, 1)
		if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
			t.Errorf("at %v with limit %d: %v\n%s", step.at, step.limit, err, diff)
		}
	}
}

// passesAfterAMinute checks that, with a limit of one, the next hit is allowed exactly a minute
// after the last one.
func passesAfterAMinute(t *testing.T, c timed) {
	const s = time.Second
	for _, step := range []struct {
		at   time.Duration
		want limit.Count
	}{
		{30 * s, limit.Count{Taken: true, Current: 1}},
		{60 * s, limit.Count{Current: 1, Elapsed: 30 * s}},
		{90*s - time.Millisecond, limit.Count{Current: 1, Elapsed: 60*s - time.Millisecond}},
		{90 * s, limit.Count{Taken: true, Current: 1}},
		{149 * s, limit.Count{Current: 1, Elapsed: 59 * s}},
		{150 * s, limit.Count{Taken: true, Current: 1}},
	} {
		c.set(minute.Add(step.at))
		got, err := c.Take(t.Context(), "a", 1, 1)
		if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
			t.Errorf("at %v: %v\n%s", step.at, err, diff)
		}
		l := limit.New(limit.Config{Groups: map[string]int{limit.Login: 1}, Counter: c, Log: slog.New(slog.DiscardHandler)})
		if d := l.Allow(t.Context(), limit.Login, "b"); !d.Allowed && d.RetryAfter > limit.Window {
			t.Errorf("at %v: retry after %v", step.at, d.RetryAfter)
		}
	}
}

func keepsKeysApart(t *testing.T, c timed) {
	for _, key := range []string{"", "a", "A", "a:b", "a b", "é\x00\n"} {
		got, err := c.Take(t.Context(), key, 1, 1)
		if err != nil || !got.Taken || got.Current != 1 {
			t.Errorf("%q: %+v, %v", key, got, err)
		}
	}
}

// isExact sends 200 concurrent hits and checks that exactly 50 are allowed.
func isExact(t *testing.T, c limit.Counter, callers int) {
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range 200 / callers {
				count, err := c.Take(context.Background(), "crowd", 50, 1)
				if err != nil {
					t.Error(err)
				} else if count.Taken {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 50 {
		t.Errorf("%d of 200 passed, want 50", passed.Load())
	}
}

// Both counters agree for any sequence of hits and pauses.
func TestCountersAgree(t *testing.T) {
	t.Parallel()
	memory, redis := counters()["memory"](t), counters()["redis"](t)
	at, round := minute, 0
	rapid.Check(t, func(rt *rapid.T) {
		round++ // the counters persist, so each round uses its own keys
		most := rapid.IntRange(1, 12).Draw(rt, "limit")
		for range rapid.IntRange(1, 40).Draw(rt, "hits") {
			pause := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 30e6), rapid.Int64Range(0, 200e6)).Draw(rt, "pause")
			at = at.Add(time.Duration(pause) * time.Microsecond)
			memory.set(at)
			redis.set(at)
			key := fmt.Sprintf("%d:%d", round, rapid.IntRange(0, 1).Draw(rt, "key"))
			want, err := memory.Take(context.Background(), key, most, 1)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := redis.Take(context.Background(), key, most, 1)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				rt.Fatalf("at %v: %v\n%s", at, err, diff)
			}
		}
	})
}
