package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/app/handbook"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The examples of the reference are from a real run, of which the story below is the script.
// With TENANTRY_UPDATE set they are recorded anew. They say nothing that changes with the day
// but what follows from it, such as the days of a month, so they are not compared; the
// linters hold that they are valid.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	made := &recording{start: clock.System().Now(), known: map[string]string{}, examples: map[string]reference.Example{}}
	s.Record(made.add)
	story(s)
	if len(made.examples) < 60 {
		t.Errorf("the story has only %d operations", len(made.examples))
	}
	if os.Getenv("TENANTRY_UPDATE") != "" {
		text, err := json.MarshalIndent(made.examples, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("handbook/examples.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept := handbook.Examples()
	for name := range made.examples {
		if _, ok := kept[name]; !ok {
			t.Errorf("%s has no example: run `make generate`", name)
		}
	}
}

// recording keeps the first exchange of each operation and status, without what differs from
// run to run.
type recording struct {
	start    time.Time
	known    map[string]string
	examples map[string]reference.Example
}

func (m *recording) add(e apptest.Exchange) {
	if e.Status >= 400 && e.Status != 409 && e.Status != 422 && e.Status != 429 {
		return
	}
	example, ok := m.examples[e.Operation]
	if !ok {
		example = reference.Example{Answers: map[string]any{}}
	}
	status := strconv.Itoa(e.Status)
	if _, twice := example.Answers[status]; twice {
		return
	}
	if answer := m.stable(e.Answer); answer != nil {
		example.Answers[status] = answer
	}
	if request := m.stable(e.Request); request != nil && e.Status < 300 {
		example.Request = request
	}
	if len(example.Answers) > 0 || example.Request != nil {
		m.examples[e.Operation] = example
	}
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	foreign = regexp.MustCompile(`\b(cus|in|pi|cs_test|cs|price|sub|prod|mtr|si|bps)_[A-Za-z0-9]{6,}`)
	secrets = regexp.MustCompile(`\b(tnk_|whsec_)?[A-Za-z0-9+/=_-]{40,}`)
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)
	dates   = regexp.MustCompile(`"\d{4}-\d\d-\d\d"`)
	hosts   = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
)

// stable returns a JSON text with ids, secrets and times that are the same in each run; nil
// for none.
func (m *recording) stable(text []byte) any {
	numbered := func(format string) func(string) string {
		return func(found string) string {
			if m.known[found] == "" {
				m.known[found] = fmt.Sprintf(format, len(m.known)+1)
			}
			return m.known[found]
		}
	}
	out := uuids.ReplaceAllStringFunc(string(text), numbered("0199a1b2-0000-7000-8000-%012d"))
	out = foreign.ReplaceAllString(out, "${1}_1Example")
	out = uuids.ReplaceAllStringFunc(out, func(id string) string { return "\x00" + id + "\x00" })
	out = secrets.ReplaceAllStringFunc(out, func(secret string) string {
		prefix := secrets.FindStringSubmatch(secret)[1]
		return prefix + strings.Repeat("Example0", len(secret))[:len(secret)-len(prefix)]
	})
	out = regexp.MustCompile("\x00").ReplaceAllString(out, "")
	base := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	out = moments.ReplaceAllStringFunc(out, func(at string) string {
		moment, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return at
		}
		return base.Add(moment.Sub(m.start).Round(time.Hour)).Format("2006-01-02T15:04:05.000000Z")
	})
	out = dates.ReplaceAllStringFunc(out, func(at string) string {
		day, err := time.Parse(`"2006-01-02"`, at)
		if err != nil {
			return at
		}
		return base.Add(day.Sub(m.start).Round(24 * time.Hour)).Format(`"2006-01-02"`)
	})
	out = hosts.ReplaceAllString(out, "https://api.example.com")
	var value any
	if json.Unmarshal([]byte(out), &value) != nil {
		return nil
	}
	return shortLists(value)
}

// shortLists leaves two entries of each list.
func shortLists(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			value[key] = shortLists(child)
		}
	case []any:
		value = slices.Clone(value[:min(len(value), 2)])
		for i, child := range value {
			value[i] = shortLists(child)
		}
		return value
	}
	return value
}

