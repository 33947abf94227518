package invoice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/hook"
)

// Each event is published once, whatever the order of the statuses.
func TestPendingEvents(t *testing.T) {
	t.Parallel()
	issued, paid, voided := hook.InvoiceIssued, hook.InvoicePaid, hook.InvoiceVoided
	for name, tt := range map[string]struct {
		states []Status
		want   []hook.Type
	}{
		"a draft":                     {[]Status{StatusDraft, StatusDraft}, nil},
		"issued":                      {[]Status{StatusDraft, StatusOpen, StatusOpen}, []hook.Type{issued}},
		"paid later":                  {[]Status{StatusOpen, StatusPaid, StatusPaid}, []hook.Type{issued, paid}},
		"paid at once":                {[]Status{StatusPaid}, []hook.Type{issued, paid}},
		"void":                        {[]Status{StatusOpen, StatusVoid, StatusVoid}, []hook.Type{issued, voided}},
		"void when first seen":        {[]Status{StatusVoid}, []hook.Type{issued, voided}},
		"written off":                 {[]Status{StatusOpen, StatusUncollectible}, []hook.Type{issued}},
		"written off, and paid":       {[]Status{StatusUncollectible, StatusPaid}, []hook.Type{issued, paid}},
		"an old state after the new":  {[]Status{StatusPaid, StatusOpen, StatusDraft, StatusPaid}, []hook.Type{issued, paid}},
		"final states are not undone": {[]Status{StatusPaid, StatusVoid}, []hook.Type{issued, paid}},
	} {
		var got []hook.Type
		lastEvent := publishedNothing
		for _, status := range tt.states {
			var events []hook.Type
			events, lastEvent = pendingEvents(lastEvent, status)
			got = append(got, events...)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if events, then := pendingEvents("before", StatusPaid); events != nil || then != "before" {
		t.Errorf("an older invoice publishes: %v, %s", events, then)
	}
}
