package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// account is a fake Stripe server. It returns the JSON for a path. For other paths it returns an
// empty list or an error.
type account map[string]string

func (a account) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		path := strings.TrimPrefix(r.URL.Path, "/v1")
		body, ok := a[path]
		switch {
		case r.Method != http.MethodGet:
			t.Errorf("%s %s: the check only reads", r.Method, path)
		case r.Header.Get("Authorization") != "Bearer rk_live_checked":
			w.WriteHeader(http.StatusUnauthorized)
			body = `{"error": {"type": "invalid_request_error", "message": "Invalid API Key provided"}}`
		case body == "forbidden":
			w.WriteHeader(http.StatusForbidden)
			body = `{"error": {"type": "invalid_request_error", "code": "more_permissions_required", "message": "no"}}`
		case !ok && strings.Count(path, "/") > 1 && !strings.HasPrefix(path, "/billing") && !strings.HasPrefix(path, "/checkout"):
			w.WriteHeader(http.StatusNotFound)
			body = `{"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "No such object"}}`
		case !ok:
			body = list()
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func list(elements ...string) string {
	return `{"object": "list", "has_more": false, "data": [` + strings.Join(elements, ",") + `]}`
}

const checkedURL = "https://billing.example.test"

// wellSetUp returns an account that is set up as docs/stripe.md describes, with the given event
// types.
func wellSetUp(types []string) account {
	events, _ := json.Marshal(types)
	return account{
		"/account": `{"id": "acct_1", "object": "account", "charges_enabled": true}`,
		"/webhook_endpoints": list(`{"id": "we_other", "url": "https://elsewhere.example.test", "status": "enabled", "enabled_events": ["*"]}`,
			fmt.Sprintf(`{"id": "we_1", "url": %q, "status": "enabled", "enabled_events": %s}`, checkedURL+"/api/v1/webhooks/stripe", events)),
		"/billing_portal/configurations": list(`{"id": "bpc_1", "active": true, "is_default": true, "features": {
			"subscription_cancel": {"enabled": true, "mode": "at_period_end"}, "subscription_update": {"enabled": false},
			"payment_method_update": {"enabled": true}}}`),
		"/prices/price_1": `{"id": "price_1", "object": "price", "active": true, "currency": "eur", "unit_amount": 1900,
			"recurring": {"interval": "month", "interval_count": 1, "usage_type": "licensed"}}`,
		// The provider uses two decimals for this currency, but here it is configured without decimals.
		"/prices/price_isk": `{"id": "price_isk", "object": "price", "active": true, "currency": "isk", "unit_amount": 500000,
			"recurring": {"interval": "month", "interval_count": 1, "usage_type": "licensed"}}`,
		"/prices/price_calls": `{"id": "price_calls", "object": "price", "active": true, "currency": "eur", "unit_amount": null, "unit_amount_decimal": "10.5",
			"recurring": {"interval": "month", "interval_count": 1, "usage_type": "metered", "meter": "mtr_1"}}`,
		"/billing/meters/mtr_1": `{"id": "mtr_1", "object": "billing.meter", "status": "active", "event_name": "calls",
			"default_aggregation": {"formula": "sum"}, "customer_mapping": {"type": "by_id", "event_payload_key": "stripe_customer_id"},
			"value_settings": {"event_payload_key": "value"}}`,
	}
}

type finding struct {
	Name, Status, Detail string
	Fix                  *string
}

// checkAccount runs the command on an account and returns the findings, the output and the exit
// code.
func checkAccount(t *testing.T, a account, database string, flags ...string) (found map[string]finding, text string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tenantry", append([]string{"psp", "check", "--stripe-url", a.serve(t)}, flags...)...)
	cmd.Env = append(os.Environ(), "TENANTRY_STRIPE_SECRET_KEY=rk_live_checked", "TENANTRY_PUBLIC_URL="+checkedURL,
		"TENANTRY_DATABASE_URL="+database, "TENANTRY_DATA="+t.TempDir())
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code, found = cmd.ProcessState.ExitCode(), map[string]finding{}
	if len(flags) > 0 && flags[0] == "--json" {
		var all struct{ Checks []finding }
		if err := json.Unmarshal(out, &all); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, f := range all.Checks {
			if _, twice := found[f.Name]; twice {
				t.Errorf("%s is checked twice", f.Name)
			}
			if f.Detail == "" || (f.Fix == nil) != (f.Status == "ok") {
				t.Errorf("%+v: a failed check needs a detail and a fix", f)
			}
			found[f.Name] = f
		}
	}
	return found, string(out), code
}

// checkedDatabase returns the URL of a database with a plan and a linked price.
func checkedDatabase(t *testing.T, dialect sqldb.Dialect) string {
	t.Helper()
	url := dbtest.URL(t, dialect)
	migrate := exec.CommandContext(t.Context(), "tenantry", "migrate")
	migrate.Env = append(os.Environ(), "TENANTRY_DATABASE_URL="+url, "TENANTRY_DATA="+t.TempDir())
	if out, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	db, err := sqldb.Open(t.Context(), sqldb.Config{URL: url, Patience: dbtest.ConnTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := clock.System().Now()
	for _, text := range []string{
		`INSERT INTO products (id, slug, name, created_at, updated_at) VALUES ('019c0000-0000-7000-8000-000000000001', 'cloud', '{"en": "Cloud"}', $1, $1)`,
		`INSERT INTO plans (id, product_id, slug, name, pricing_type, billing_cycle, interval_unit, interval_count, created_at, updated_at)
			VALUES ('019c0000-0000-7000-8000-000000000002', '019c0000-0000-7000-8000-000000000001', 'starter', '{"en": "Starter"}', 'flat', 'monthly', 'month', 1, $1, $1)`,
		`INSERT INTO plan_prices (id, plan_id, currency, price_cents, psp_price_id, created_at, updated_at)
			VALUES ('019c0000-0000-7000-8000-000000000003', '019c0000-0000-7000-8000-000000000002', 'EUR', 1900, 'price_1', $1, $1)`,
		`INSERT INTO currencies (code, name, symbol, minor_units, is_active, created_at, updated_at) VALUES ('ISK', 'Icelandic króna', 'kr', 0, true, $1, $1)`,
		`INSERT INTO plan_prices (id, plan_id, currency, price_cents, psp_price_id, created_at, updated_at)
			VALUES ('019c0000-0000-7000-8000-000000000004', '019c0000-0000-7000-8000-000000000002', 'ISK', 5000, 'price_isk', $1, $1)`,
		`INSERT INTO meters (id, code, name, aggregation_type, reset_interval, quota_enforcement, is_active, is_billable, created_at, updated_at)
			VALUES ('019c0000-0000-7000-8000-000000000005', 'calls', 'Calls', 'sum', 'monthly', 'soft', 1 = 1, 1 = 1, $1, $1)`,
		`INSERT INTO meter_prices (id, meter_id, currency, unit_price_cents, psp_price_id, created_at, updated_at)
			VALUES ('019c0000-0000-7000-8000-000000000006', '019c0000-0000-7000-8000-000000000005', 'EUR', '10.5', 'price_calls', $1, $1)`,
		`INSERT INTO psp_events (id, type, object_id, received_at) VALUES ('evt_1', 'invoice.paid', 'in_1', $1)`,
	} {
		if _, err := db.Conn(t.Context()).ExecContext(t.Context(), text, now); err != nil {
			t.Fatal(err)
		}
	}
	return url
}

// A correct account passes all checks. Each further case has one mistake: the command names it,
// recommends a fix, and exits with 1 exactly if the finding is an error.
func TestPSPCheck(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			database := checkedDatabase(t, dialect)
			// The finding lists the missing event types.
			none, _, _ := checkAccount(t, wellSetUp([]string{"balance.available"}), database, "--json")
			if f := none["superfluous events"]; f.Status != "warning" || !strings.HasSuffix(f.Detail, ": balance.available") {
				t.Errorf("another event: %+v", f)
			}
			types := strings.Split(strings.TrimPrefix(none["missing events"].Detail, "not sent: "), ", ")

			found, _, code := checkAccount(t, wellSetUp(types), database, "--json")
			for _, f := range found {
				if f.Status != "ok" {
					t.Errorf("all is well, but %+v", f)
				}
			}
			if code != 0 || len(found) < 18 {
				t.Errorf("exit code %d after %d checks", code, len(found))
			}
			for name, c := range map[string]struct {
				path, body, check, status string
			}{
				"not Stripe":         {"/account", "<html>", "key", "error"},
				"charges off":        {"/account", `{"id": "acct_1", "object": "account", "charges_enabled": false}`, "account", "error"},
				"no endpoint":        {"/webhook_endpoints", list(), "webhook", "error"},
				"disabled":           {"/webhook_endpoints", strings.Replace(wellSetUp(types)["/webhook_endpoints"], `stripe", "status": "enabled"`, `stripe", "status": "disabled"`, 1), "webhook", "error"},
				"an event missing":   {"/webhook_endpoints", strings.Replace(wellSetUp(types)["/webhook_endpoints"], `"invoice.paid"`, `"invoice.created"`, 1), "missing events", "error"},
				"all events":         {"/webhook_endpoints", list(fmt.Sprintf(`{"id": "we_1", "url": %q, "status": "enabled", "enabled_events": ["*"]}`, checkedURL+"/api/v1/webhooks/stripe")), "superfluous events", "warning"},
				"undelivered":        {"/events", list(fmt.Sprintf(`{"id": "evt_1", "object": "event", "type": "invoice.paid", "created": %d}`, clock.System().Now().Unix()-3600)), "undelivered events", "warning"},
				"no portal":          {"/billing_portal/configurations", list(), "portal", "error"},
				"canceled at once":   {"/billing_portal/configurations", strings.Replace(wellSetUp(types)["/billing_portal/configurations"], "at_period_end", "immediately", 1), "portal: cancellation", "error"},
				"switching is on":    {"/billing_portal/configurations", strings.Replace(wellSetUp(types)["/billing_portal/configurations"], `"subscription_update": {"enabled": false}`, `"subscription_update": {"enabled": true, "default_allowed_updates": ["price", "quantity"]}`, 1), "portal: changes", "error"},
				"no permission":      {"/subscriptions", "forbidden", "permission: Subscriptions", "error"},
				"endpoints unseen":   {"/webhook_endpoints", "forbidden", "webhook", "warning"},
				"price archived":     {"/prices/price_1", strings.Replace(wellSetUp(types)["/prices/price_1"], `"active": true`, `"active": false`, 1), "price: plan starter in EUR", "error"},
				"price of another":   {"/prices/price_1", strings.Replace(wellSetUp(types)["/prices/price_1"], "1900", "2900", 1), "price: plan starter in EUR", "error"},
				"another currency":   {"/prices/price_isk", strings.Replace(wellSetUp(types)["/prices/price_isk"], "500000", "5000", 1), "price: plan starter in ISK", "error"},
				"another unit price": {"/prices/price_calls", strings.Replace(wellSetUp(types)["/prices/price_calls"], "10.5", "10.6", 1), "price: meter calls in EUR", "error"},
				"price that is gone": {"/prices/price_1", "", "price: plan starter in EUR", "error"},
			} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					a := wellSetUp(types)
					if a[c.path] = c.body; c.body == "" {
						delete(a, c.path)
					}
					found, _, code := checkAccount(t, a, database, "--json")
					wrong := 0
					for _, f := range found {
						if f.Status != "ok" {
							wrong++
						}
					}
					if got := found[c.check]; got.Status != c.status || wrong != 1 || (code == 1) != (c.status == "error") || strings.Contains(got.Detail, "error.psp_error") {
						t.Errorf("%+v, %d findings, exit code %d", got, wrong, code)
					}
				})
			}
			unknown, _, code := checkAccount(t, wellSetUp(types), database, "--json", "--public-url=")
			if f := unknown["webhook"]; f.Status != "warning" || f.Detail != "the URL of this service is unknown, so its endpoint cannot be checked" || code != 0 {
				t.Errorf("without a public URL: %+v, exit code %d", f, code)
			}
			a := wellSetUp(types)
			delete(a, "/prices/price_1")
			_, text, code := checkAccount(t, a, database)
			if code != 1 || !strings.Contains(text, "error    price: plan starter in EUR") || !strings.Contains(text, "→ Unlink it") || !strings.Contains(text, "ok       webhook ") {
				t.Errorf("exit code %d:\n%s", code, text)
			}
		})
	}
	t.Run("no database", func(t *testing.T) {
		t.Parallel()
		path := t.TempDir() + "/absent.db"
		found, _, code := checkAccount(t, account{}, sqldb.FileURL(path), "--json")
		if code != 1 || found["database"].Status != "warning" {
			t.Errorf("exit code %d, %+v", code, found["database"])
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("the check created a database")
		}
	})
}
