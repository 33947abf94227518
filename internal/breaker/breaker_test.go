package breaker_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantry/tenantry/internal/breaker"
)

// A breaker opens after three consecutive failures, and closes when a trial call succeeds after the
// pause. A failed trial call starts another pause.
func TestBreaker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var changes []string
		b := breaker.New(breaker.Config{
			Failures: 3, Pause: time.Minute,
			OnOpen:  func() { changes = append(changes, "open") },
			OnClose: func() { changes = append(changes, "close") },
		})
		for i, end := range []func(){b.Fail, b.Fail, b.Succeed, b.Fail, b.Abandon, b.Fail, b.Fail} {
			if !b.Allow() {
				t.Fatalf("call %d is rejected", i)
			}
			end()
		}
		if b.Allow() {
			t.Error("a call is allowed after three failures")
		}
		time.Sleep(time.Minute - time.Millisecond)
		if b.Allow() {
			t.Error("a call is allowed during the pause")
		}
		time.Sleep(time.Millisecond)
		for _, end := range []func(){b.Abandon, b.Fail} {
			if !b.Allow() || b.Allow() {
				t.Fatal("after the pause, one trial call at a time is allowed")
			}
			end()
		}
		if b.Allow() {
			t.Error("a call is allowed after a failed trial")
		}
		time.Sleep(time.Minute)
		if !b.Allow() {
			t.Fatal("no trial call after the second pause")
		}
		b.Succeed()
		for range 3 {
			if !b.Allow() {
				t.Fatal("the breaker is still open after a successful trial")
			}
		}
		if want := []string{"open", "open", "close"}; !slices.Equal(changes, want) {
			t.Errorf("changes %v, want %v", changes, want)
		}
	})
}

// Pauses vary by the jitter.
func TestBreakerVariesItsPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 10 {
			b := breaker.New(breaker.Config{Failures: 1, Pause: time.Minute, Jitter: 0.5})
			b.Fail()
			pause := time.Duration(0)
			for !b.Allow() {
				time.Sleep(time.Second)
				pause += time.Second
			}
			if pause < 30*time.Second || pause > 90*time.Second {
				t.Errorf("a pause of %v", pause)
			}
			seen[pause] = true
		}
		if len(seen) < 2 {
			t.Errorf("all pauses are the same: %v", seen)
		}
	})
}
