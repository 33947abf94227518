package invoice

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/hook"
)

// Each state is published once, whatever the order in which states arrive.
func TestPendingEvents(t *testing.T) {
	t.Parallel()
	issued, paid, voided := hook.InvoiceIssued, hook.InvoicePaid, hook.InvoiceVoided
	for name, tt := range map[string]struct {
		states []Status
		want   []hook.Type
	}{
		"a draft":                     {[]Status{Draft, Draft}, nil},
		"issued":                      {[]Status{Draft, Open, Open}, []hook.Type{issued}},
		"paid later":                  {[]Status{Open, Paid, Paid}, []hook.Type{issued, paid}},
		"paid at once":                {[]Status{Paid}, []hook.Type{issued, paid}},
		"void":                        {[]Status{Open, Void, Void}, []hook.Type{issued, voided}},
		"void when first seen":        {[]Status{Void}, []hook.Type{issued, voided}},
		"written off":                 {[]Status{Open, Uncollectible}, []hook.Type{issued}},
		"written off, and paid":       {[]Status{Uncollectible, Paid}, []hook.Type{issued, paid}},
		"an old state after the new":  {[]Status{Paid, Open, Draft, Paid}, []hook.Type{issued, paid}},
		"final states are not undone": {[]Status{Paid, Void}, []hook.Type{issued, paid}},
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
	if events, then := pendingEvents("before", Paid); events != nil || then != "before" {
		t.Errorf("an older invoice publishes: %v, %s", events, then)
	}
}
