package blackbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// grants returns the path of a tenant's grants.
func grants(c *apptest.Customer) string { return "/api/v1/admin/tenants/" + c.Tenant + "/grants" }

// quotaRow returns the row of a meter in /usage/quotas.
func quotaRow(s *apptest.Server, c *apptest.Customer, code string) apptest.Object {
	s.T.Helper()
	for _, row := range s.Call("GET", c.Path("/usage/quotas"), c.Token, nil).Want(200).At("data.meters").([]any) {
		if row.(apptest.Object)["meter_code"] == code {
			return row.(apptest.Object)
		}
	}
	s.T.Fatalf("no row of meter %s", code)
	return nil
}

// Admins grant units in addition to the limit, and every member reads them.
func TestGrants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "free") // 100 api-calls, hard
		record := func(quantity float64) apptest.Reply {
			t.Helper()
			return s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": quantity})
		}
		create := func(body apptest.Object) apptest.Reply {
			t.Helper()
			return s.Call("POST", grants(ada), s.Admin(), body)
		}
		first := create(apptest.Object{"feature_code": "api-calls", "amount": 10.5, "reason": "sorry"}).Want(201)
		first.WantAt("data.feature_code", "api-calls").WantAt("data.amount", 10.5).WantAt("data.remaining", 10.5).WantAt("data.expires_at", nil).
			WantAt("data.priority", 50.0).WantAt("data.source", "admin").WantAt("data.reason", "sorry").WantAt("data.pack", nil).WantAt("data.invoice_id", nil)
		if first.Str("data.starts_at") != first.Str("data.created_at") {
			t.Errorf("starts at %s, created at %s", first.Str("data.starts_at"), first.Str("data.created_at"))
		}
		until := s.Now().Add(time.Hour).Format(time.RFC3339)
		create(apptest.Object{"feature_code": "api-calls", "amount": 5, "expires_at": until, "priority": 0}).Want(201)
		create(apptest.Object{"feature_code": "api-calls", "amount": 7, "starts_at": until}).Want(201).WantAt("data.reason", nil)
		record(110).Want(201)
		list := s.Call("GET", ada.Path("/grants"), ada.Token, nil).Want(200)
		list.WantAt("data.0.remaining", 7.0).WantAt("data.1.remaining", 0.0).WantAt("data.2.remaining", 5.5).WantAt("data.3", nil)
		member, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		if own := s.Call("GET", ada.Path("/grants"), member, nil).Want(200); own.Text != list.Text {
			t.Errorf("the lists differ: %s", own.Text)
		}
		list.WantAt("data.0.by", apptest.Object{"type": "platform", "id": nil, "name": nil})
		s.Call("GET", grants(ada), s.Admin(), nil).Want(200).WantAt("data.0.id", list.At("data.0.id")).WantAt("data.0.by.name", "Sandbox Admin").
			WantAt("data.1.used_up_at", list.At("data.1.used_up_at"))
		record(6).Want(429).WantAt("code", "QUOTA_EXCEEDED").WantAt("limited_by", "plan").WantAt("limit", 100.0).WantAt("current_usage", 110.0).WantAt("grants_remaining", 5.5)
		s.Call("POST", ada.Path("/usage/batch"), ada.Token, apptest.Object{"events": []any{
			apptest.Object{"meter_code": "api-calls", "quantity": 5}, apptest.Object{"meter_code": "api-calls", "quantity": 1},
		}}).Want(200).WantAt("data.0.status", 201.0).WantAt("data.1.status", 429.0).WantAt("data.1.grants_remaining", 0.5).WantAt("data.1.current_usage", 115.0)
		row := quotaRow(s, ada, "api-calls")
		if row["current_usage"] != 115.0 || row["grants_remaining"] != 0.5 || row["rejected"] != 2.0 || row["unit_price_cents"] != nil || row["currency"] != nil {
			t.Errorf("the quota row is %v", row)
		}
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant+"/limits", s.Admin(), nil).Want(200).WantAt("data.0.feature_code", "api-calls").WantAt("data.0.grants_remaining", 0.5)

		path := grants(ada) + "/" + first.Str("data.id")
		s.Call("DELETE", path, s.Admin(), nil).Want(204)
		s.Call("DELETE", path, s.Admin(), nil).WantRefused(404, "")
		s.Call("GET", ada.Path("/grants"), ada.Token, nil).Want(200).WantAt("data.1.amount", 5.0).WantAt("data.2", nil)
		record(0.5).WantRefused(429, "QUOTA_EXCEEDED")
		s.Advance(time.Hour) // the third grant starts
		ada.LogInAgain()
		if row := quotaRow(s, ada, "api-calls"); row["grants_remaining"] != 7.0 {
			t.Errorf("the quota row is %v", row)
		}
		record(7).Want(201)
		if n := s.CountAudited(ada.Owner, "grant.created") + s.CountAudited(ada.Owner, "grant.deleted"); n != 4 {
			t.Errorf("%d audited changes, want 4", n)
		}
	})
}

func TestGrantRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		k.AdminCall("POST", "/meters", apptest.Object{"code": "peak", "name": "peak", "aggregation_type": "max", "reset_interval": "daily", "quota_enforcement": "hard"}).Want(201)
		ada := s.NewCustomer("ada")
		now := s.Now()
		at := func(d time.Duration) string { return now.Add(d).Format(time.RFC3339) }
		valid := apptest.Object{"feature_code": "api-calls", "amount": 1}
		for field, values := range map[string][]any{
			"feature_code": {nil, "", "nothing", "peak", 5}, "amount": {nil, 0, -1, 0.0000001, 1000000000000.5, "1"},
			"expires_at": {at(-time.Second), "soon", 5}, "starts_at": {"soon", 5, nil}, "priority": {-1, 101, 1.5, "1"},
			"reason": {strings.Repeat("x", 501), 5},
		} {
			for _, value := range values {
				s.Call("POST", grants(ada), s.Admin(), apptest.WithChanges(valid, apptest.Object{field: value})).WantInvalid(field)
			}
		}
		s.Call("POST", grants(ada), s.Admin(), apptest.WithChanges(valid, apptest.Object{"starts_at": at(2 * time.Hour), "expires_at": at(time.Hour)})).WantInvalid("expires_at")
		s.Call("POST", grants(ada), s.Admin(), apptest.Object{"feature_code": "peak", "amount": 0, "expires_at": at(-time.Hour)}).WantInvalid("feature_code", "amount", "expires_at")
		s.Call("GET", grants(ada), s.Admin(), nil).Want(200).WantAt("data", []any{})
		s.Call("POST", grants(ada), ada.Token, valid).WantRefused(403, "")
		s.Call("POST", "/api/v1/admin/tenants/00000000-0000-7000-8000-000000000000/grants", s.Admin(), valid).WantRefused(404, "")
		s.Call("GET", "/api/v1/admin/tenants/00000000-0000-7000-8000-000000000000/grants", s.Admin(), nil).WantRefused(404, "")
		s.Call("DELETE", grants(ada)+"/nothing", s.Admin(), nil).WantRefused(404, "")
		// The same request with the same key creates one grant.
		once := func(body apptest.Object) apptest.Reply {
			r := s.NewRequest("POST", grants(ada), s.Admin(), body)
			r.Header.Set("Idempotency-Key", "once")
			return s.Do(r)
		}
		for range 2 {
			once(valid).Want(201)
		}
		once(apptest.WithChanges(valid, apptest.Object{"amount": 2})).WantRefused(409, "idempotency_key_reused")
		s.Call("GET", grants(ada), s.Admin(), nil).Want(200).WantAt("data.0.amount", 1.0).WantAt("data.1", nil)
	})
}

// On a meter that the plan bills, usage draws from the first unit on. Drawn units are free: the
// invoice does not have them, and the estimate shows them with the price 0.
func TestGrantsOfBilledMeters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "sold", "sum", "10", apptest.Object{"name": "sold"})
		ada := s.NewCustomer("ada")
		s.Call("POST", grants(ada), s.Admin(), apptest.Object{"feature_code": "sold", "amount": 30}).Want(201)
		record := func(quantity float64) {
			t.Helper()
			s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "sold", "quantity": quantity}).Want(201)
		}
		record(5) // the plan does not bill it yet, and its usage is unlimited
		s.Advance(time.Hour)
		ada.LogInAgain()
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		for _, quantity := range []float64{20, 15, 7} {
			record(quantity)
		}
		row := quotaRow(s, ada, "sold")
		if row["grants_remaining"] != 0.0 || row["unit_price_cents"] != 10.0 || row["currency"] != "EUR" {
			t.Errorf("the quota row is %v", row)
		}
		s.Call("GET", ada.Path("/usage/cost-estimate"), ada.Token, nil).Want(200).WantAt("data.total_amount_cents", 120.0).
			WantAt("data.lines.0.quantity", 12.0).WantAt("data.lines.0.amount_cents", 120.0).
			WantAt("data.lines.1.quantity", 30.0).WantAt("data.lines.1.unit_price_cents", 0.0).WantAt("data.lines.1.amount_cents", 0.0).
			WantAt("data.lines.1.meter_code", "sold").WantAt("data.lines.2", nil)
		awaitReported(s, 2)
		s.Advance(32 * apptest.Day)
		var metered []any
		for _, invoice := range ada.ProviderObjects(ada.Owner, "invoice") {
			metered = append(metered, invoice.At("total"))
		}
		if last := metered[len(metered)-1].(float64); int(last)%1000 != 120 {
			t.Errorf("the invoices are %v", metered)
		}
	})
}
