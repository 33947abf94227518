package blackbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The list of a tenant's subscriptions is complete, unless a page is requested.
func TestAdminListOfSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		k.CreatePricedPlan(k.CreateProduct("life"), "pro", map[string]int{"EUR": 500})
		o := k.Register("ada@example.com", true)
		other := k.Register("bob@example.com", true)
		k.BuyPlan(other, "pro")
		k.BuyPlan(o, "pro")
		const former = page.PartSize + 3
		made := s.Now().AddDate(-1, 0, 0).Truncate(time.Microsecond)
		for i := range former { // two with the same time
			at := made.Add(time.Duration(i/2) * time.Second)
			apptest.Exec(t, s.DB(), `INSERT INTO subscriptions (id, tenant_id, plan_id, status, currency, price_cents, quantity, interval_unit, interval_count,
				billing_anchor, current_period_start, current_period_end, psp_subscription_id, sync_version, created_at, updated_at)
				SELECT $1, $2, plan_id, 'canceled', 'EUR', 500, 1, 'month', 1, $3, $3, $3, $4, 1, $3, $3 FROM subscriptions WHERE tenant_id = $5`,
				sqldb.NewID(), o.Tenant, at, fmt.Sprint("sub_former", i), other.Tenant)
		}
		path := "/tenants/" + o.Tenant + "/subscriptions"
		whole := k.AdminCall("GET", path, nil).Want(200)
		if whole.At("meta") != nil || len(whole.Column("id")) != former+1 || whole.Str("data.0.status") != "active" {
			t.Errorf("%d subscriptions: %.300s", len(whole.Column("id")), whole.Text)
		}
		var pages []any
		for n := 1; n <= 6; n++ {
			part := k.AdminCall("GET", fmt.Sprintf("%s?page=%d&per_page=100", path, n), nil).Want(200).
				WantAt("meta.total", float64(former+1)).WantAt("meta.last_page", 6.0)
			pages = append(pages, part.Column("id")...)
			if next, _ := part.At("links.next").(string); n < 6 && !strings.HasSuffix(next, fmt.Sprintf("/api/v1/admin%s?page=%d&per_page=100", path, n+1)) {
				t.Errorf("page after page %d = %q", n, next)
			}
		}
		if diff := cmp.Diff(pages, whole.Column("id")); diff != "" {
			t.Error(diff)
		}
		k.AdminCall("GET", path+"?per_page=101", nil).WantInvalid("per_page")
	})
}
