package blackbox_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// sellTo creates tenants with MRR: ada 19 EUR, bob 21 USD, eve 49 EUR, and joe none.
func sellTo(s *apptest.Server) (ids map[string]any) {
	s.T.Helper()
	s.AddPlan("larger", "flat", "month", 4900, 0, nil)
	ids = map[string]any{}
	for name, plan := range map[string][2]string{"ada": {"starter", "EUR"}, "bob": {"starter", "USD"}, "eve": {"larger", "EUR"}, "joe": {}} {
		c := s.NewCustomer(name)
		if ids[name] = c.Tenant; plan[0] != "" {
			c.Buy(s.PlanID(c.Owner, plan[0]), plan[1], apptest.Card(apptest.CardPays))
		}
	}
	s.AwaitNotifications()
	return ids
}

// wantOrder checks the order of the named tenants in a list of all tenants.
func wantOrder(t *testing.T, s *apptest.Server, ids map[string]any, sort string, want ...string) {
	t.Helper()
	names := map[any]string{}
	for name, id := range ids {
		names[id] = name
	}
	var got []string
	for _, id := range list(s, s.Admin(), "tenants", "sort", sort, "per_page", "100").Want(200).Column("id") {
		if name := names[id]; name != "" {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", sort, diff)
	}
}

// Without a base currency, tenants are sorted by currency, always ascending, and then by MRR. Tenants
// without MRR come last.
func TestTenantsByMRR(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ids := sellTo(s)
		wantOrder(t, s, ids, "mrr", "ada", "eve", "bob", "joe")
		wantOrder(t, s, ids, "-mrr", "eve", "ada", "bob", "joe")
	})
}

// With a base currency, tenants are sorted by the MRR in the base currency.
func TestTenantsByMRRInTheBaseCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ids := sellTo(s)
		rate := func(dollars float64) {
			s.Call("PUT", "/api/v1/admin/rates/"+s.Now().Format(time.DateOnly), s.Admin(), object{"rates": object{"USD": dollars}}).Want(200)
		}
		rate(0.5) // 21 USD are 42 EUR
		wantOrder(t, s, ids, "mrr", "ada", "bob", "eve", "joe")
		wantOrder(t, s, ids, "-mrr", "eve", "bob", "ada", "joe")
		rate(2) // 10.50 EUR
		wantOrder(t, s, ids, "mrr", "bob", "ada", "eve", "joe")
		rate(0.25) // 84 EUR
		wantOrder(t, s, ids, "-mrr", "bob", "eve", "ada", "joe")
		// In the file, the MRR and the MRR in the base currency have separate columns.
		rows := readCSV(t, list(s, s.Admin(), "tenants", "sort", "-mrr", "format", "csv"))
		for name, want := range map[string]string{"mrr": "21.00", "currency": "USD", "mrr_base": "84.00", "mrr_base_currency": "EUR"} {
			if got := cell(t, rows, 1, name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}, func(s *settings.Settings) { s.BaseCurrency = "EUR" })
}

// wantInvoices checks the tenants of the rows and of the file in a list of all invoices.
func wantInvoices(t *testing.T, s *apptest.Server, ids map[string]any, sort string, want ...string) {
	t.Helper()
	names := map[any]string{}
	for name, id := range ids {
		names[id] = name
	}
	var got, exported []string
	for page, next := 1, any(""); next != nil; page++ {
		rows := list(s, s.Admin(), "invoices", "sort", sort, "per_page", "1", "page", strconv.Itoa(page), "filter[status]", "paid").Want(200)
		if name := names[rows.At("data.0.tenant.id")]; name != "" {
			got = append(got, name)
		}
		next = rows.At("links.next")
	}
	file := readCSV(t, list(s, s.Admin(), "invoices", "sort", sort, "format", "csv"))
	for row := range file[1:] {
		if name := names[cell(t, file, row+1, "tenant.id")]; name != "" {
			exported = append(exported, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", sort, diff)
	}
	if diff := cmp.Diff(want, exported); diff != "" {
		t.Errorf("%s in the file: %s", sort, diff)
	}
}

// Without a base currency, invoices are sorted by currency, always ascending, and then by total.
func TestInvoicesByTotal(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ids := sellTo(s)
		wantInvoices(t, s, ids, "total", "ada", "eve", "bob")
		wantInvoices(t, s, ids, "-total", "eve", "ada", "bob")
	})
}

// With a base currency, invoices are sorted by the total in the base currency at the current rates.
// Invoices in a currency without any rate come last.
func TestInvoicesByTotalInTheBaseCurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ids := sellTo(s)
		wantInvoices(t, s, ids, "total", "ada", "eve", "bob")
		wantInvoices(t, s, ids, "-total", "eve", "ada", "bob")
		rate := func(dollars float64) {
			s.Call("PUT", "/api/v1/admin/rates/"+s.Now().Format(time.DateOnly), s.Admin(), object{"rates": object{"USD": dollars}}).Want(200)
		}
		rate(0.5) // 21 USD are 42 EUR
		wantInvoices(t, s, ids, "total", "ada", "bob", "eve")
		wantInvoices(t, s, ids, "-total", "eve", "bob", "ada")
		rate(2) // 10.50 EUR
		wantInvoices(t, s, ids, "total", "bob", "ada", "eve")
		rate(0.25) // 84 EUR
		wantInvoices(t, s, ids, "-total", "bob", "eve", "ada")
		list(s, s.Admin(), "invoices", "sort", "-total", "sort", "issue_date").Want(200).WantAt("data.0.tenant.id", ids["bob"])
	}, func(s *settings.Settings) { s.BaseCurrency = "EUR" })
}

// The MRR of a tenant and of its subscription rises with the end of a discount, as in the figures of the
// platform, although nothing else changes.
func TestMRRAfterADiscount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ids, admin := sellTo(s), s.Admin()
		s.Call("POST", "/api/v1/admin/discounts", admin, object{"code": "START", "name": object{"en": "Start"}, "percent_off": 75, "duration": "repeating", "months": 1}).Want(201)
		eve := "filter[tenant]"
		id := list(s, admin, "subscriptions", eve, ids["eve"].(string)).Want(200).Str("data.0.id")
		s.Call("POST", "/api/v1/admin/tenants/"+ids["eve"].(string)+"/subscriptions/"+id+"/promotion-code", admin, object{"promotion_code": "START"}).Want(200)
		s.AwaitNotifications()
		want := func(amount float64, order ...string) {
			t.Helper()
			money := object{"amount_cents": amount, "currency": "EUR"}
			list(s, admin, "subscriptions", eve, ids["eve"].(string)).Want(200).WantAt("data.0.mrr", money)
			s.Call("GET", "/api/v1/admin/tenants/"+ids["eve"].(string), admin, nil).Want(200).WantAt("data.mrr", money)
			wantOrder(t, s, ids, "mrr", order...)
			s.Call("GET", "/api/v1/admin/stats", admin, nil).Want(200).WantAt("data.mrr.0.amount", 2*1900+amount) // ada and the demo tenant
		}
		want(1225, "eve", "ada", "bob", "joe")
		for range 3 {
			s.Advance(21 * 24 * time.Hour)
			s.AwaitNotifications()
		}
		admin = s.Admin()
		want(4900, "ada", "eve", "bob", "joe")
	})
}
