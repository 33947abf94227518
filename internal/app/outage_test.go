package app_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// While PostgreSQL is unreachable or does not answer, requests that need it fail soon with a
// Retry-After header, and the public catalog still works. The service recovers as soon as the
// database answers again.
func TestTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	config := apptest.NewSettings(t, sqldb.Postgres)
	config.DatabasePatience = time.Duration(dbtest.Rounds(3, 0)) * time.Second
	patience := time.Duration(dbtest.Rounds(30, 2)) * time.Second
	l, address := dbtest.NewLine(t, config.DatabaseURL.Reveal())
	config.DatabaseURL = settings.Secret(address)
	s := apptest.StartWith(t, config)
	o, admin := s.Register("ada@example.com", true), s.Admin()
	s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200)
	event := apptest.Object{"meter_code": "api-calls", "quantity": 1}
	requests := []struct {
		method, path, token string
		body                any
	}{
		{"GET", "/api/v1/auth/me", o.Token, nil},
		{"POST", "/api/v1/auth/login", "", apptest.Object{"email": "ada@example.com", "password": "correct horse"}},
		{"POST", "/api/v1/auth/forgot-password", "", apptest.Object{"email": "ada@example.com"}},
		{"POST", o.Path("/usage"), o.Token, event},
		{"POST", o.Path("/usage/batch"), o.Token, apptest.Object{"events": []any{event, event}}},
		{"GET", o.Path("/usage/quotas"), o.Token, nil},
		{"GET", o.Path("/subscription"), o.Token, nil},
		{"PATCH", "/api/v1/tenant", o.Token, apptest.Object{"name": "New name"}},
		{"GET", "/api/v1/admin/tenants", admin, nil},
		{"GET", "/api/v1/invitations/unknown", "", nil},
	}
	for name, fail := range map[string]func(){"frozen": l.Freeze, "cut": l.Cut} {
		s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
		fail()
		s.Call("POST", "/sandbox/clock", "", apptest.Object{"advance": "61s"}).Want(200)
		var all sync.WaitGroup
		for _, r := range requests {
			all.Go(func() {
				began := clock.System().Now()
				a := s.Call(r.method, r.path, r.token, r.body)
				if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 503 || err != nil || seconds < 1 {
					t.Errorf("%s: %s %s: %d, retry after %q: %s", name, r.method, r.path, a.Status, a.Header.Get("Retry-After"), a.Text)
				}
				if took := clock.System().Now().Sub(began); took > patience {
					t.Errorf("%s: %s %s took %s", name, r.method, r.path, took)
				}
			})
		}
		all.Wait()
		s.Call("GET", "/readyz", "", nil).Want(503)
		s.Call("GET", "/healthz", "", nil).Want(200)
		s.Call("GET", "/api/v1/catalog/plans", "", nil).Want(200)
		l.Restore()
		began := clock.System().Now()
		apptest.Eventually(t, "readiness", func() bool { return s.Call("GET", "/readyz", "", nil).Status == 200 })
		if took := clock.System().Now().Sub(began); took > patience {
			t.Errorf("%s: ready again after %s", name, took)
		}
		apptest.Eventually(t, "an answer", func() bool { return s.Call("GET", "/api/v1/auth/me", o.Token, nil).Status == 200 })
		s.Call("POST", o.Path("/usage"), o.Token, event).Want(201)
	}
}
