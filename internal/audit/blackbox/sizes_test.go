package blackbox_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A value above 1 KB is stored as a digest, which still shows whether it changed and can be
// compared with a copy.
func TestLargeValuesAreStoredAsDigests(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		large := apptest.Object{"x": strings.Repeat("a", 15_000)}
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"settings": large}).Want(200)
		s.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"settings": apptest.Object{"x": "b"}, "city": "Rome"}).Want(200)
		last := s.AuditLog(url.Values{"filter[tenant]": {ada.Tenant}}).Want(200)
		const digest = "sha256:ec24aeb1f428c78bcc179ab5d8acea37b3400040e43093c8a8ac59947a065d4e"
		last.WantAt("data.0.before.settings", apptest.Object{"digest": digest, "bytes": 15_008.0})
		last.WantAt("data.0.after.settings", apptest.Object{"x": "b"})
		last.WantAt("data.0.after.city", "Rome")
		last.WantAt("data.1.after.settings", apptest.Object{"digest": digest, "bytes": 15_008.0})
	})
}

// A page of 100 entries stays below 1 MiB whatever is recorded.
func TestAPageOfTheTrailIsBounded(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		worst := func(n int, value string) map[string]any {
			all := map[string]any{}
			for i := range n {
				all[fmt.Sprintf("key%d", i)] = value
			}
			return all
		}
		numbers := make([]int, 500) // PostgreSQL adds spaces to the JSON
		ctx := authz.WithSource(t.Context(), authz.Source{IP: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", UserAgent: strings.Repeat(`"`, 512)})
		log := audit.New(audit.Deps{DB: s.DB(), Clock: clock.NewFixed(noon)})
		for i := range 100 {
			e := audit.Entry{Action: "product.updated", Resource: "product", ResourceID: sqldb.NewID().String()}
			switch i % 4 {
			case 0: // each value is just below the limit
				e.Before, e.After = worst(100, strings.Repeat("é", 500)), worst(100, strings.Repeat("<", 160))
			case 1:
				e.Before, e.After = worst(1000, "x"), worst(1000, "y")
			case 2:
				e.Before, e.After = map[string]any{"a": numbers, "b": numbers, "c": numbers, "d": numbers}, strings.Repeat("z", 900_000)
			case 3:
				e.Before, e.After = []any{worst(50, "v"), worst(5000, "w")}, map[string]any{strings.Repeat("k", 9000): 1}
			}
			if err := s.DB().Tx(ctx, func(ctx context.Context) error { return log.Record(ctx, e) }); err != nil {
				t.Fatal(err)
			}
		}
		page := s.Call("GET", "/api/v1/admin/audit-logs?per_page=100&filter[action]=product.updated", s.Admin(), nil).Want(200)
		if page.At("meta.total") != 100.0 || len(page.Text) >= 1<<20 {
			t.Errorf("a page of %v entries has %d bytes", page.At("meta.total"), len(page.Text))
		}
		t.Logf("a page of the worst entries has %d bytes", len(page.Text))
	})
}
