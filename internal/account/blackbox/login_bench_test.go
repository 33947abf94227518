package blackbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// BenchmarkLoginTiming compares logins with an unknown email to logins with a wrong password. It
// reports the medians of alternating attempts. The ratio must be within 5 % of 1. Otherwise the
// time would reveal whether an account exists.
//
//	go test ./internal/account/blackbox -run '^$' -bench LoginTiming -benchtime 200x
func BenchmarkLoginTiming(b *testing.B) {
	s := apptest.Start(b, sqldb.SQLite, func(s *settings.Settings) { s.HashCost = account.HashCost{} })
	s.Register("ada@example.com", false)
	attempt := func(email string) time.Duration {
		began := clock.System().Now()
		s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": email, "password": "wrong horse"}).Want(401)
		return clock.System().Now().Sub(began)
	}
	var wrong, unknown []time.Duration
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 { // alternate the order
			wrong = append(wrong, attempt("ada@example.com"))
			unknown = append(unknown, attempt("eve@example.com"))
		} else {
			unknown = append(unknown, attempt("eve@example.com"))
			wrong = append(wrong, attempt("ada@example.com"))
		}
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2])
	}
	b.ReportMetric(median(wrong)/1e6, "ms/wrong-password")
	b.ReportMetric(median(unknown)/1e6, "ms/unknown-email")
	b.ReportMetric(median(unknown)/median(wrong), "unknown/wrong")
}
