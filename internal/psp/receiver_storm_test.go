package psp_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// All pending events about an object cause one read of the object. The handler of an event type
// still receives each event of this type. Notifications during the read cause another read.
func TestRepeatedNotificationsCostOneRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		tell := func(id, kind string) {
			t.Helper()
			body := eventJSON(id, kind, "in_1")
			for range 3 {
				if w := i.deliver(t.Context(), body, sign(body, oldSecret, 0)); w.Code != 200 {
					t.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
		}
		looks, own := make(chan string, 10), make(chan string, 10)
		goOn := make(chan struct{})
		i.HandleKind("invoice.", func(_ context.Context, e psp.Event) error {
			looks <- e.ID
			<-goOn
			return nil
		})
		i.HandleKind("invoice.payment_failed", func(_ context.Context, e psp.Event) error {
			own <- e.ID
			return nil
		})
		for n := range 5 {
			tell("evt_"+strconv.Itoa(n), "invoice.updated")
		}
		tell("evt_5", "invoice.payment_failed")
		tell("evt_6", "invoice.payment_failed")
		if n := i.waiting(t); n != 1 {
			t.Errorf("%d jobs wait, want 1", n)
		}
		i.run(t)
		first := <-looks
		tell("evt_7", "invoice.paid")
		close(goOn)
		second := <-looks
		if diff := cmp.Diff([]string{"evt_6", "evt_7", "evt_5", "evt_6"}, []string{first, second, <-own, <-own}); diff != "" {
			t.Error(diff)
		}
		testkit.Eventually(t, "all are handled", func() bool { return i.handled(t) == 8 })
		if len(looks)+len(own) != 0 {
			t.Errorf("%d more reads and %d more events", len(looks), len(own))
		}
	})
}
