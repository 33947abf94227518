package timeline_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A payment entry names its invoice, the decline reason and the time of the next attempt.
func TestPaymentEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlanWith(c.Owner, "starter", apptest.CardFailsAtRenewal)
		s.Advance(32 * apptest.Day)
		c.LogInAgain()
		list := s.Call("GET", c.Path("/timeline?kind=payments"), c.Token, nil).Want(200)
		if diff := cmp.Diff([]string{"payment.failed", "invoice.issued", "payment.succeeded", "invoice.issued"}, types(list)); diff != "" {
			t.Fatal(diff)
		}
		failed := s.Call("GET", c.Path("/billing/failed-payment"), c.Token, nil).Want(200)
		entry, _ := list.At("data.0").(apptest.Object)
		want := apptest.Object{
			"id": entry["id"], "type": "payment.failed", "kind": "payments", "at": failed.At("data.at"), "by": "service", "actor": nil, "acting_as": nil, "api_key": nil,
			"tenant": entry["tenant"], "facts": apptest.Object{
				"invoice": failed.At("data.invoice"), "number": failed.At("data.number"), "currency": "EUR", "amount": failed.At("data.amount"),
				"decline_code": "generic_decline", "decline_message": failed.At("data.decline_message"), "next_attempt_at": failed.At("data.next_attempt_at"),
			},
		}
		if diff := cmp.Diff(want, entry); diff != "" {
			t.Error(diff)
		}
		list.WantAt("data.1.facts.decline_code", nil).WantAt("data.1.facts.decline_message", nil).WantAt("data.1.facts.invoice", failed.At("data.invoice"))

		apptest.Exec(t, s.DB(), "UPDATE payment_entries SET decline_code = 'stolen_card' WHERE type = 'payment.failed'")
		s.Call("GET", c.Path("/timeline?kind=payments"), c.Token, nil).Want(200).WantAt("data.0.facts.decline_code", "generic_decline")
		for _, path := range []string{timeline(c.Owner), "/api/v1/admin/activity"} {
			s.Call("GET", path+"?kind=payments", s.Admin(), nil).Want(200).WantAt("data.0.facts.decline_code", "stolen_card")
		}
	})
}

// An alert names its meter and the share of the quota that is used.
func TestUsageEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "starter")
		for _, quantity := range []float64{850.5, 149.5} {
			s.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls", "quantity": quantity}).Want(201)
		}
		list := s.Call("GET", c.Path("/timeline?kind=usage"), c.Token, nil).Want(200)
		name := s.Call("GET", c.Path("/usage/api-calls"), c.Token, nil).Want(200).At("data.meter_name")
		for i, want := range []struct {
			used      string
			threshold float64
		}{{"1000", 100}, {"850.5", 80}} {
			at := "data." + string(rune('0'+i))
			list.WantAt(at+".type", "usage.alert").WantAt(at+".kind", "usage").WantAt(at+".facts", apptest.Object{
				"meter": "api-calls", "meter_name": name, "limit": "1000", "used": want.used, "refused": nil, "threshold": want.threshold,
			})
		}
		if n := len(types(list)); n != 2 {
			t.Errorf("%d alerts: %s", n, list.Text)
		}
	})
}

// The events of a meter that are rejected in one hour form one entry, dated at the start of the
// hour.
func TestRefusedEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "starter")
		s.AdvanceTo(s.Now().Truncate(time.Hour).Add(time.Hour + 10*time.Minute))
		hour := s.Now().Truncate(time.Hour)
		refuse := func() {
			t.Helper()
			s.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1_000_000}).WantRefused(429, "QUOTA_EXCEEDED")
		}
		c.LogInAgain()
		refuse()
		first := s.Call("GET", c.Path("/timeline?kind=usage"), c.Token, nil).Want(200).WantAt("data.0.facts.refused", 1.0)
		refuse()
		name := s.Call("GET", c.Path("/usage/api-calls"), c.Token, nil).Want(200).At("data.meter_name")
		list := s.Call("GET", c.Path("/timeline?kind=usage"), c.Token, nil).Want(200)
		want := []any{apptest.Object{
			"id": first.At("data.0.id"), "type": "usage.refused", "kind": "usage", "at": list.At("data.0.at"), "by": "service", "actor": nil, "acting_as": nil, "api_key": nil,
			"tenant": list.At("data.0.tenant"), "facts": apptest.Object{
				"meter": "api-calls", "meter_name": name, "limit": nil, "used": nil, "refused": 2.0, "threshold": nil,
			},
		}}
		if diff := cmp.Diff(want, list.At("data")); diff != "" {
			t.Error(diff)
		}
		if at := list.TimeAt("data.0.at"); !at.Equal(hour) {
			t.Errorf("at %s, want %s", at, hour)
		}
		s.Call("GET", timeline(c.Owner)+"?kind=usage", s.Admin(), nil).Want(200).WantAt("data", want)

		s.Advance(time.Hour)
		c.LogInAgain()
		refuse()
		list = s.Call("GET", c.Path("/timeline?kind=usage"), c.Token, nil).Want(200).WantAt("data.0.facts.refused", 1.0).WantAt("data.1", want[0])
		if len(types(list)) != 2 || list.At("data.0.id") == list.At("data.1.id") {
			t.Errorf("rejections in two hours: %s", list.Text)
		}
	})
}

