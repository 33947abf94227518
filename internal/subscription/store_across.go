package subscription

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// acrossEntry is a subscription with its tenant and its monthly recurring revenue.
type acrossEntry struct {
	sub     Subscription
	tenant  sheet.NamedTenant
	revenue money.Money
}

// viewColumns are the columns of a subscription's view. scanView reads them.
const viewColumns = `s.id, s.tenant_id, s.plan_id, s.status, s.currency, s.price_cents, s.quantity, s.interval_unit, ` +
	`s.interval_count, s.current_period_start, s.current_period_end, s.trial_ends_at, s.has_payment_method, s.cancel_at, s.cancel_at_period_end, s.canceled_at, ` +
	`s.cancellation_reason, s.payment_action, s.payment_url, s.unpaid_psp_invoice_id, s.unpaid_since, s.pending_plan_id, s.pending_expires_at, s.pending_quantity, ` +
	`s.pending_price_cents, s.pending_by, s.scheduled_change, s.collection, s.days_until_due, s.purchase_order, s.custom_price, s.discount_id, ` +
	`s.discount_ends_at, s.discount_cents, s.created_at, s.updated_at`

// scanView reads the columns of a subscription's view, followed by others. The other fields are empty.
func scanView(row page.Scanner, others ...any) (Subscription, error) {
	var r subscriptionsql.Subscription
	err := row.Scan(append([]any{
		&r.ID, &r.TenantID, &r.PlanID, &r.Status, &r.Currency, &r.PriceCents, &r.Quantity, &r.IntervalUnit,
		&r.IntervalCount, &r.CurrentPeriodStart, &r.CurrentPeriodEnd, &r.TrialEndsAt, &r.HasPaymentMethod, &r.CancelAt, &r.CancelAtPeriodEnd, &r.CanceledAt,
		&r.CancellationReason, &r.PaymentAction, &r.PaymentURL, &r.UnpaidPSPInvoiceID, &r.UnpaidSince, &r.PendingPlanID, &r.PendingExpiresAt, &r.PendingQuantity,
		&r.PendingPriceCents, &r.PendingBy, &r.ScheduledChange, &r.Collection, &r.DaysUntilDue, &r.PurchaseOrder, &r.CustomPrice, &r.DiscountID,
		&r.DiscountEndsAt, &r.DiscountCents, &r.CreatedAt, &r.UpdatedAt,
	}, others...)...)
	return toSubscription(r), err
}

// pageAcross returns a page of the subscriptions of all tenants and their total number. They have the
// fields of a view. Their revenue is the revenue at now.
func (s store) pageAcross(ctx context.Context, q page.Query, now time.Time) ([]acrossEntry, int64, error) {
	sel := page.Select{
		Columns: viewColumns + ", t.name, s.journaled_active, s.journaled_amount, s.journaled_until, s.journaled_next",
		From:    "subscriptions s", Join: "JOIN tenants t ON t.id = s.tenant_id",
	}
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (e acrossEntry, err error) {
		var counts bool
		var amount, next int64
		var until *time.Time // when a discount ends and the amount becomes next
		e.sub, err = scanView(row, &e.tenant.Name, &counts, &amount, &until, &next)
		e.tenant.ID, e.revenue.Currency = e.sub.TenantID, e.sub.Currency
		switch {
		case !counts:
		case until != nil && !until.After(now):
			e.revenue.AmountCents = next
		default:
			e.revenue.AmountCents = amount
		}
		return e, err
	})
	return entries, total, sqldb.Wrap(err, "list subscriptions across tenants")
}
