package reconcile

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/subscription"
)

// fieldDifferences lists the fields in which a stored subscription differs from the provider's
// state.
func fieldDifferences(here, there subscription.Subscription) []compare.Difference {
	var found []compare.Difference
	for _, f := range []struct{ field, here, there string }{
		{"status", string(here.Status), string(there.Status)},
		{"plan", here.PlanID.String(), there.PlanID.String()},
		{"price", strconv.FormatInt(here.PriceCents, 10), strconv.FormatInt(there.PriceCents, 10)},
		{"quantity", strconv.FormatInt(here.Quantity, 10), strconv.FormatInt(there.Quantity, 10)},
		{"interval", formatInterval(here), formatInterval(there)},
		{"billing_anchor", formatTime(&here.BillingAnchor), formatTime(&there.BillingAnchor)},
		{"current_period_start", formatTime(&here.CurrentPeriodStart), formatTime(&there.CurrentPeriodStart)},
		{"current_period_end", formatTime(&here.CurrentPeriodEnd), formatTime(&there.CurrentPeriodEnd)},
		{"trial_ends_at", formatTime(here.TrialEndsAt), formatTime(there.TrialEndsAt)},
		{"cancel_at", formatTime(here.CancelAt), formatTime(there.CancelAt)},
		{"cancel_at_period_end", strconv.FormatBool(here.CancelAtPeriodEnd), strconv.FormatBool(there.CancelAtPeriodEnd)},
		{"pending_change", formatPending(here), formatPending(there)},
		{"scheduled_change", formatScheduled(here), formatScheduled(there)},
		{"discount", formatDiscount(here), formatDiscount(there)},
		{"canceled_at", formatTime(here.CanceledAt), formatTime(there.CanceledAt)},
	} {
		if f.here != f.there {
			found = append(found, compare.Difference{
				Of: compare.SubscriptionDifference, Kind: compare.KindDiffers, TenantID: here.TenantID, PSPID: here.PSPSubscriptionID, Field: f.field, Here: f.here, There: f.there,
			})
		}
	}
	return found
}

// formatPending returns the provider's price of a pending change, or "".
func formatPending(s subscription.Subscription) string {
	if s.Pending == nil {
		return ""
	}
	return s.Pending.PSPPriceID
}

// formatScheduled returns the provider's price and the quantity of a scheduled change, or "".
func formatScheduled(s subscription.Subscription) string {
	if s.Scheduled == nil {
		return ""
	}
	return fmt.Sprintf("%d × %s", s.Scheduled.Quantity, s.Scheduled.PSPPriceID)
}

// formatDiscount returns the provider's discount, or "".
func formatDiscount(s subscription.Subscription) string {
	if s.Discount == nil {
		return ""
	}
	return s.Discount.PSPID
}

func formatInterval(s subscription.Subscription) string {
	return fmt.Sprintf("%d %s", s.IntervalCount, s.IntervalUnit)
}

func formatTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
