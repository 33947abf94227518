package blackbox_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A cap is the customer's own hard limit on any meter, even if the plan does
// not limit the meter.
func TestCaps(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		for code, enforcement := range map[string]string{"soft": "soft", "open": "none"} {
			k.AdminCall("POST", "/meters", apptest.Object{
				"code": code, "name": code, "aggregation_type": "sum", "reset_interval": "daily", "quota_enforcement": enforcement,
			}).Want(201)
		}
		ada := s.NewCustomer("ada")
		setCap := func(code string, limit any) apptest.Reply {
			t.Helper()
			return s.Call("PUT", ada.Path("/usage/"+code+"/cap"), ada.Token, apptest.Object{"limit": limit})
		}
		record := func(code string, quantity float64) apptest.Reply {
			t.Helper()
			return s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": code, "quantity": quantity})
		}
		for _, code := range []string{"soft", "open"} {
			record(code, 3).Want(201)
			setCap(code, 5).Want(200).WantAt("data.cap", 5.0).WantAt("data.current_usage", 3.0).WantAt("data.meter_code", code)
			record(code, 2.5).Want(429).WantAt("code", "QUOTA_EXCEEDED").WantAt("meter_code", code).WantAt("limited_by", "cap").
				WantAt("limit", 5.0).WantAt("current_usage", 3.0).WantAt("grants_remaining", 0.0)
			record(code, 2).Want(201)
			setCap(code, 4).Want(200) // usage above a cap stays
			batch := s.Call("POST", ada.Path("/usage/batch"), ada.Token, apptest.Object{"events": []any{apptest.Object{"meter_code": code}}}).Want(200)
			batch.WantAt("data.0.status", 429.0).WantAt("data.0.limited_by", "cap").WantAt("data.0.limit", 4.0).WantAt("data.0.current_usage", 5.0)
			setCap(code, nil).Want(200).WantAt("data.cap", nil)
			record(code, 100).Want(201)
		}
		if n := s.CountAudited(ada.Owner, "usage_cap.updated"); n != 6 {
			t.Errorf("%d audited changes, want 6", n)
		}
		for _, limit := range []any{-1, 1.5, "5", apptest.Object{}} {
			setCap("soft", limit).WantInvalid("limit")
		}
		s.Call("PUT", ada.Path("/usage/soft/cap"), ada.Token, apptest.Object{}).WantInvalid("limit")
		setCap("nothing", 5).WantRefused(404, "")
		member, _ := s.Join(ada.Owner, "Bob", "bob@example.com", "member")
		s.Call("PUT", ada.Path("/usage/soft/cap"), member, apptest.Object{"limit": 1}).WantRefused(403, "")
	})
}

// If both the plan's limit and the cap reject an event, the error names the lower one, or the
// plan's limit if they are equal.
func TestLimitThatRejects(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "free") // 100 api-calls
		for _, tt := range []struct {
			limit any
			by    string
			of    float64
		}{{nil, "plan", 100}, {100, "plan", 100}, {99, "cap", 99}, {101, "plan", 100}} {
			s.Call("PUT", ada.Path("/usage/api-calls/cap"), ada.Token, apptest.Object{"limit": tt.limit}).Want(200)
			s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 200}).
				Want(429).WantAt("limited_by", tt.by).WantAt("limit", tt.of)
		}
	})
}

// Concurrent events do not exceed a cap together.
func TestCapUnderConcurrency(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		s.Call("PUT", ada.Path("/usage/storage-gb/cap"), ada.Token, apptest.Object{"limit": 20}).Want(200)
		var accepted atomic.Int64
		var recording sync.WaitGroup
		for range 40 {
			recording.Go(func() {
				a := s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1})
				if a.Status == 201 {
					accepted.Add(1)
				}
			})
		}
		s.Call("PUT", ada.Path("/usage/api-calls/cap"), ada.Token, apptest.Object{"limit": 20}).Want(200)
		recording.Wait()
		for range 25 {
			if s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1}).Status == 201 {
				accepted.Add(1)
			}
		}
		used := s.Call("GET", ada.Path("/usage/api-calls"), ada.Token, nil).Want(200).At("data.current_usage").(float64)
		if n := accepted.Load(); float64(n) != used || n < 20 {
			t.Errorf("%d accepted, %v used, want both equal and at least 20", n, used)
		}
	})
}
