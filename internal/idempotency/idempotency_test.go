package idempotency_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// rig is a database with the clocks of its services.
type rig struct {
	db           *sqldb.DB
	now, machine *clock.Fixed
}

// service returns a new service on the database, like after a restart.
func (r rig) service() *idempotency.Service {
	return idempotency.New(idempotency.Deps{DB: r.db, Clock: r.now, Machine: r.machine, Log: slog.New(slog.DiscardHandler)})
}

func each(t *testing.T, f func(t *testing.T, r rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		f(t, rig{db: db, now: clock.NewFixed(start), machine: clock.NewFixed(start)})
	})
}

func request(key, body string) idempotency.Request {
	return idempotency.Request{Caller: "user:1", Path: "POST /x", Key: key, Body: []byte(body)}
}

// answer returns a function that responds with text and counts its calls in runs.
func answer(status int, text string, runs *atomic.Int64) func(context.Context) (idempotency.Response, error) {
	return func(context.Context) (idempotency.Response, error) {
		runs.Add(1)
		return idempotency.Response{Status: status, Body: []byte(text)}, nil
	}
}

// A stored response survives a restart, and is deleted after its lifetime.
func TestStoredResponse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r rig) {
		var runs atomic.Int64
		want := idempotency.Response{Status: 201, Body: []byte("one")}
		for i := range 3 {
			s := r.service()
			if i > 0 {
				if err := s.EndLeases(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Run(t.Context(), request("k", "body"), answer(201, "one", &runs))
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("run %d: %v %s", i, err, diff)
			}
		}
		if runs.Load() != 1 {
			t.Errorf("it ran %d times", runs.Load())
		}
		s := r.service()
		from := r.now.Now().Add(-time.Hour)
		if old, err := s.DeleteOld(t.Context(), from, r.now.Now(), 10); err != nil || len(old) != 0 {
			t.Errorf("deleted %v, %v", old, err)
		}
		if old, err := s.DeleteOld(t.Context(), from, r.now.Now().Add(time.Second), 10); err != nil || len(old) != 1 {
			t.Errorf("deleted %v, %v", old, err)
		}
		if _, err := s.Run(t.Context(), request("k", "other"), answer(200, "two", &runs)); err != nil || runs.Load() != 2 {
			t.Errorf("after the deletion: %v, %d runs", err, runs.Load())
		}
	})
}

// Errors, refusals and panics free the key.
func TestFailuresFreeTheKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r rig) {
		s, failure := r.service(), errors.New("failed")
		var runs atomic.Int64
		_, err := s.Run(t.Context(), request("k", "1"), func(context.Context) (idempotency.Response, error) { return idempotency.Response{}, failure })
		if !errors.Is(err, failure) {
			t.Errorf("%v", err)
		}
		if got, err := s.Run(t.Context(), request("k", "2"), answer(302, "", &runs)); err != nil || got.Status != 302 {
			t.Errorf("%v, %v", got, err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = s.Run(t.Context(), request("k", "3"), func(context.Context) (idempotency.Response, error) { panic("x") })
		}()
		if got, err := s.Run(t.Context(), request("k", "4"), answer(200, "done", &runs)); err != nil || string(got.Body) != "done" {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// If a process is killed during a request, other requests with the same key wait until its lease
// ends, or until the next start if no other process uses the database.
func TestLeaseOfAKilledProcess(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r rig) {
		var runs atomic.Int64
		for name, free := range map[string]func() error{
			"lease":   func() error { r.machine.Set(r.machine.Now().Add(time.Minute)); return nil },
			"restart": func() error { return r.service().EndLeases(t.Context()) },
		} {
			started, killed := make(chan struct{}), make(chan struct{})
			defer close(killed)
			go func() {
				_, _ = r.service().Run(context.WithoutCancel(t.Context()), request(name, ""), func(context.Context) (idempotency.Response, error) {
					close(started)
					<-killed
					return idempotency.Response{}, errors.New("killed")
				})
			}()
			<-started
			short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if _, err := r.service().Run(short, request(name, ""), answer(200, "", &runs)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
			cancel()
			if err := free(); err != nil {
				t.Fatal(err)
			}
			if got, err := r.service().Run(t.Context(), request(name, ""), answer(200, "", &runs)); err != nil || got.Status != 200 {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		if runs.Load() != 2 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// Of concurrent requests with one key, the first two fail, exactly one runs successfully, and the
// rest get its response.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r rig) {
		var runs, failed atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			s := r.service()
			all.Go(func() {
				got, err := s.Run(t.Context(), request("k", ""), func(context.Context) (idempotency.Response, error) {
					if runs.Add(1) <= 2 {
						return idempotency.Response{}, errors.New("failed")
					}
					return idempotency.Response{Status: 200, Body: []byte("done")}, nil
				})
				switch {
				case err != nil:
					failed.Add(1)
				case string(got.Body) != "done":
					t.Errorf("%v", got)
				}
			})
		}
		all.Wait()
		if runs.Load() != 3 || failed.Load() != 2 {
			t.Errorf("%d runs, %d failed", runs.Load(), failed.Load())
		}
	})
}
