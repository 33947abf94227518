package apptest

import (
	"net/url"
	"strconv"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AuditLog reads the audit log as a platform admin.
func (s *Server) AuditLog(query url.Values) Reply {
	s.T.Helper()
	return s.Call("GET", "/api/v1/admin/audit-logs?"+query.Encode(), s.Admin(), nil)
}

// Invoices waits until the first page has n invoices of a tenant, and returns them.
func (s *Server) Invoices(o Owner, n int) []any {
	s.T.Helper()
	var list []any
	Eventually(s.T, "the invoices", func() bool {
		list, _ = s.Call("GET", o.Path("/invoices"), o.Token, nil).Want(200).At("data").([]any)
		return len(list) == n
	})
	return list
}

// InvoiceStates returns the status of each invoice of a tenant by the provider's id.
func (s *Server) InvoiceStates(o Owner) map[string]string {
	s.T.Helper()
	list := s.Call("GET", o.Path("/invoices?per_page=100"), o.Token, nil).Want(200).At("data").([]any)
	states := map[string]string{}
	for _, in := range list {
		in := in.(map[string]any)
		states[in["psp_invoice_id"].(string)] = in["status"].(string)
	}
	return states
}

// Subscription returns the tenant's subscription. data is null if there is none.
func (s *Server) Subscription(o Owner) Reply {
	s.T.Helper()
	return s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200)
}

// ChangePlan changes the plan of the owner's subscription to the plan with a slug. The fields of
// more are added to the body.
func (s *Server) ChangePlan(o Owner, slug string, more map[string]any) Reply {
	s.T.Helper()
	body := map[string]any{"new_plan_id": s.PlanID(o, slug)}
	for k, v := range more {
		body[k] = v
	}
	return s.Call("POST", o.Path("/subscription/change-plan"), o.Token, body)
}

// PreviewChange previews a change to the plan with a slug. quantity 0 omits the quantity.
func (s *Server) PreviewChange(o Owner, slug string, quantity int) Reply {
	s.T.Helper()
	path := o.Path("/subscription/preview-change?new_plan_id=") + s.PlanID(o, slug)
	if quantity > 0 {
		path += "&quantity=" + strconv.Itoa(quantity)
	}
	return s.Call("GET", path, o.Token, nil)
}

// Cancel cancels a tenant's subscription, immediately or at the end of the period, and returns the
// response.
func (s *Server) Cancel(o Owner, immediately bool) Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/subscription/cancel"), o.Token, Object{"immediately": immediately})
}

// Resume revokes the cancellation of a tenant's subscription and returns the response.
func (s *Server) Resume(o Owner) Reply {
	s.T.Helper()
	return s.Call("POST", o.Path("/subscription/resume"), o.Token, nil)
}

// AddPlan adds a plan to the demo catalog in the database. kind is its pricing (flat, seat), unit
// its interval (month, year), cents its price in EUR, and quotas the limits by feature code.
func (s *Server) AddPlan(slug, kind, unit string, cents, trialDays int, quotas map[string]int) {
	s.T.Helper()
	now := clock.System().Now()
	id := sqldb.NewID()
	run := func(query string, args ...any) {
		s.T.Helper()
		Exec(s.T, s.DB(), query, args...)
	}
	run(`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, trial_days, sort_order, created_at, updated_at)
		SELECT $1, id, $2, $3, $4, 'monthly', $5, 1, $6, 90, $7, $7 FROM products WHERE slug = 'platform'`,
		id, slug, sqldb.JSON(`{"en":"`+slug+`"}`), kind, unit, trialDays, now)
	run(`INSERT INTO plan_prices (id, plan_id, currency, price_cents, created_at, updated_at) VALUES ($1, $2, 'EUR', $3, $4, $4)`,
		sqldb.NewID(), id, cents, now)
	for code, value := range quotas {
		run(`INSERT INTO entitlements (id, plan_id, feature_id, type, value, created_at, updated_at)
			SELECT $1, $2, id, 'quota', $3, $4, $4 FROM features WHERE code = $5`, sqldb.NewID(), id, value, now, code)
	}
}

// CountAudited returns the number of audit entries with an action for a tenant.
func (s *Server) CountAudited(o Owner, action string) int {
	s.T.Helper()
	logs := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]="+action+"&filter[tenant]="+o.Tenant, s.Admin(), nil).Want(200)
	return len(logs.At("data").([]any))
}