// Pagination neither skips nor repeats entries if several tenants and meters have rejected events
// in the same hour, or if entries of other kinds have almost the same timestamp.
func TestPagesOfRefusedEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		owners := []apptest.Owner{s.Register("ada@example.com", true), s.Register("bob@example.com", true), s.Register("eve@example.com", true)}
		admin, db := s.Admin(), s.DB()
		s.AwaitNotifications()
		apptest.Exec(t, db, "DELETE FROM payment_entries")
		apptest.Exec(t, db, "DELETE FROM audit_logs")
		for _, o := range owners {
			apptest.Exec(t, db, "INSERT INTO usage_streams (tenant_id, meter_id) SELECT t.id, m.id FROM tenants t, meters m WHERE t.id = $1 ON CONFLICT DO NOTHING", uuid.MustParse(o.Tenant))
			for hour := range int64(2) {
				apptest.Exec(t, db, "INSERT INTO quota_refusals (tenant_id, hour, meter_id, refused) SELECT tenant_id, $1, meter_id, 3 FROM usage_streams WHERE tenant_id = $2",
					noon.Unix()/3600+hour, uuid.MustParse(o.Tenant))
			}
			for _, after := range []time.Duration{-time.Microsecond, 0, time.Microsecond, 30 * time.Minute, 2 * time.Hour} {
				add(t, s, o.Tenant, after.String(), noon.Add(after))
			}
		}
		meters := len(s.Call("GET", "/api/v1/admin/meters", admin, nil).Want(200).At("data").([]any))
		if meters < 2 {
			t.Fatalf("%d meters", meters)
		}
		each := 2*meters + 5
		wantPages(t, s, "/api/v1/admin/activity", admin, len(owners)*each)
		for _, o := range owners {
			wantPages(t, s, timeline(o), admin, each)
		}
		wantSharedCursors(t, s, admin, owners, len(owners)*each)
	})
}

// readPages reads a timeline page by page, and stops if there are more than most entries.
func readPages(s *apptest.Server, path, who string, per, most int) []any {
	s.T.Helper()
	var ids []any
	for cursor := ""; ; {
		page := s.Call("GET", path+"?per_page="+strconv.Itoa(per)+"&cursor="+cursor, who, nil).Want(200)
		ids = append(ids, page.Column("id")...)
		next, more := page.At("meta.next_cursor").(string)
		if !more || len(ids) > most {
			return ids
		}
		cursor = url.QueryEscape(next)
	}
}

// wantPages checks that a timeline has the given number of entries, and the same entries on pages of
// any size.
func wantPages(t *testing.T, s *apptest.Server, path, who string, want int) {
	t.Helper()
	all := s.Call("GET", path+"?per_page=100", who, nil).Want(200).Column("id")
	different := map[any]bool{}
	for _, id := range all {
		different[id] = true
	}
	if len(all) != want || len(different) != want {
		t.Fatalf("%s: %d entries, %d different, want %d", path, len(all), len(different), want)
	}
	for _, per := range []int{1, 2, 3, 7} {
		if diff := cmp.Diff(all, readPages(s, path, who, per, want)); diff != "" {
			t.Errorf("%s, %d a page: %s", path, per, diff)
		}
	}
}

// wantSharedCursors checks that a cursor of the platform's timeline works in a tenant's timeline.
func wantSharedCursors(t *testing.T, s *apptest.Server, admin string, owners []apptest.Owner, entries int) {
	t.Helper()
	order := s.Call("GET", "/api/v1/admin/activity?per_page=100", admin, nil).Want(200)
	cursor := ""
	for i := range entries {
		page := s.Call("GET", "/api/v1/admin/activity?per_page=1&cursor="+cursor, admin, nil).Want(200)
		next, _ := page.At("meta.next_cursor").(string)
		cursor = url.QueryEscape(next)
		if next == "" || page.At("data.0.type") != "usage.refused" {
			continue
		}
		for _, o := range owners {
			var want []any
			tenants := order.Column("tenant")
			for j, id := range order.Column("id") {
				if of, _ := tenants[j].(apptest.Object); j > i && of["id"] == o.Tenant {
					want = append(want, id)
				}
			}
			got := s.Call("GET", timeline(o)+"?per_page=100&cursor="+cursor, admin, nil).Want(200).Column("id")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after entry %d: %s", i, diff)
			}
		}
	}
}

