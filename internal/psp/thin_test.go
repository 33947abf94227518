package psp_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Thin events are accepted if they are signed. An event without an object uses its own ID. Their
// types are not requested from the list of events.
func TestThinEventsAreTaken(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		i := newInbox(t, db, nil)
		handled := make(chan psp.Event, 4)
		for _, kind := range []string{inbox.EventErrors, inbox.EventNoMeter, "invoice.paid"} {
			i.HandleKind(kind, func(_ context.Context, e psp.Event) error {
				handled <- e
				return nil
			})
		}
		if diff := cmp.Diff([]string{"invoice.paid"}, i.Types()); diff != "" {
			t.Errorf("types (-want +got)\n%s", diff)
		}
		thin := func(id, kind, about string) string {
			return `{"id": "` + id + `", "object": "v2.core.event", "type": "` + kind + `", "livemode": false, "created": "2026-11-21T12:00:00Z"` + about + `}`
		}
		report := thin("evt_test_1", inbox.EventErrors, `, "related_object": {"id": "mtr_1", "type": "billing.meter", "url": "/v1/billing/meters/mtr_1"}`)
		none := thin("evt_test_2", inbox.EventNoMeter, "")
		for _, tt := range []struct {
			body, signature string
			status          int
		}{
			{report, sign(report, oldSecret, 0), 200},
			{report, sign(report, newSecret, 0), 200}, // again
			{none, sign(none, newSecret, 0), 200},
			{none, sign(none, "whsec_other", 0), 400},
			{none, sign(report, newSecret, 0), 400},
			{none, sign(none, newSecret, time.Hour), 400},
			{none, sign(none, newSecret, -time.Hour), 400},
		} {
			if w := i.deliver(t.Context(), tt.body, tt.signature); w.Code != tt.status {
				t.Errorf("%s signed %s returns %d", tt.body, tt.signature, w.Code)
			}
		}
		i.run(t)
		got := map[string]string{}
		for range 2 {
			e := <-handled
			got[e.ID] = e.Type + " " + e.ObjectID
		}
		want := map[string]string{"evt_test_1": inbox.EventErrors + " mtr_1", "evt_test_2": inbox.EventNoMeter + " evt_test_2"}
		if diff := cmp.Diff(want, got); diff != "" || i.stored(t) != 2 {
			t.Errorf("%d stored (-want +got)\n%s", i.stored(t), diff)
		}
	})
}
