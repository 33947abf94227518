package apptest

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit"
)

// Day is 24 hours.
const Day = 24 * time.Hour

// Eventually waits until done returns true, for effects of background work. It calls done often at
// first and less often later. It fails t after two minutes, because the machines that run tests are
// busy, and the work of a killed process is only repeated after 90 seconds.
func Eventually(t testing.TB, what string, done func() bool) {
	t.Helper()
	testkit.Eventually(t, what, done)
}

// Now returns the service's time, which the sandbox controls.
func (s *Server) Now() time.Time {
	s.T.Helper()
	now, err := time.Parse(time.RFC3339Nano, s.Call("GET", "/sandbox/clock", "", nil).Want(200).Str("data.now"))
	if err != nil {
		s.T.Fatal(err)
	}
	return now
}

// AwaitNotifications waits until the provider has sent all notifications and the service has
// handled them.
func (s *Server) AwaitNotifications() {
	s.T.Helper()
	Eventually(s.T, "the end of all notifications", func() bool {
		return s.Call("GET", "/sandbox/stripe/replay", "", nil).Want(200).At("data.pending") == 0.0 &&
			s.CountRows(`SELECT count(*) FROM psp_events WHERE handled_at IS NULL`) == 0
	})
}

// AwaitJobs waits until no job is due or running.
func (s *Server) AwaitJobs() {
	s.T.Helper()
	now := s.Now()
	Eventually(s.T, "the end of all jobs", func() bool {
		return s.CountRows(`SELECT count(*) FROM jobs WHERE dead_at IS NULL AND (lease_id IS NOT NULL OR due_at <= $1)`, now) == 0
	})
}

// Advance advances the clock. It waits until the provider has done all due work and the service has
// handled its notifications.
func (s *Server) Advance(d time.Duration) {
	s.T.Helper()
	s.Call("POST", "/sandbox/clock", "", Object{"advance": d.String()}).Want(200)
	s.AwaitProvider()
}

// AdvanceTo is [Server.Advance] to a time, in whole seconds.
func (s *Server) AdvanceTo(to time.Time) {
	s.T.Helper()
	s.Call("POST", "/sandbox/clock", "", Object{"to": to.Format(time.RFC3339)}).Want(200)
	s.AwaitProvider()
}

// AvoidMidnight advances the clock past midnight (UTC) if it is less than 30 minutes away. Call it at
// the start of a test that compares dates with the current day.
func (s *Server) AvoidMidnight() {
	s.T.Helper()
	now := s.Now().UTC()
	if midnight := now.Truncate(Day).Add(Day); midnight.Sub(now) < 30*time.Minute {
		s.AdvanceTo(midnight)
	}
}

// AwaitProvider waits until the provider has done all due work, and then for its notifications.
func (s *Server) AwaitProvider() {
	s.T.Helper()
	db := s.SandboxDB()
	now := s.Now().Unix()
	Eventually(s.T, "all due work", func() bool {
		var due int
		if err := db.Conn(s.T.Context()).QueryRowContext(s.T.Context(), `SELECT count(*) FROM stripe_timers WHERE at <= $1`, now).Scan(&due); err != nil {
			s.T.Fatal(err)
		}
		return due == 0
	})
	s.AwaitNotifications()
}

// SetDunning sets the status of a subscription after the last failed retry.
func (s *Server) SetDunning(outcome string) {
	s.T.Helper()
	s.Call("PUT", "/sandbox/stripe/dunning", "", Object{"outcome": outcome}).Want(200)
}
