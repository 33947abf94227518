package onboarding_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// postOnce makes a POST request with an idempotency key.
func postOnce(s *apptest.Server, path, token, key string, body any) apptest.Reply {
	s.T.Helper()
	return s.Do(onceRequest(s, path, token, key, body))
}

func onceRequest(s *apptest.Server, path, token, key string, body any) *http.Request {
	s.T.Helper()
	r := s.NewRequest("POST", path, token, body)
	r.Header.Set("Idempotency-Key", key)
	return r
}

func wantSame(t *testing.T, what string, first, again apptest.Reply) {
	t.Helper()
	if diff := cmp.Diff(first.Body, again.Body); diff != "" || again.Status != first.Status {
		t.Errorf("%s: %d %s", what, again.Status, diff)
	}
}

// The same key with the same body returns the stored response for 24 hours. With another body, the
// request is rejected with 409.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write", "tenants.read")
		body := apptest.Object{"name": "Engines", "metadata": apptest.Object{"n": 12345678901234567}}
		first := postOnce(s, adminTenants, key, "k1", body).Want(201)
		s.Call("PATCH", adminTenants+"/"+first.Str("data.id"), key, apptest.Object{"name": "Other"}).Want(200)
		wantSame(t, "the same request", first, postOnce(s, adminTenants, key, "k1", body))
		wantSame(t, "another order of keys", first, postOnce(s, adminTenants, key, "k1", ` { "metadata": {"n":12345678901234567}, "name":"Engines" }`))
		postOnce(s, adminTenants, key, "k1", apptest.Object{"name": "Engines", "metadata": apptest.Object{"n": 12345678901234568}}).WantRefused(409, "idempotency_key_reused")
		postOnce(s, adminTenants, key, "k1", apptest.Object{"name": ""}).WantRefused(409, "idempotency_key_reused") // before the body is checked
		postOnce(s, adminTenants, key, "k1", `{`).WantRefused(409, "idempotency_key_reused")
		if n := s.CountRows(`SELECT count(*) FROM tenants WHERE name IN ('Engines', 'Other')`); n != 1 {
			t.Errorf("%d tenants", n)
		}

		second := postOnce(s, adminTenants, key, "k2", body).Want(201)
		if second.At("data.id") == first.At("data.id") {
			t.Error("another key returned the same tenant")
		}
		s.Advance(24*time.Hour - time.Minute)
		wantSame(t, "a minute before the end", first, postOnce(s, adminTenants, key, "k1", body))
		s.Advance(2 * time.Minute)
		if third := postOnce(s, adminTenants, key, "k1", body).Want(201); third.At("data.id") == first.At("data.id") {
			t.Error("the key is stored for longer than 24 hours")
		}
		s.Call("POST", adminTenants, key, body).Want(201)
		postOnce(s, adminTenants, key, "", body).Want(201)
	})
}

// Guards are checked before the key, the key before the body.
func TestOrderOfIdempotencyChecks(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key, reader := newKey(s, "tenants.write"), newKey(s, "tenants.read")
		long := strings.Repeat("é", 256)
		postOnce(s, adminTenants, "", long, nil).WantRefused(401, "")
		postOnce(s, adminTenants, reader, long, nil).WantRefused(403, "insufficient_scope")
		postOnce(s, adminTenants, key, long, apptest.Object{"name": ""}).WantInvalid("idempotency_key")
		postOnce(s, adminTenants, key, strings.Repeat("é", 255), apptest.Object{"name": "Engines"}).Want(201)
	})
}

