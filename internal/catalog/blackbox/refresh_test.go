package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Linked prices are read again every hour, even without events. The states of unlinked prices are
// deleted.
func TestPricesAreRefreshed(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		buyer, starter := s.Register("ada@example.com", true), soldPlanOf(s, "starter")
		s.Checkout(buyer, "starter")
		if got := eligibilityOf(s, buyer, "starter"); got["selectable"] != true {
			t.Fatalf("at first: %v", got)
		}
		states := func(where string) int {
			t.Helper()
			return s.CountRows(`SELECT count(*) FROM psp_price_states WHERE ` + where)
		}
		if states("is_active") == 0 {
			t.Fatal("the states of linked prices are not stored")
		}
		apptest.Exec(t, s.DB(), "UPDATE psp_price_states SET is_active = false")
		apptest.Exec(t, s.DB(), `INSERT INTO psp_price_states (psp_price_id, psp_product_id, is_missing, is_active, currency, unit_amount,
			interval_unit, interval_count, is_metered, read_at)
			SELECT 'price_of_nobody', psp_product_id, is_missing, is_active, currency, unit_amount, interval_unit, interval_count, is_metered, read_at
			FROM psp_price_states LIMIT 1`)
		if got := eligibilityOf(s, buyer, "starter"); got["price_status"] != "inactive" {
			t.Errorf("price_status ignores the stored state: %v", got)
		}
		s.Advance(time.Hour + time.Minute)
		apptest.Eventually(t, "the prices to be refreshed", func() bool { return states("NOT is_active") == 0 })
		if states("psp_price_id = 'price_of_nobody'") != 0 {
			t.Error("state of an unlinked price was not deleted")
		}
		buyer.Token = s.LogIn("ada@example.com")
		if got := eligibilityOf(s, buyer, "starter"); got["selectable"] != true {
			t.Errorf("after an hour: %v", got)
		}
		// An unlinked price has no state and is on sale, because the checkout links it.
		admin := s.Admin()
		s.Call("POST", starter.path("EUR", "psp-unlink"), admin, nil).Want(200)
		if got := eligibilityOf(s, buyer, "starter"); got["selectable"] != true {
			t.Errorf("without a link: %v", got)
		}
		s.Checkout(buyer, "starter")
	})
}
