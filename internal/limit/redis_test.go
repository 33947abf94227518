package limit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gomodule/redigo/redis"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/testkit"
)

func TestRedisIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, addr string) {
		awayFromTheMinute()
		isExact(t, newRedis(t, "redis://"+addr), 20)
	})
}

func TestLimitersOnOneRedisShareTheirCounts(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, addr string) {
		awayFromTheMinute()
		limiter := func() *limit.Limiter {
			return limit.New(limit.Config{
				Groups: map[string]int{limit.Login: 5}, Counter: newRedis(t, "redis://"+addr), Log: slog.New(slog.DiscardHandler),
			})
		}
		first, second := limiter(), limiter()
		for i := range 5 {
			d := []*limit.Limiter{first, second}[i%2].Allow(t.Context(), limit.Login, "a")
			if !d.Allowed || d.Remaining != 4-i {
				t.Errorf("hit %d: %+v", i+1, d)
			}
		}
		for _, l := range []*limit.Limiter{first, second} {
			if d := l.Allow(t.Context(), limit.Login, "a"); d.Allowed || d.RetryAfter < time.Second {
				t.Errorf("a sixth hit: %+v", d)
			}
		}
	})
}

// Keys in Redis have the prefix, reveal nothing about the caller, and expire.
func TestRedisKeys(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		if _, err := newRedis(t, "redis://"+addr).Take(t.Context(), "login:192.0.2.7:ada@example.test", 5, 1); err != nil {
			t.Fatal(err)
		}
		keys, err := redis.Strings(client.Do("KEYS", "*"))
		if err != nil || len(keys) != 1 || len(keys[0]) != len("tenantry:limit:")+22 || !strings.HasPrefix(keys[0], "tenantry:limit:") {
			t.Fatalf("%q, %v", keys, err)
		}
		ms, err := redis.Int64(client.Do("PTTL", keys[0]))
		if ttl := time.Duration(ms) * time.Millisecond; err != nil || ttl <= time.Minute-time.Second || ttl > 2*time.Minute {
			t.Errorf("expires in %v: %v", ttl, err)
		}
	})
}

