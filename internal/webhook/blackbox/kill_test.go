package blackbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// The service is killed repeatedly between a change and its delivery. Every acknowledged change is
// still delivered under one ID.
func TestKilledBetweenChangeAndDelivery(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, nil)
			here := apptest.ServiceHost{Data: dbtest.TempDir(t), Database: dbtest.URL(t, dialect), Addr: apptest.FreeAddress(t)}
			child := here.Start(t)
			ada := child.Register("ada@example.com", true)
			endpoint(child.Server, ada, r.url, "tenant.updated")
			rounds := dbtest.Rounds(2, 50)
			for i := range rounds {
				child.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"name": fmt.Sprint("Acme ", i)}).Want(200)
				child.Kill()
				apptest.Exec(t, child.DB(), `UPDATE webhook_deliveries SET leased_until = $1 WHERE lease_id IS NOT NULL`, time.Unix(0, 0).UTC())
				child = here.Start(t)
				ada.Token = child.LogIn("ada@example.com")
			}
			ids := map[string]map[string]bool{}
			apptest.Eventually(t, "every change", func() bool {
				clear(ids)
				for _, m := range r.got("tenant.updated") {
					name := m.data("name").(string)
					if ids[name] == nil {
						ids[name] = map[string]bool{}
					}
					ids[name][m.id] = true
				}
				return len(ids) >= rounds
			})
			child.Kill()
			for name, of := range ids {
				if len(of) != 1 {
					t.Errorf("%s has the ids %v", name, of)
				}
			}
		})
	}
}
