package entitlement_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

func TestFormerTermsAreStored(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 11, 10, 12, 0, 0, 0, time.UTC)
	for _, want := range [][]entitlement.FormerTerms{
		nil,
		{{
			BillingAnchor: begun, IntervalUnit: "month", IntervalCount: 3,
			CurrentPeriodStart: begun, CurrentPeriodEnd: begun.AddDate(0, 3, 0), Until: begun.Add(time.Microsecond),
		}, {IntervalUnit: "year", Until: begun.AddDate(0, 0, 7)}},
	} {
		text, err := entitlement.EncodeFormer(want)
		if err != nil || (text == nil) != (want == nil) {
			t.Fatalf("stored is %q, %v", text, err)
		}
		got, err := entitlement.DecodeFormer(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
	if _, err := entitlement.DecodeFormer(sqldb.JSON(`{"until":1}`)); err == nil {
		t.Error("unreadable data is accepted")
	}
}