// story is a customer's first weeks, and what an administrator does meanwhile.
func story(s *apptest.Server) {
	get := func(token string, paths ...string) {
		for _, path := range paths {
			s.Call("GET", path, token, nil).Want(200)
		}
	}
	object := func(pairs ...any) apptest.Object {
		o := apptest.Object{}
		for i := 0; i < len(pairs); i += 2 {
			o[pairs[i].(string)] = pairs[i+1]
		}
		return o
	}
	get("", "/api/v1/settings", "/api/v1/catalog/products", "/api/v1/catalog/plans", "/api/v1/catalog/features", "/api/v1/currencies",
		"/api/v1/auth/oauth/providers", "/healthz", "/readyz")
	registered := s.Call("POST", "/api/v1/auth/register", "", apptest.Registration("ada@example.com", nil)).Want(201)
	s.Refresh(registered.Str("refreshToken")).Want(200)
	ada := s.Call("POST", "/api/v1/auth/login", "", apptest.AdaLogin).Want(200).Str("accessToken")
	o := apptest.Owner{Token: ada, Tenant: s.Call("GET", "/api/v1/auth/me", ada, nil).Want(200).Str("currentTenant.id")}
	s.Call("POST", "/api/v1/auth/forgot-password", "", object("email", "ada@example.com")).Want(200)
	s.Call("PATCH", "/api/v1/onboarding/complete-setup", ada, apptest.BillingDetails).Want(200)
	get(ada, "/api/v1/onboarding/status", "/api/v1/tenant", "/api/v1/user/sessions", "/api/v1/user/export", "/api/v1/push-subscriptions", "/api/v1/studio/access")
	s.Call("PATCH", "/api/v1/user", ada, object("name", "Ada Lovelace", "locale", "fr")).Want(200)
	s.Call("PATCH", "/api/v1/tenant", ada, object("name", "Analytical Engines", "billing_email", "bills@example.com")).Want(200)
	s.BuyPlan(o, "starter")
	get(ada, o.Path("/subscription"), o.Path("/subscription/seats"), o.Path("/plans"), o.Path("/entitlements"), o.Path("/team/members"), o.Path("/team/roles"),
		o.Path("/team/stats"), o.Path("/roles"), o.Path("/roles/permissions"), o.Path("/usage"), o.Path("/usage/quotas"), o.Path("/usage/cost-estimate"))
	s.Invite(o, "bob@example.com", "member")
	get(ada, o.Path("/team/invitations"))
	s.Join(o, "Eve", "eve@example.com", "member")
	s.CreateRole(o, "Billing", "billing.manage")
	s.PreviewChange(o, "team", 1)
	event := object("meter_code", "api-calls", "quantity", 5, "idempotency_key", "request-81", "metadata", object("region", "eu"))
	s.Call("POST", o.Path("/usage"), ada, event).Want(201)
	s.Call("POST", o.Path("/usage"), ada, event).Want(409)
	s.Call("POST", o.Path("/usage/batch"), ada, object("events", []any{object("meter_code", "api-calls", "quantity", 2)})).Want(200)
	get(ada, o.Path("/usage/api-calls"), o.Path("/usage/series?meter_code=api-calls&interval=day"), o.Path("/audit-logs"))
	key := s.Call("POST", o.Path("/api-keys"), ada, object("name", "Metering", "scopes", []any{"usage.write"})).Want(201).Str("data.id")
	get(ada, o.Path("/api-keys"))
	s.Call("POST", o.Path("/api-keys/"+key+"/rotate"), ada, object("overlap_minutes", 60)).Want(201)
	hook := s.Call("POST", o.Path("/webhook-endpoints"), ada, object("url", s.URL+"/sandbox/hooks/in/shop", "events", []any{"invoice.paid"})).Want(201).Str("data.id")
	get(ada, o.Path("/webhook-endpoints"), o.Path("/webhook-endpoints/"+hook), o.Path("/webhook-endpoints/"+hook+"/deliveries"))
	s.Call("PATCH", o.Path("/webhook-endpoints/"+hook), ada, object("description", "The shop")).Want(200)
	s.Invoices(o, 1)
	s.Cancel(o, false).Want(200)
	s.Resume(o).Want(200)
	s.Call("POST", o.Path("/checkout"), ada, apptest.With(apptest.ReturnURLs, object("plan_id", s.PlanID(o, "team"), "currency", "EUR"))).Want(422)
	administration(s, o)
}

// administration is the administrator's part of the story.
func administration(s *apptest.Server, o apptest.Owner) {
	k := s.CatalogAdmin()
	product, feature := k.CreateProduct("storage"), k.CreateFeature("backups")
	plan := k.CreatePlan(product, "storage-s", apptest.Object{"trial_days": 14})
	k.AdminCall("PUT", "/plans/"+plan+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 1900)}}).Want(200)
	k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{
		"entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": 30}},
	}).Want(200)
	k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"sort_order": 5}).Want(200)
	k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201)
	k.AdminCall("POST", "/meters", apptest.Object{
		"code": "exports", "name": "Exports", "aggregation_type": "count", "reset_interval": "monthly", "quota_enforcement": "soft",
	}).Want(201)
	k.AdminCall("POST", "/currencies/bulk", apptest.Object{"codes": []any{"CHF", "EUR", "XXX"}}).Want(200)
	for _, path := range []string{
		"/products", "/products/" + product, "/plans", "/plans/" + plan, "/plans/" + plan + "/entitlements", "/plans/" + plan + "/psp-price-status",
		"/features", "/features/" + feature, "/currencies", "/meters", "/tenants", "/tenants/" + o.Tenant, "/tenants/" + o.Tenant + "/members",
		"/tenants/" + o.Tenant + "/invitations", "/tenants/" + o.Tenant + "/subscriptions", "/audit-logs", "/impersonation/logs", "/api-keys", "/webhook-endpoints",
	} {
		k.AdminCall("GET", path, nil).Want(200)
	}
	s.Impersonate(k.Token, o).Want(200)
	s.Call("GET", "/api/v1/admin/impersonation/status", k.Token, nil).Want(200)
	s.Call("POST", "/api/v1/admin/impersonation/stop", k.Token, nil).Want(200)
}