// An abandoned delivery appears once. A delivery with attempts left does not appear.
func TestWebhookEntries(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
		t.Cleanup(refuses.Close)
		hook := s.Call("POST", ada.Path("/webhook-endpoints"), ada.Token, apptest.Object{"url": refuses.URL, "events": []any{"tenant.updated"}}).Want(201).Str("data.id")
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": "Renamed"}).Want(200)
		failures := func() apptest.Reply {
			return s.Call("GET", ada.Path("/timeline?kind=webhooks"), ada.Token, nil).Want(200)
		}
		deliveries := func() apptest.Reply {
			return s.Call("GET", ada.Path("/webhook-endpoints/"+hook+"/deliveries"), ada.Token, nil).Want(200)
		}
		apptest.Eventually(t, "an attempt", func() bool { return deliveries().At("data.0.attempts.0") != nil })
		failures().WantAt("data", []any{})
		for range 12 { // until no attempts are left
			if deliveries().At("data.0.status") == "failed" {
				break
			}
			made := len(deliveries().At("data.0.attempts").([]any))
			s.AdvanceTo(deliveries().TimeAt("data.0.next_attempt_at").Add(time.Second))
			ada.Token = s.LogIn("ada@example.com")
			apptest.Eventually(t, "the next attempt", func() bool {
				d := deliveries()
				return len(d.At("data.0.attempts").([]any)) > made || d.At("data.0.status") == "failed"
			})
		}
		apptest.Eventually(t, "the end", func() bool { return len(types(failures())) == 1 })
		entry := failures()
		entry.WantAt("data.0.type", "webhook.failed").WantAt("data.0.facts.endpoint", hook).WantAt("data.0.facts.url", safehttp.Redact(refuses.URL)).
			WantAt("data.0.facts.event_type", "tenant.updated").WantAt("data.0.facts.status", 418.0).
			WantAt("data.0.facts.attempts", float64(len(deliveries().At("data.0.attempts").([]any))))
		s.Call("DELETE", ada.Path("/webhook-endpoints/"+hook), ada.Token, nil).Want(204)
		failures().WantAt("data", []any{})
	})
}

// Pagination across all kinds lists each entry once and in one order, even with equal timestamps.
func TestPagesOfAllKinds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "starter")
		s.Call("POST", c.Path("/usage"), c.Token, apptest.Object{"meter_code": "api-calls", "quantity": 900}).Want(201)
		db := s.DB()
		s.AwaitNotifications()
		apptest.Exec(t, db, "DELETE FROM payment_entries WHERE tenant_id <> $1", uuid.MustParse(c.Tenant))
		apptest.Exec(t, db, "UPDATE payment_entries SET happened_at = $1", noon)
		apptest.Exec(t, db, "UPDATE usage_alerts SET created_at = $1", noon)
		hook := s.Call("POST", c.Path("/webhook-endpoints"), c.Token, apptest.Object{"url": s.URL + "/sandbox/hooks/in/x", "events": []any{"tenant.updated"}}).Want(201).Str("data.id")
		apptest.Exec(t, db, "DELETE FROM audit_logs")
		for range 2 {
			event, delivery := sqldb.NewID(), sqldb.NewID()
			apptest.Exec(t, db, "INSERT INTO webhook_events (id, type, body, created_at) VALUES ($1, 'tenant.updated', '{}', $2)", event, noon)
			apptest.Exec(t, db, "INSERT INTO webhook_deliveries (id, endpoint_id, event_id, type, status, created_at) VALUES ($1, $2, $3, 'tenant.updated', 'failed', $4)",
				delivery, uuid.MustParse(hook), event, noon)
			apptest.Exec(t, db, "INSERT INTO webhook_failures (delivery_id, endpoint_id, tenant_id, attempts, failed_at) VALUES ($1, $2, $3, 9, $4)",
				delivery, uuid.MustParse(hook), uuid.MustParse(c.Tenant), noon)
		}
		for i := range 3 {
			add(t, s, c.Tenant, "a"+string(rune('0'+i)), noon.Add(time.Duration(i-1)*time.Second))
		}
		want := []string{"a2", "a1", "payment.succeeded", "invoice.issued", "usage.alert", "webhook.failed", "webhook.failed", "a0"}
		for who, path := range map[string]string{c.Token: c.Path("/timeline"), s.Admin(): "/api/v1/admin/activity"} {
			all := s.Call("GET", path+"?per_page=100", who, nil).Want(200)
			if got := types(all); !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", path, got, want)
			}
			for per := 1; per <= len(want); per++ {
				var ids []any
				cursor := ""
				for {
					page := s.Call("GET", path+"?per_page="+string(rune('0'+per))+"&cursor="+cursor, who, nil).Want(200)
					ids = append(ids, page.Column("id")...)
					next, more := page.At("meta.next_cursor").(string)
					if !more || len(ids) > len(want) {
						break
					}
					cursor = url.QueryEscape(next)
				}
				if diff := cmp.Diff(all.Column("id"), ids); diff != "" {
					t.Errorf("%s, %d a page: %s", path, per, diff)
				}
			}
		}
	})
}
