package blackbox_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const studioCatalog = `
features:
  - {code: studio-access, name: {en: Studio}}
  - {code: other, name: {en: Other}}
products:
  - slug: product
    name: {en: Product}
    plans:
      - {slug: with, name: {en: With}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 100}, entitlements: {studio-access: true, other: true}}
      - {slug: some, name: {en: Some}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 100}, entitlements: {studio-access: 1}}
      - {slug: zero, name: {en: Zero}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 100}, entitlements: {studio-access: 9}}
      - {slug: without, name: {en: Without}, pricing_type: flat, billing_cycle: monthly, prices: {EUR: 100}, entitlements: {other: true}}
`

// studio serves GET /studio/access for the tenant in the token.
func studio(t *testing.T, db *sqldb.DB) http.Handler {
	t.Helper()
	messages, err := i18n.Load()
	if err != nil {
		t.Fatal(err)
	}
	data, err := pricelist.Parse([]byte(studioCatalog))
	if err != nil {
		t.Fatal(err)
	}
	plans := catalog.New(catalog.Deps{DB: db, Clock: clock.System(), Audit: audit.New(audit.Deps{DB: db, Clock: clock.System()})})
	if _, err := pricelist.New(pricelist.Deps{DB: db, Catalog: plans}).Apply(t.Context(), data, false); err != nil {
		t.Fatal(err)
	}
	svc := entitlement.NewService(entitlement.Deps{DB: db, Clock: clock.System(), Catalog: plans})
	return rest.New(rest.Config{
		Messages: messages, Log: slog.New(slog.DiscardHandler), Clock: clock.System(),
		Authenticate: func(_ context.Context, token string) (*authz.Caller, error) {
			if token == "alone" {
				return &authz.Caller{UserID: 1}, nil
			}
			id, err := uuid.Parse(token)
			if err != nil {
				return nil, fault.New(fault.Unauthenticated, "error.unauthenticated")
			}
			return &authz.Caller{UserID: 1, Tenant: &authz.Membership{TenantID: id}}, nil
		},
		Limiter:          limit.New(limit.Config{}),
		ClientIP:         func(*http.Request) string { return "192.0.2.7" },
		FirstPartyOrigin: func(string) bool { return false },
	}, []rest.Route{{
		Method: "GET", Path: "/api/v1/studio/access", Scope: rest.Member, Rate: limit.Studio,
		Handler: rest.Handle(entitlement.NewHTTP(svc).StudioAccess),
	}})
}

// subscribed creates a tenant with a subscription, or without one if plan is "".
func subscribed(t *testing.T, db *sqldb.DB, plan string, status subscription.Status) string {
	t.Helper()
	tenant := sqldb.NewID().String()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	exec(`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'T', $2, 'EUR', $3, $3)`,
		tenant, "t-"+tenant, now)
	if plan != "" {
		exec(`INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
				billing_anchor, current_period_start, current_period_end, psp_subscription_id, sync_version, created_at, updated_at)
			SELECT $1, $2, p.id, $3, 'EUR', 100, 1, 'month', 1, $4, $4, $5, $6, 1, $4, $4 FROM plans p WHERE p.slug = $7`,
			sqldb.NewID().String(), tenant, string(status), now, now.AddDate(0, 1, 0), "sub_"+tenant, plan)
	}
	return tenant
}

func TestStudioAccess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		api := studio(t, db)
		// A quota of 0, which only an admin can set.
		_, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE entitlements SET value = 0 WHERE value = 9`)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(token string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/studio/access", http.NoBody)
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			return w
		}
		const (
			open           = `{"data":{"allowed":true,"reason":null}}`
			noSubscription = `{"data":{"allowed":false,"reason":"no_active_subscription"}}`
			notInPlan      = `{"data":{"allowed":false,"reason":"feature_not_in_plan"}}`
		)
		for _, c := range []struct {
			plan   string
			status subscription.Status
			want   string
		}{
			{"", "", noSubscription},
			{"with", subscription.Active, open},
			{"with", subscription.Trialing, open},
			{"with", subscription.PastDue, noSubscription},
			{"with", subscription.Unpaid, noSubscription},
			{"with", subscription.Paused, noSubscription},
			{"with", subscription.Incomplete, noSubscription},
			{"with", subscription.Canceled, noSubscription},
			{"with", subscription.IncompleteExpired, noSubscription},
			{"some", subscription.Active, open},
			{"zero", subscription.Active, notInPlan},
			{"without", subscription.Active, notInPlan},
			{"without", subscription.PastDue, noSubscription},
		} {
			w := ask(subscribed(t, db, c.plan, c.status))
			if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != c.want {
				t.Errorf("%s %s: %d %s, want %s", c.plan, c.status, w.Code, got, c.want)
			}
		}
		if w := ask(""); w.Code != http.StatusUnauthorized {
			t.Errorf("a stranger: %d %s", w.Code, w.Body)
		}
		if w := ask("alone"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "TENANT_CONTEXT_REQUIRED") {
			t.Errorf("user without a tenant: %d %s", w.Code, w.Body)
		}
	})
}
