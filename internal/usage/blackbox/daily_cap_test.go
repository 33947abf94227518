package blackbox_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant that never had a plan has a daily cap on events across all meters. Buying a plan removes
// the cap.
func TestDailyCapWithoutAPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		batch := func(keys ...string) string {
			events := make([]apptest.Object, len(keys))
			for i, key := range keys {
				events[i] = apptest.Object{"meter_code": []string{"api-calls", "storage-gb"}[i%2], "quantity": 1, "idempotency_key": key}
			}
			return fmt.Sprint(s.Call("POST", ada.Path("/usage/batch"), ada.Token, apptest.Object{"events": events}).Want(200).Column("status"))
		}
		if got := batch("a", "b", "c"); got != "[201 201 201]" {
			t.Errorf("below the cap: %s", got)
		}
		if got := batch("a", "d", "e", "f"); got != "[409 201 201 429]" {
			t.Errorf("at the cap: %s", got)
		}
		refused := s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1})
		refused.WantRefused(429, "")
		now := s.Now()
		if wait, err := strconv.Atoi(refused.Header.Get("Retry-After")); err != nil || now.Add(time.Duration(wait)*time.Second).Truncate(time.Minute) != now.UTC().Truncate(apptest.Day).Add(apptest.Day) {
			t.Errorf("at %s: Retry-After %s", now, refused.Header.Get("Retry-After"))
		}
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "idempotency_key": "a"}).Want(409)
		s.Advance(apptest.Day)
		ada.Token = s.LogIn("ada@example.com")
		if got := batch("f"); got != "[201]" {
			t.Errorf("the next day: %s", got)
		}
		s.BuyPlan(ada, "starter")
		if got := batch("g", "h", "i", "j", "k", "l"); got != "[201 201 201 201 201 201]" {
			t.Errorf("with a plan: %s", got)
		}
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"usage_without_plan": 5} })
}
