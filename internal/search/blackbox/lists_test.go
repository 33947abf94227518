package blackbox_test

import (
	"encoding/csv"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// list calls a list across tenants as a platform admin.
func list(s *apptest.Server, token, path string, query ...string) apptest.Reply {
	s.T.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	return s.Call("GET", "/api/v1/admin/"+path+"?"+values.Encode(), token, nil)
}

// wantColumn checks the values of a key in the rows of a list.
func wantColumn(t *testing.T, a apptest.Reply, key string, want ...any) {
	t.Helper()
	got := a.Want(200).Column(key)
	if len(want) == 0 && len(got) == 0 {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", a.Text, diff)
	}
}

// readCSV checks that a response is a CSV file and returns its rows.
func readCSV(t *testing.T, a apptest.Reply) [][]string {
	t.Helper()
	a.Want(200)
	if got := a.Header.Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(a.Text, "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// cell returns the value of a column in a row of a file.
func cell(t *testing.T, rows [][]string, row int, column string) string {
	t.Helper()
	for i, name := range rows[0] {
		if name == column {
			return rows[row][i]
		}
	}
	t.Fatalf("no column %q in %v", column, rows[0])
	return ""
}

// Every list rejects unknown filters and sorts with 400, and invalid values with 422 on the
// parameter.
func TestListsRejectUnknownParameters(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		for path, filters := range map[string]map[string]string{
			"invoices":           {"status": "open,gone", "tenant": "x", "currency": "EURO", "issued_from": "2026-01-01T00:00:00Z", "issued_to": "soon", "overdue": "yes"},
			"credit-notes":       {"status": "pending", "tenant": "x", "currency": "e", "issued_from": "soon", "issued_to": "soon", "refund_status": "x"},
			"subscriptions":      {"status": "x", "tenant": "x", "collection": "cash", "trial_ends_before": "soon", "renews_before": "soon"},
			"users":              {"search": "a", "email": "nobody", "tenant": "x", "mfa": "on", "without_tenant": "x", "platform_admin": "x"},
			"webhook-deliveries": {"status": "x", "type": "x", "tenant": "x", "endpoint": "x"},
			"tenants":            {"status": "active,x", "search": "a", "country": "germany", "trial_ends_before": "soon", "open_amount": "x"},
		} {
			for name, value := range filters {
				list(s, admin, path, "filter["+name+"]", value).As(path + " " + name).WantInvalid("filter." + name)
			}
			list(s, admin, path, "filter[nothing]", "x").As(path).WantRefused(400, "")
			list(s, admin, path, "sort", "nothing").As(path).WantRefused(400, "")
			list(s, admin, path, "format", "pdf").As(path).WantInvalid("format")
			for _, name := range []string{"tenant", "endpoint"} {
				if filters[name] != "" {
					list(s, admin, path, "filter["+name+"]", apptest.NoSuchID).As(path+" of no "+name).Want(200).WantAt("data", []any{})
				}
			}
		}
		list(s, admin, "subscriptions", "filter[plan]", "no-such-plan").Want(200).WantAt("data", []any{})
		list(s, admin, "tenants", "filter[plan]", "no-such-plan").Want(200).WantAt("data", []any{})
	})
}

func TestInvoicesAcrossTenants(t *testing.T) {
	t.Parallel()
	t.Run("provider", func(t *testing.T) { t.Parallel(); testInvoices(t) })
	t.Run("platform", func(t *testing.T) { t.Parallel(); testInvoices(t, apptest.WithPlatformInvoices) })
}

func testInvoices(t *testing.T, options ...apptest.Option) {
	t.Helper()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		before := list(s, admin, "invoices").Want(200)
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		s.BuyPlan(ada, "starter")
		s.BuyPlan(bob, "starter")
		s.AwaitNotifications()

		own := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200)
		a := list(s, admin, "invoices", "filter[tenant]", ada.Tenant).Want(200)
		rows, _ := a.At("data").([]any)
		if len(rows) != 1 {
			t.Fatalf("invoices of a tenant: %s", a.Text)
		}
		row, _ := rows[0].(object)
		shown, _ := own.At("data.0").(object)
		for key, want := range shown {
			if key == "pdf_url" {
				continue
			}
			if diff := cmp.Diff(want, row[key]); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
		}
		if diff := cmp.Diff(object{"id": ada.Tenant, "name": "Ada's Organization"}, row["tenant"]); diff != "" {
			t.Error(diff)
		}
		total, _ := shown["total"].(object)
		currency, _ := total["currency"].(string)
		if diff := cmp.Diff(object{"amount_cents": float64(0), "currency": currency}, row["amount_due"]); diff != "" {
			t.Error(diff)
		}
		a.WantAt("meta.totals", []any{object{"currency": currency, "count": float64(1), "total": total["amount_cents"], "amount_due": float64(0)}})
		all := list(s, admin, "invoices").Want(200)
		if got, want := all.At("meta.total"), before.At("meta.total").(float64)+2; got != want {
			t.Errorf("%v invoices in all, want %v", got, want)
		}

		number, _ := shown["number"].(string)
		wantColumn(t, list(s, admin, "invoices", "filter[number]", strings.ToLower(number)), "number", number)
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[status]", "open,draft"), "number")
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[status]", "open,paid"), "number", number)
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[overdue]", "false"), "number", number)
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[overdue]", "1"), "number")
		today := shown["issue_date"].(string)
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[issued_from]", today, "filter[issued_to]", today), "number", number)
		tomorrow, err := time.Parse(time.DateOnly, today)
		if err != nil {
			t.Fatal(err)
		}
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[issued_from]", tomorrow.AddDate(0, 0, 1).Format(time.DateOnly)), "number")
		wantColumn(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "filter[currency]", "JPY"), "number")

		file := readCSV(t, list(s, admin, "invoices", "filter[tenant]", ada.Tenant, "format", "csv", "bom", "1"))
		if len(file) != 2 || cell(t, file, 1, "number") != number || cell(t, file, 1, "currency") != currency || cell(t, file, 1, "amount_due") != "0.00" ||
			cell(t, file, 1, "tenant.name") != "Ada's Organization" || cell(t, file, 1, "total") != "19.00" {
			t.Errorf("file: %v", file)
		}
	}, options...)
}

