package testkit

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// patience bounds Eventually. It is long because the machines that run tests are busy.
const patience = 2 * time.Minute

// Eventually waits until done returns true, and fails t after two minutes. The failure message
// calls the condition what.
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	const first, last = 2 * time.Millisecond, 40 * time.Millisecond
	pause := first
	for deadline := clock.System().Now().Add(patience); clock.System().Now().Before(deadline); {
		if done() {
			return
		}
		time.Sleep(pause)
		pause = min(pause*5/4, last)
	}
	t.Fatalf("%s did not happen", what)
}
