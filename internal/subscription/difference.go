package subscription

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
)

// Difference is one thing in which a subscription here and at the provider are
// not the same.
type Difference struct {
	Kind     DifferenceKind `json:"kind"`
	TenantID uuid.UUID      `json:"tenant_id"`
	PSPID    string         `json:"psp_id"` // the provider's subscription
	// Field is what differs, "" where the whole is missing; Here and There are its
	// values, There the provider's.
	Field string `json:"field,omitempty"`
	Here  string `json:"here,omitempty"`
	There string `json:"there,omitempty"`
	// Repaired tells that it was there and is no more, or that a job sees to it.
	Repaired bool `json:"repaired"`
}

// DifferenceKind says what sort of difference it is.
type DifferenceKind string

// The kinds of differences.
const (
	// Differs is a field that is another at the provider; it is taken over.
	Differs DifferenceKind = "differs"
	// MissingHere is a tenant's subscription that is not known here; it is adopted.
	MissingHere DifferenceKind = "missing_here"
	// MissingThere is one that runs here and that the provider does not know; it
	// ends here.
	MissingThere DifferenceKind = "missing_there"
	// StillRunning is one that is over here and not at the provider. If it was
	// replaced it is canceled there; else it is left to the operator.
	StillRunning DifferenceKind = "still_running"
	// NotTakenOver is one that cannot be one here: of a plan, currency or status
	// that means nothing here, or the tenant's second. It is left to the operator.
	NotTakenOver DifferenceKind = "not_taken_over"
)

// String is the difference in one line.
func (d Difference) String() string {
	line := fmt.Sprintf("%s: subscription %s of tenant %s", d.Kind, d.PSPID, d.TenantID)
	if d.Field != "" {
		line += fmt.Sprintf(": %s is %s here, %s there", d.Field, orNone(d.Here), orNone(d.There))
	}
	if d.Repaired {
		line += " (repaired)"
	}
	return line
}

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

// changes lists the fields in which a subscription differs from what the
// provider's state makes it.
func changes(here, there Subscription) []Difference {
	var found []Difference
	for _, f := range []struct{ field, here, there string }{
		{"status", string(here.Status), string(there.Status)},
		{"plan", here.PlanID.String(), there.PlanID.String()},
		{"price", strconv.FormatInt(here.PriceCents, 10), strconv.FormatInt(there.PriceCents, 10)},
		{"quantity", strconv.FormatInt(here.Quantity, 10), strconv.FormatInt(there.Quantity, 10)},
		{"interval", interval(here), interval(there)},
		{"billing_anchor", moment(&here.BillingAnchor), moment(&there.BillingAnchor)},
		{"current_period_start", moment(&here.CurrentPeriodStart), moment(&there.CurrentPeriodStart)},
		{"current_period_end", moment(&here.CurrentPeriodEnd), moment(&there.CurrentPeriodEnd)},
		{"trial_ends_at", moment(here.TrialEndsAt), moment(there.TrialEndsAt)},
		{"cancel_at_period_end", strconv.FormatBool(here.CancelAtPeriodEnd), strconv.FormatBool(there.CancelAtPeriodEnd)},
		{"canceled_at", moment(here.CanceledAt), moment(there.CanceledAt)},
	} {
		if f.here != f.there {
			found = append(found, Difference{
				Kind: Differs, TenantID: here.TenantID, PSPID: here.PSPSubscriptionID, Field: f.field, Here: f.here, There: f.there,
			})
		}
	}
	return found
}

func interval(s Subscription) string { return fmt.Sprintf("%d %s", s.IntervalCount, s.IntervalUnit) }

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