// Currencies are in upper or lower case, also in a list of several.
func TestCurrencyFiltersIgnoreCase(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.AwaitNotifications()
		invoice := s.Call("GET", ada.Path("/invoices"), ada.Token, nil).Want(200).Str("data.0.id")
		s.Call("POST", "/api/v1/admin/tenants/"+ada.Tenant+"/invoices/"+invoice+"/credit-notes", admin, object{
			"amount_cents": 500, "settlement": "none", "reason": "other",
		}).Want(201)
		for _, path := range []string{"invoices", "credit-notes"} {
			for currencies, want := range map[string]int{"EUR": 1, "eur": 1, "Eur": 1, "usd, eur": 1, "usd": 0, "jpy,GBP": 0} {
				a := list(s, admin, path, "filter[tenant]", ada.Tenant, "filter[currency]", currencies).As(path + " in " + currencies).Want(200)
				if got := len(a.Column("id")); got != want {
					t.Errorf("%s in %s: %d rows, want %d", path, currencies, got, want)
				}
			}
			for _, invalid := range []string{"eu", "euro", "e1r", "ſek", "eur,", "eur,x"} {
				list(s, admin, path, "filter[currency]", invalid).As(path + " in " + invalid).WantInvalid("filter.currency")
			}
		}
		list(s, admin, "stats/series", "figure", "mrr", "interval", "month", "currency", "eur").Want(200).WantAt("data.0.currency", "EUR")
		list(s, admin, "analytics", "currency", "eur").Want(200).WantAt("meta.currency", "EUR")
	})
}

