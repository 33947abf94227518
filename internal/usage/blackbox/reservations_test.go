package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Reservations hold units for work whose cost is known only afterwards. Every
// member can use them.
func TestReservations(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "free") // 100 api-calls, hard
		bob, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		path := ada.Path("/usage/reservations")
		reserve := func(key string, quantity any, changes apptest.Object) apptest.Reply {
			t.Helper()
			body := apptest.Object{"meter_code": "api-calls", "quantity": quantity, "idempotency_key": key}
			return s.Call("POST", path, bob, apptest.WithChanges(body, changes))
		}
		record := func(quantity float64, key string) apptest.Reply {
			t.Helper()
			return s.Call("POST", ada.Path("/usage"), bob, apptest.Object{"meter_code": "api-calls", "quantity": quantity, "idempotency_key": key})
		}
		wantReserved := func(used, reserved float64) {
			t.Helper()
			for name, row := range map[string]any{
				"summary": s.Call("GET", ada.Path("/usage"), bob, nil).Want(200).At("data.meters.0"), "quotas": quotaRow(s, ada, "api-calls"),
				"detail": s.Call("GET", ada.Path("/usage/api-calls"), bob, nil).Want(200).At("data"),
			} {
				if r := row.(apptest.Object); r["current_usage"] != used || r["reserved"] != reserved {
					t.Errorf("%s: %v used and %v reserved, want %v and %v", name, r["current_usage"], r["reserved"], used, reserved)
				}
			}
		}
		began := s.Now()
		a := reserve("a", 60.5, nil).Want(201).WantAt("data.meter_code", "api-calls").WantAt("data.quantity", 60.5)
		if until := a.Str("data.expires_at"); until < began.Add(899*time.Second).Format(time.RFC3339) || until > s.Now().Add(901*time.Second).Format(time.RFC3339) {
			t.Errorf("expires at %s", until)
		}
		wantReserved(0, 60.5)
		b := reserve("b", 30, apptest.Object{"ttl_seconds": 60}).Want(201)
		reserve("c", 10, nil).Want(429).WantAt("code", "QUOTA_EXCEEDED").WantAt("limited_by", "plan").WantAt("limit", 100.0).WantAt("current_usage", 0.0).
			WantAt("meter_code", "api-calls").WantAt("grants_remaining", 0.0)
		record(10, "x").WantRefused(429, "QUOTA_EXCEEDED")
		record(9, "x").Want(201)
		if again := reserve("a", 60.5, apptest.Object{"ttl_seconds": 5}).Want(201); again.Text != a.Text {
			t.Errorf("the same request: %s, want %s", again.Text, a.Text)
		}
		reserve("a", 60, nil).WantRefused(409, "")
		reserve("x", 9, nil).WantRefused(409, "")
		record(60.5, "a").WantRefused(409, "")

		one := path + "/" + a.Str("data.id")
		settled := s.Call("POST", one+"/settle", bob, apptest.Object{"quantity": 200, "metadata": apptest.Object{"job": 7}}).Want(201)
		settled.WantAt("data.meter_code", "api-calls").WantAt("data.quantity", 200.0).WantAt("message", "usage.recorded")
		for _, refused := range []apptest.Reply{
			s.Call("POST", one+"/settle", bob, apptest.Object{"quantity": 200}), s.Call("DELETE", one, bob, nil), reserve("a", 60.5, nil),
		} {
			refused.WantAt("code", "reservation_settled").WantAt("event_id", settled.Str("data.id")).WantRefused(409, "reservation_settled")
		}
		record(1, "a").WantRefused(409, "")
		wantReserved(209, 30)
		other := path + "/" + b.Str("data.id")
		for range 2 {
			s.Call("DELETE", other, bob, nil).Want(204)
		}
		wantReserved(209, 0)
		s.Call("POST", other+"/settle", bob, apptest.Object{"quantity": 1}).WantRefused(404, "")
		// A grant makes room for another reservation.
		s.Call("POST", grants(ada), s.Admin(), apptest.Object{"feature_code": "api-calls", "amount": 30}).Want(201)
		reserve("b", 30, apptest.Object{"ttl_seconds": 60}).Want(201).WantAt("data.id", b.Str("data.id"))
		reserve("d", 1, nil).Want(429).WantAt("grants_remaining", 30.0)
		s.Advance(time.Minute)
		wantReserved(209, 0)
		s.Call("POST", other+"/settle", bob, apptest.Object{"quantity": 0}).Want(201)
		wantReserved(209, 0)
	})
}

func TestReservationRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		for code, aggregation := range map[string]string{"reservations": "sum", "off": "sum", "peak": "max"} {
			k.AdminCall("POST", "/meters", apptest.Object{
				"code": code, "name": code, "aggregation_type": aggregation, "reset_interval": "daily", "quota_enforcement": "hard", "is_active": code != "off",
			}).Want(201)
		}
		ada := s.NewCustomer("ada")
		path := ada.Path("/usage/reservations")
		valid := apptest.Object{"meter_code": "api-calls", "quantity": 1, "idempotency_key": "a"}
		for field, values := range map[string][]any{
			"meter_code": {nil, "", "peak", 5}, "quantity": {nil, 0, -1, 0.0000001, 1000000000001, "1"},
			"idempotency_key": {nil, "", 5}, "ttl_seconds": {0, 86401, 1.5, "60"},
		} {
			for _, value := range values {
				s.Call("POST", path, ada.Token, apptest.WithChanges(valid, apptest.Object{field: value})).WantInvalid(field)
			}
		}
		s.Call("POST", path, ada.Token, apptest.Object{}).WantInvalid("meter_code", "quantity", "idempotency_key")
		for _, code := range []string{"off", "nothing"} {
			s.Call("POST", path, ada.Token, apptest.WithChanges(valid, apptest.Object{"meter_code": code})).WantRefused(404, "")
		}
		one := path + "/" + s.Call("POST", path, ada.Token, valid).Want(201).Str("data.id")
		for field, values := range map[string][]any{"quantity": {nil, -1, "1"}, "recorded_at": {"soon", s.Now().Add(time.Hour).Format(time.RFC3339)}} {
			for _, value := range values {
				s.Call("POST", one+"/settle", ada.Token, apptest.WithChanges(apptest.Object{"quantity": 1}, apptest.Object{field: value})).WantInvalid(field)
			}
		}
		for _, id := range []string{"nothing", "00000000-0000-7000-8000-000000000000"} {
			s.Call("POST", path+"/"+id+"/settle", ada.Token, apptest.Object{"quantity": 1}).WantRefused(404, "")
			s.Call("DELETE", path+"/"+id, ada.Token, nil).WantRefused(404, "")
		}
		// The path never names a meter.
		for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
			a := s.Call(method, path, ada.Token, nil)
			a.WantRefused(405, "")
			if a.Header.Get("Allow") != "POST" {
				t.Errorf("%s: allowed is %q", method, a.Header.Get("Allow"))
			}
		}
		s.Call("PUT", ada.Path("/usage/reservations/cap"), ada.Token, apptest.Object{"limit": 1}).Want(200)
	})
}