// A refused request does not use up its key.
func TestRefusedRequestsKeepTheirKey(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		key := newKey(s, "tenants.write")
		postOnce(s, adminTenants, key, "k1", apptest.Object{"name": ""}).WantInvalid("name")
		postOnce(s, adminTenants, key, "k1", `[`).WantRefused(400, "")
		first := postOnce(s, adminTenants, key, "k1", apptest.Object{"name": "Engines"}).Want(201)
		wantSame(t, "the retry", first, postOnce(s, adminTenants, key, "k1", apptest.Object{"name": "Engines"}))

		ada := s.NewCustomer("ada")
		body := apptest.Object{"plan_id": s.PlanID(ada.Owner, "starter"), "currency": "EUR", "success_url": s.URL + "/yes", "cancel_url": s.URL + "/no"}
		p.Tamper(apptest.ForEndpoint(apptest.Fail, http.MethodPost, "/checkout/sessions"))
		postOnce(s, ada.Path("/checkout"), ada.Token, "k1", body).WantRefused(502, "psp_error")
		p.Tamper(nil)
		opened := postOnce(s, ada.Path("/checkout"), ada.Token, "k1", body).Want(200)
		wantSame(t, "the checkout", opened, postOnce(s, ada.Path("/checkout"), ada.Token, "k1", body))
		postOnce(s, ada.Path("/checkout"), ada.Token, "k1", apptest.WithChanges(body, apptest.Object{"currency": "USD"})).WantRefused(409, "idempotency_key_reused")
	})
}

// A key belongs to its caller and path.
func TestKeysOfCallersAndPaths(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		body := apptest.Object{"name": "Engines"}
		ids := map[any]bool{}
		for _, caller := range []string{newKey(s, "tenants.write"), newKey(s, "tenants.write"), s.Admin(), s.Admin()} {
			ids[postOnce(s, adminTenants, caller, "k1", body).Want(201).At("data.id")] = true
		}
		if len(ids) != 3 { // both logins belong to one admin
			t.Errorf("%d tenants of 3 callers", len(ids))
		}
		backend := newKey(s, "subscriptions.write")
		sessions := map[any]bool{}
		for _, name := range []string{"ada", "bob"} {
			c := s.NewCustomer(name)
			checkout := apptest.Object{"plan_id": s.PlanID(c.Owner, "starter"), "currency": "EUR", "success_url": s.URL + "/yes", "cancel_url": s.URL + "/no"}
			sessions[postOnce(s, c.Path("/checkout"), backend, "k1", checkout).Want(200).At("data.session_id")] = true
		}
		if len(sessions) != 2 {
			t.Error("two tenants got one checkout")
		}
	})
}

// If several concurrent requests have the same key, one runs, and the others return its response.
func TestConcurrentRequestsWithOneKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		key := newKey(s, "tenants.write")
		for _, body := range []apptest.Object{{"name": "Engines"}, {"name": "With an ID", "external_id": "cus-1", "owner": apptest.Object{"email": "ada@example.com"}}} {
			replies := make([]apptest.Reply, 8)
			var all sync.WaitGroup
			for i := range replies {
				r := onceRequest(s, adminTenants, key, "k-"+body["name"].(string), body)
				all.Go(func() { replies[i] = s.Do(r) })
			}
			all.Wait()
			for _, a := range replies {
				wantSame(t, "one of many", replies[0].Want(201), a)
			}
			if n := s.CountRows(`SELECT count(*) FROM tenants WHERE name = $1`, body["name"]); n != 1 {
				t.Errorf("%d tenants", n)
			}
		}
	})
}

// The second of two concurrent requests waits for the response to the first, even if it takes long.
// A client that disconnects meanwhile finds the response when it tries again.
func TestSecondRequestWaits(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, p *apptest.Proxy) {
		k := s.CatalogAdmin()
		k.CreatePricedPlan(k.CreateProduct("shop"), "gift", map[string]int{"EUR": 0})
		key := newKey(s, "tenants.write")
		body := apptest.Object{"name": "Engines", "plan_slug": "gift", "currency": "EUR"}
		p.Tamper(apptest.ForEndpoint(apptest.HoldAnswer, http.MethodPost, "/subscriptions"))
		impatient := &http.Client{Timeout: 2 * time.Second}
		if resp, err := impatient.Do(onceRequest(s, adminTenants, key, "k1", body)); err == nil {
			_ = resp.Body.Close()
			t.Fatal("the first request has ended")
		}
		var second apptest.Reply
		var both sync.WaitGroup
		r := onceRequest(s, adminTenants, key, "k1", body)
		both.Go(func() { second = s.Do(r) })
		time.Sleep(200 * time.Millisecond) // the second request must not end in this time
		p.ReleaseAnswers()
		both.Wait()
		second.Want(201)
		if n := s.CountRows(`SELECT count(*) FROM tenants WHERE name = 'Engines'`); n != 1 {
			t.Errorf("%d tenants", n)
		}
	})
}
