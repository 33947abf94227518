package blackbox_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// creditOf is the admin path of a tenant's credit.
func creditOf(c *apptest.Customer) string { return "/api/v1/admin/tenants/" + c.Tenant + "/credit" }

func creditBody(cents int, reason string) apptest.Object {
	return apptest.Object{"amount_cents": cents, "currency": "EUR", "reason": reason}
}

// giveCredit changes a tenant's credit as an admin. key is an idempotency key or "".
func giveCredit(c *apptest.Customer, token, key string, body apptest.Object) apptest.Reply {
	c.T.Helper()
	r := c.NewRequest(http.MethodPost, creditOf(c), token, body)
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	return c.Do(r)
}

func platformKey(s *apptest.Server, scopes ...string) (id, secret string) {
	s.T.Helper()
	made := s.Call("POST", "/api/v1/admin/api-keys", s.Admin(), apptest.Object{"name": "Backend", "scopes": scopes}).Want(201)
	return made.Str("data.id"), made.Str("data.secret")
}

// Credit is added and deducted, and the next invoices use it (rules: invoices#credit). The customer
// sees the amounts, but not the reasons.
func TestCredit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := s.Admin()
		none := apptest.Object{"balance": apptest.Object{"amount_cents": 0.0, "currency": "EUR"}, "entries": []any{}}
		s.Call("GET", creditOf(ada), admin, nil).Want(200).WantAt("data", none)
		s.Call("GET", ada.Path("/credit"), ada.Token, nil).Want(200).WantAt("data", none)

		id, key := platformKey(s, "credit.write")
		given := giveCredit(ada, key, "", creditBody(3000, "An outage")).Want(201)
		given.WantAt("data.balance", apptest.Object{"amount_cents": 3000.0, "currency": "EUR"}).
			WantAt("data.entries.0.amount", apptest.Object{"amount_cents": 3000.0, "currency": "EUR"}).
			WantAt("data.entries.0.reason", "An outage").
			WantAt("data.entries.0.by", apptest.Object{"type": "api_key", "id": id, "name": "Backend"})
		if n := len(s.ProviderObjects(ada.Owner, "customer")); n != 1 {
			t.Errorf("%d customers", n)
		}
		giveCredit(ada, admin, "", creditBody(-3001, "Too much")).WantInvalid("amount_cents")
		taken := giveCredit(ada, admin, "", creditBody(-1000, "Too much")).Want(201)
		taken.WantAt("data.balance.amount_cents", 2000.0).WantAt("data.entries.0.amount.amount_cents", -1000.0).
			WantAt("data.entries.0.by.type", "user").WantAt("data.entries.1.reason", "An outage")
		s.Call("GET", creditOf(ada), key, nil).Want(200).WantAt("data", taken.At("data"))
		own := s.Call("GET", ada.Path("/credit"), ada.Token, nil).Want(200)
		own.WantAt("data.balance.amount_cents", 2000.0)
		if _, shown := own.At("data.entries.0").(apptest.Object)["reason"]; shown {
			t.Errorf("the customer sees the reason: %s", own.Text)
		}
		if n := s.CountAudited(ada.Owner, "credit.adjusted"); n != 2 {
			t.Errorf("%d audit entries", n)
		}

		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardPays))
		s.Call("GET", ada.Path("/credit"), ada.Token, nil).Want(200).WantAt("data.balance.amount_cents", 100.0)
		giveCredit(ada, admin, "", apptest.Object{"amount_cents": 100, "currency": "USD", "reason": "x"}).WantRefused(422, "currency_mismatch")
		giveCredit(ada, admin, "", creditBody(-100, "x")).Want(201)
		giveCredit(ada, admin, "", creditBody(-1, "x")).WantInvalid("amount_cents")
		giveCredit(ada, admin, "", apptest.Object{"amount_cents": 100, "currency": "USD", "reason": "x"}).WantRefused(422, "currency_mismatch")
	})
}

func TestCreditRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := s.Admin()
		for _, tt := range []struct {
			body  apptest.Object
			field string
		}{
			{creditBody(0, "x"), "amount_cents"},
			{creditBody(-1, "x"), "amount_cents"},
			{creditBody(100_000_000_000, "x"), "amount_cents"},
			{apptest.Object{"amount_cents": 1.5, "currency": "EUR", "reason": "x"}, "amount_cents"},
			{apptest.Object{"currency": "EUR", "reason": "x"}, "amount_cents"},
			{apptest.Object{"amount_cents": 1, "currency": "XXX", "reason": "x"}, "currency"},
			{apptest.Object{"amount_cents": 1, "reason": "x"}, "currency"},
			{apptest.Object{"amount_cents": 1, "currency": "EUR"}, "reason"},
			{creditBody(1, ""), "reason"},
		} {
			giveCredit(ada, admin, "", tt.body).WantInvalid(tt.field)
		}
		giveCredit(ada, admin, "", apptest.Object{"amount_cents": 0, "currency": "XXX", "reason": ""}).WantInvalid("amount_cents", "currency", "reason")
		s.Call("GET", "/api/v1/admin/tenants/"+apptest.NoSuchID+"/credit", admin, nil).WantRefused(404, "")
		s.Call("POST", "/api/v1/admin/tenants/"+apptest.NoSuchID+"/credit", admin, creditBody(1, "x")).WantRefused(404, "")
		giveCredit(ada, ada.Token, "", creditBody(1, "x")).WantRefused(403, "")
		member, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		s.Call("GET", ada.Path("/credit"), member, nil).WantRefused(403, "")
		s.Call("GET", creditOf(ada), admin, nil).Want(200).WantAt("data.entries", []any{})
	})
}

// Concurrent deductions succeed only as far as the balance allows. Requests with the same idempotency
// key deduct the credit once.
func TestConcurrentCredit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := s.Admin()
		giveCredit(ada, admin, "", creditBody(250, "x")).Want(201)
		var all sync.WaitGroup
		statuses := make([]int, 8)
		for i := range statuses {
			all.Go(func() {
				key := ""
				if i >= 5 {
					key = "once"
				}
				statuses[i] = giveCredit(ada, admin, key, creditBody(-100, "y")).Status
			})
		}
		all.Wait()
		after := s.Call("GET", creditOf(ada), admin, nil).Want(200)
		after.WantAt("data.balance.amount_cents", 50.0)
		if n := len(after.At("data.entries").([]any)); n != 3 {
			t.Errorf("%d entries: %v %s", n, statuses, after.Text)
		}
	})
}

// If a response of the provider is lost, credit is neither lost nor given twice.
func TestCreditWithLostResponses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := s.Admin()
		giveCredit(ada, admin, "", creditBody(1000, "first")).Want(201)
		for what, chaos := range map[string]apptest.Object{
			"took effect": {"fail_after": 1, "status": 0}, "did not": {"fail_before": 1, "status": 0},
		} {
			for _, key := range []string{"", "key " + what} {
				before := s.Call("GET", creditOf(ada), admin, nil).Want(200).At("data.balance.amount_cents").(float64)
				s.Chaos(apptest.Object{"api": chaos})
				body := creditBody(-10, what+key)
				giveCredit(ada, admin, key, body).WantRefused(502, "psp_error")
				s.Chaos(nil)
				again := s.RetryWhileDown(func() apptest.Reply { return giveCredit(ada, admin, key, body) })
				again.As(what+key).Want(201).WantAt("data.balance.amount_cents", before-10).WantAt("data.entries.0.reason", what+key)
				if again.At("data.entries.1.reason") == what+key {
					t.Errorf("%s: taken twice: %s", what, again.Text)
				}
			}
		}
	})
}

// After a crash, a job looks up the outcome.
func TestCreditAfterACrash(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		admin := s.Admin()
		giveCredit(ada, admin, "", creditBody(1000, "arrived")).Want(201)
		giveCredit(ada, admin, "", creditBody(500, "later")).Want(201)
		// One process died before it recorded its entry, and another one before it called the provider.
		apptest.Exec(t, s.DB(), `UPDATE credit_entries SET applied_at = NULL, leased_until = created_at WHERE reason = 'arrived'`)
		s.Advance(time.Minute)
		admin = s.Admin()
		apptest.Eventually(t, "the entry", func() bool {
			return s.Call("GET", creditOf(ada), admin, nil).Want(200).At("data.entries.1.reason") == "arrived"
		})
		apptest.Exec(t, s.DB(), `UPDATE credit_entries SET applied_at = NULL, leased_until = created_at, id = $1 WHERE reason = 'arrived'`, apptest.NoSuchID)
		giveCredit(ada, admin, "", creditBody(1, "next")).Want(201).WantAt("data.balance.amount_cents", 1501.0).
			WantAt("data.entries.1.reason", "later").WantAt("data.entries.2", nil)
	})
}
