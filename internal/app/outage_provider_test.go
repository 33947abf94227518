package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// PostgreSQL fails during the call to the payment provider that changes a plan. The caller soon
// gets an error that names the database, and the circuit breaker of the provider stays closed. The
// next request completes the change without waiting for a lease to expire.
func TestDatabaseOutageDuringPlanChange(t *testing.T) {
	t.Parallel()
	var p apptest.Proxy
	config := apptest.NewSettings(t, sqldb.Postgres, p.Option)
	config.DatabasePatience = time.Duration(dbtest.Rounds(3, 0)) * time.Second
	patience := time.Duration(dbtest.Rounds(30, 4)) * time.Second
	l, address := dbtest.NewLine(t, config.DatabaseURL.Reveal())
	config.DatabaseURL = settings.Secret(address)
	s := apptest.StartWith(t, config)
	o := s.Register("ada@example.com", true)
	s.BuyPlan(o, "starter")
	for _, c := range []struct {
		name, plan string
		fail       func()
	}{{"frozen", "team", l.Freeze}, {"cut", "starter", l.Cut}} {
		name, plan := c.name, apptest.Object{"new_plan_id": s.PlanID(o, c.plan)}
		var changes atomic.Int32
		p.Tamper(func(r *http.Request) apptest.Verdict {
			if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/v1/subscriptions/") && changes.Add(1) == 1 {
				c.fail()
			}
			return apptest.Pass
		})
		began := clock.System().Now()
		a := s.Call("POST", o.Path("/subscription/change-plan"), o.Token, plan)
		if took := clock.System().Now().Sub(began); took > patience {
			t.Errorf("%s: it took %s", name, took)
		}
		if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 503 || err != nil || seconds < 1 {
			t.Errorf("%s: %d, retry after %q: %s", name, a.Status, a.Header.Get("Retry-After"), a.Text)
		}
		if n := changes.Load(); n != 1 {
			t.Errorf("%s: %d requests to the provider", name, n)
		}
		p.Tamper(nil)
		l.Restore()
		apptest.Eventually(t, "the database", func() bool { return s.Call("GET", "/api/v1/auth/me", o.Token, nil).Status == 200 })
		began = clock.System().Now()
		s.Call("POST", o.Path("/subscription/change-plan"), o.Token, plan).As(name).Want(200).WantAt("data.subscription.plan.id", plan["new_plan_id"])
		if took := clock.System().Now().Sub(began); took > patience {
			t.Errorf("%s: the repeated request took %s", name, took)
		}
	}
}