// The CSV file has all entries of the list in the same order, however many there are.
func TestExportOfManyTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, object{"name": "=1+1"}).Want(200)
		apptest.Eventually(t, "the activity, which moves the tenant in the list", func() bool {
			return s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, admin, nil).Want(200).At("data.last_activity_at") != nil
		})
		const many = 450
		for i := range many {
			var at any
			if i%3 == 0 {
				at = time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
			}
			apptest.Exec(t, s.DB(), `INSERT INTO tenants (id, name, slug, preferred_currency, last_activity_at, created_at, updated_at)
				SELECT $1, name, $2, preferred_currency, $3, created_at, updated_at FROM tenants WHERE id = $4`,
				"01990000-0000-7000-8000-"+strings.Repeat("0", 9)+string([]byte{'0' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}), "copy-"+string([]byte{'0' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}), at, ada.Tenant)
		}
		for _, sort := range []string{"-created_at", "name", "last_activity_at", "-last_activity_at", "mrr", "-mrr"} {
			rows := readCSV(t, list(s, admin, "tenants", "format", "csv", "sort", sort))
			var want []string
			for page := 1; ; page++ {
				a := list(s, admin, "tenants", "sort", sort, "per_page", "100", "page", string([]byte{'0' + byte(page)})).Want(200)
				for _, id := range a.Column("id") {
					want = append(want, id.(string))
				}
				if a.At("links.next") == nil {
					break
				}
			}
			var got []string
			for i := range rows[1:] {
				got = append(got, cell(t, rows, i+1, "id"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", sort, diff)
			}
		}
		rows := readCSV(t, list(s, admin, "tenants", "format", "csv", "filter[search]", "adas-organization"))
		if len(rows) != 2 || cell(t, rows, 1, "name") != "'=1+1" || cell(t, rows, 1, "owner.email") != "ada@example.com" {
			t.Errorf("file: %v", rows)
		}
	})
}

func TestSubscriptionsAcrossTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		s.AwaitNotifications()
		a := list(s, admin, "subscriptions", "filter[tenant]", ada.Tenant).Want(200)
		own := s.Subscription(ada)
		row, _ := a.At("data.0").(object)
		shown, _ := own.At("data").(object)
		for key, want := range shown {
			if diff := cmp.Diff(want, row[key]); diff != "" {
				t.Errorf("%s: %s", key, diff)
			}
		}
		if diff := cmp.Diff(object{"amount_cents": float64(1900), "currency": "EUR"}, row["mrr"]); diff != "" {
			t.Error(diff)
		}
		tenant := s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, admin, nil).Want(200)
		tenant.WantAt("data.mrr", row["mrr"])
		end := shown["current_period_end"].(string)
		for name, c := range map[string]struct {
			filters []string
			found   bool
		}{
			"plan":            {[]string{"filter[plan]", "starter,other"}, true},
			"other plan":      {[]string{"filter[plan]", "other"}, false},
			"status":          {[]string{"filter[status]", "active,trialing"}, true},
			"card":            {[]string{"filter[collection]", "card"}, true},
			"invoice":         {[]string{"filter[collection]", "invoice"}, false},
			"renews":          {[]string{"filter[renews_before]", end}, true},
			"renews later":    {[]string{"filter[renews_before]", s.Now().Format(time.RFC3339)}, false},
			"trials":          {[]string{"filter[trial_ends_before]", end}, false},
			"by end":          {[]string{"sort", "-current_period_end"}, true},
			"status and plan": {[]string{"filter[status]", "active", "filter[plan]", "other"}, false},
		} {
			a := list(s, admin, "subscriptions", append(c.filters, "filter[tenant]", ada.Tenant)...).As(name).Want(200)
			if found := len(a.At("data").([]any)) == 1; found != c.found {
				t.Errorf("%s: %s", name, a.Text)
			}
		}
		s.Cancel(ada, false).Want(200)
		list(s, admin, "subscriptions", "filter[tenant]", ada.Tenant, "filter[renews_before]", end).Want(200).WantAt("data", []any{})
		file := readCSV(t, list(s, admin, "subscriptions", "filter[tenant]", ada.Tenant, "format", "csv"))
		if cell(t, file, 1, "mrr") != "19.00" || cell(t, file, 1, "currency") != "EUR" || cell(t, file, 1, "plan.name") != "Starter" {
			t.Errorf("file: %v", file)
		}
	})
}

func TestUsersAcrossTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		_, bobID := s.Join(ada, "Bóbby Tables", "bob@example.com", "member")
		s.RegisterAlone("Eve", "eve@example.com")

		a := list(s, admin, "users", "filter[email]", "BOB@example.com").Want(200)
		want := object{
			"id": float64(bobID), "name": "Bóbby Tables", "email": "bob@example.com", "email_verified": true, "is_platform_admin": false, "permissions": nil,
			"mfa_enabled": false, "tenant": object{"id": ada.Tenant, "name": "Ada's Organization", "role": "member"},
			"last_login_at": a.At("data.0.last_login_at"), "created_at": a.At("data.0.created_at"),
		}
		if diff := cmp.Diff([]any{want}, a.At("data")); diff != "" {
			t.Error(diff)
		}
		a.TimeAt("data.0.last_login_at")
		wantColumn(t, list(s, admin, "users", "filter[tenant]", ada.Tenant, "sort", "name"), "email", "ada@example.com", "bob@example.com")
		wantColumn(t, list(s, admin, "users", "filter[tenant]", ada.Tenant, "sort", "-name"), "email", "bob@example.com", "ada@example.com")
		wantColumn(t, list(s, admin, "users", "filter[search]", "tab bobby"), "email", "bob@example.com")
		wantColumn(t, list(s, admin, "users", "filter[search]", "bob@exam"), "email", "bob@example.com")
		wantColumn(t, list(s, admin, "users", "filter[search]", "obby"), "email")
		wantColumn(t, list(s, admin, "users", "filter[without_tenant]", "true", "filter[search]", "eve"), "email", "eve@example.com")
		wantColumn(t, list(s, admin, "users", "filter[without_tenant]", "0", "filter[search]", "eve"), "email")
		wantColumn(t, list(s, admin, "users", "filter[mfa]", "1"), "email")
		admins := list(s, admin, "users", "filter[platform_admin]", "1").Want(200)
		if list, _ := admins.At("data.0.permissions").([]any); len(list) == 0 {
			t.Errorf("admin: %s", admins.Text)
		}
	})
}

func TestDeliveriesAcrossTenants(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		ada := s.Register("ada@example.com", true)
		body := object{"url": "https://hooks.example.com/in", "events": []any{"*"}}
		own := s.Call("POST", ada.Path("/webhook-endpoints"), ada.Token, body).Want(201).Str("data.id")
		platform := s.Call("POST", "/api/v1/admin/webhook-endpoints", admin, body).Want(201).Str("data.id")
		s.Call("POST", ada.Path("/webhook-endpoints/"+own+"/test"), ada.Token, nil).Want(202)
		s.Call("POST", "/api/v1/admin/webhook-endpoints/"+platform+"/test", admin, nil).Want(202)

		a := list(s, admin, "webhook-deliveries", "filter[endpoint]", own, "filter[type]", "webhook.test").Want(200)
		a.WantAt("data.0.endpoint", object{"id": own, "url": "https://hooks.example.com/in"})
		a.WantAt("data.0.tenant", object{"id": ada.Tenant, "name": "Ada's Organization"})
		list(s, admin, "webhook-deliveries", "filter[endpoint]", platform).Want(200).WantAt("data.0.tenant", nil)
		for _, id := range list(s, admin, "webhook-deliveries", "filter[tenant]", ada.Tenant).Want(200).Column("endpoint") {
			if id.(object)["id"] != own {
				t.Errorf("delivery to %v", id)
			}
		}
		wantColumn(t, list(s, admin, "webhook-deliveries", "filter[endpoint]", own, "filter[status]", "delivered,failed", "filter[type]", "invoice.paid"), "id")
	})
}