// For any limits, the Redis script makes the same decision as the package, to the microsecond.
func TestRedisDecidesLikeTheMemory(t *testing.T) {
	t.Parallel()
	eachRedis(t, func(t *testing.T, addr string) {
		client := connect(t, addr)
		counter := newRedis(t, "redis://"+addr)
		taken := 0
		for range 2000 {
			previous, current := rand.IntN(limit.MaxPerMinute), rand.IntN(1000)
			parts, err := redis.Int64s(client.Do("TIME"))
			if err != nil || len(parts) != 2 {
				t.Fatal(err)
			}
			now := time.Unix(parts[0], parts[1]*1000)
			state := limit.Count{Current: current, Previous: previous, Elapsed: now.Sub(now.Truncate(time.Minute)) + time.Millisecond}
			share := int64(previous) * (60e6 - state.Elapsed.Microseconds()) / 60e6
			most := max(1, min(limit.MaxPerMinute, current+int(share)+rand.IntN(3)))
			if rand.IntN(4) == 0 {
				most = 1 + rand.IntN(limit.MaxPerMinute)
			}
			seed(t, client, now.Unix()/60, state)
			got, err := counter.Take(t.Context(), "seeded", most, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got.Previous != previous {
				continue // a new minute began in between
			}
			before := limit.Count{Current: current, Previous: previous, Elapsed: got.Elapsed}
			if want := limit.Room(before, most); got.Taken != want {
				t.Fatalf("%+v with limit %d: allowed = %t, want %t", before, most, got.Taken, want)
			}
			if got.Taken {
				taken++
			}
		}
		if taken == 0 || taken == 2000 {
			t.Errorf("%d of 2000 accepted: no limit was reached", taken)
		}
	})
}

// The script is exact if previous × left is a whole number of windows, or larger or smaller by 1. A
// float cannot represent such a product exactly.
func TestRedisIsExactAtTheBoundary(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	client := connect(t, server.Addr())
	counter := newRedis(t, "redis://"+server.Addr())
	const window = 60_000_000
	for tries := 0; tries < 2000; {
		left := rand.Int64N(window) + 1
		inverse := new(big.Int).ModInverse(big.NewInt(left), big.NewInt(window))
		if inverse == nil {
			continue
		}
		tries++
		off := rand.Int64N(3) - 1 // the distance of previous × left from a whole number of windows
		previous := (inverse.Int64()*off+window)%window + window*rand.Int64N(limit.MaxPerMinute/window)
		state := limit.Count{Current: rand.IntN(3), Previous: int(previous), Elapsed: time.Duration(window-left) * time.Microsecond}
		most := state.Current + 1 + int((previous*left-off)/window)
		if most == 1 {
			continue // a limit of one does not use windows
		}
		server.SetTime(minute.Add(state.Elapsed))
		seed(t, client, minute.Unix()/60, state)
		got, err := counter.Take(t.Context(), "seeded", most, 1)
		if want := off <= 0; err != nil || got.Taken != want || limit.Room(state, most) != want {
			t.Fatalf("%+v with limit %d: allowed = %t, %v, want %t", state, most, got.Taken, err, want)
		}
	}
}

func seed(t *testing.T, client redis.Conn, window int64, c limit.Count) {
	t.Helper()
	_, err := client.Do("HSET", limit.RedisKey("seeded"), "window", window, "current", c.Current, "previous", c.Previous)
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestsPassWhileRedisIsDown(t *testing.T) {
	t.Parallel()
	server := startRedis(t)
	var log bytes.Buffer
	l := limit.New(limit.Config{
		Groups: map[string]int{limit.Login: 2}, Counter: newRedis(t, "redis://"+server.addr), Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	awayFromTheMinute()
	passed := func(tries int) (n int) {
		for range tries {
			if l.Allow(t.Context(), limit.Login, "a").Allowed {
				n++
			}
		}
		return n
	}
	if got := passed(10); got != 2 {
		t.Errorf("%d of 10 passed, want 2", got)
	}
	server.kill()
	begun := clock.System().Now()
	if got := passed(200); got != 200 {
		t.Errorf("%d of 200 passed without Redis", got)
	}
	if took := clock.System().Now().Sub(begun); took > 10*time.Second {
		t.Errorf("200 requests waited %v for a Redis that is down", took)
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), "redis: ") {
		t.Errorf("%d warnings, want 1 with the reason:\n%s", got, log.String())
	}
	server.start(t)
	testkit.Eventually(t, "counting again", func() bool { return passed(3) < 3 })
}

// A Redis that accepts connections and never responds delays three requests by 100 ms, and later
// requests not at all.
func TestRedisThatHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	counter, err := limit.NewRedis("redis://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	slow := 0
	for i := range 20 {
		begun := clock.System().Now()
		if _, err := counter.Take(t.Context(), "a", 1, 1); err == nil {
			t.Fatal("Take succeeded without Redis")
		}
		took := clock.System().Now().Sub(begun)
		if most := 10 * time.Second; took > most {
			t.Errorf("request %d waited %v", i, took)
		}
		if i >= 3 && took > 50*time.Millisecond {
			slow++
		}
	}
	if slow > 8 { // a few can be slow on a busy machine
		t.Errorf("%d of 17 requests waited after three failures", slow)
	}
}

// A request that its caller cancels is counted and is not a failure of Redis.
func TestRedisCountsCanceledRequests(t *testing.T) {
	t.Parallel()
	counter := newRedis(t, "redis://"+miniredis.RunT(t).Addr())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := counter.Take(gone, "a", 100, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRedisClose(t *testing.T) {
	t.Parallel()
	counter := newRedis(t, "redis://"+miniredis.RunT(t).Addr())
	if err := counter.Close(); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := counter.Take(t.Context(), "a", 1, 1); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Fatalf("%v, want closed", err)
		}
	}
}

func TestNewRedis(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"redis://localhost", "redis://localhost/", "redis://:hush@[::1]:6380/2", "rediss://ada:hush@redis.example:6380/0",
	} {
		if _, err := limit.NewRedis(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"", "localhost:6379", "redis:///0", "http://hush@localhost", "unix:///tmp/hush.sock", "redis://u:hush@localhost:port",
		"redis://u:hu#sh@localhost", "redis://localhost/hush", "redis://localhost/0/hush", "redis://localhost?hush=1", "redis://localhost\n",
		"redis://hush@localhost", "redis://localhost/-1",
	} {
		counter, err := limit.NewRedis(url)
		if !errors.Is(err, limit.ErrRedisURL) || counter != nil {
			t.Errorf("%q is accepted: %v", url, err)
		} else if strings.Contains(fmt.Sprintf("%+v", err), "hush") {
			t.Errorf("error contains the password: %v", err)
		}
	}
}

// The password is sent only to Redis and never appears in errors, even if Redis rejects it.
func TestRedisPassword(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	server.RequireAuth("hush")
	if _, err := newRedis(t, "redis://:hush@"+server.Addr()).Take(t.Context(), "a", 1, 1); err != nil {
		t.Error(err)
	}
	_, err := newRedis(t, "redis://:hash@"+server.Addr()).Take(t.Context(), "a", 1, 1)
	if err == nil || strings.Contains(err.Error(), "hash") {
		t.Errorf("a wrong password: %v", err)
	}
}

// awayFromTheMinute waits until the next minute has begun if the current one is about to end,
// because the clock of a real Redis cannot be set.
func awayFromTheMinute() {
	now := clock.System().Now()
	if left := now.Truncate(time.Minute).Add(time.Minute).Sub(now); left < 8*time.Second {
		time.Sleep(left)
	}
}
