package psp_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp/inbox"
)

// reportJSON returns an error report like the one in the provider's documentation.
func reportJSON(eventType, related string) string {
	return `{"id": "evt_test_1", "object": "v2.core.event", "type": "` + eventType + `", "livemode": false,
		"created": "2026-11-21T12:00:00.000Z", "reason": null, ` + related + `
		"data": {"developer_message_summary": "There are 3 invalid event(s)", "validation_start": "2026-11-21T11:50:00.000Z",
			"validation_end": "2026-11-21T12:00:00.000Z", "reason": {"error_count": 3, "error_types": [
				{"code": "meter_event_customer_not_found", "error_count": 2, "sample_errors": [
					{"error_message": "No such customer: 'cus_1'", "request": {"identifier": "id_1"}}]},
				{"code": "archived_meter", "error_count": 1, "sample_errors": [
					{"error_message": "The meter is archived", "request": {"identifier": "id_2"}}]}]}}}`
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	want := []inbox.UsageError{
		{Identifier: "id_1", Reason: "meter_event_customer_not_found: No such customer: 'cus_1'"},
		{Identifier: "id_2", Reason: "archived_meter: The meter is archived"},
	}
	for eventType, related := range map[string]string{
		inbox.EventErrors:  `"related_object": {"id": "mtr_1", "type": "billing.meter", "url": "/v1/billing/meters/mtr_1"},`,
		inbox.EventNoMeter: "",
	} {
		t.Run(eventType, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method != http.MethodGet || r.URL.Path != "/v2/core/events/evt_test_1" {
					t.Errorf("called is %s %s", r.Method, r.URL.Path)
				}
				reply(w, 200, reportJSON(eventType, related))
			})
			got, total, err := (inbox.UsageErrorReports{Client: provider.client(t)}).UsageErrors(t.Context(), "evt_test_1")
			if diff := cmp.Diff(want, got); diff != "" || total != 3 || err != nil {
				t.Errorf("%d in all, %v (-want +got)\n%s", total, err, diff)
			}
		})
	}
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, reportJSON("v1.billing.meter.something_else", ""))
	})
	if _, _, err := (inbox.UsageErrorReports{Client: provider.client(t)}).UsageErrors(t.Context(), "evt_test_1"); err == nil {
		t.Error("an event of another kind is accepted as a report")
	}
}
