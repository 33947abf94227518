package subscription

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/subscription/journal"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *subscriptionsql.Queries {
	return subscriptionsql.New(s.db.Conn(ctx))
}

func toSubscription(row subscriptionsql.Subscription) Subscription {
	s := Subscription{
		ID: row.ID, TenantID: row.TenantID, PlanID: row.PlanID, Status: Status(row.Status),
		Currency: row.Currency, PriceCents: row.PriceCents, Quantity: row.Quantity,
		IntervalUnit: row.IntervalUnit, IntervalCount: row.IntervalCount, BillingAnchor: row.BillingAnchor,
		CurrentPeriodStart: row.CurrentPeriodStart, CurrentPeriodEnd: row.CurrentPeriodEnd,
		TrialEndsAt: row.TrialEndsAt, CancelAt: row.CancelAt, CancelAtPeriodEnd: row.CancelAtPeriodEnd, CanceledAt: row.CanceledAt,
		CancellationReason: row.CancellationReason, PSPSubscriptionID: row.PSPSubscriptionID,
		Departures: row.Departures, former: row.FormerBilling, metered: row.MeteredItems, meteredPeriod: row.MeteredPeriod, terms: row.MeteredTerms,
		HasPaymentMethod: row.HasPaymentMethod, SyncVersion: row.SyncVersion, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	s.PSPPriceID, s.CustomPrice = textOf(row.PSPPriceID), row.CustomPrice
	s.Terms = Terms{Collection: row.Collection, PurchaseOrder: textOf(row.PurchaseOrder)}
	if row.DaysUntilDue != nil {
		s.Terms.DaysUntilDue = int64(*row.DaysUntilDue)
	}
	s.Action = money.PaymentAction{Type: textOf(row.PaymentAction), URL: textOf(row.PaymentURL)}
	if row.PendingPlanID != nil && row.PendingExpiresAt != nil {
		s.Pending = &PendingChange{
			PlanID: *row.PendingPlanID, PSPPriceID: textOf(row.PendingPSPPriceID), PSPInvoiceID: textOf(row.PendingPSPInvoiceID),
			ExpiresAt: *row.PendingExpiresAt, Quantity: orZero(row.PendingQuantity), PriceCents: orZero(row.PendingPriceCents),
			By: decodeCaller(row.PendingBy),
		}
	}
	if row.UnpaidPSPInvoiceID != nil && row.UnpaidSince != nil {
		s.Unpaid = &UnpaidInvoice{PSPID: *row.UnpaidPSPInvoiceID, Since: *row.UnpaidSince}
	}
	if row.DiscountID != nil {
		s.Discount = &Discount{ID: *row.DiscountID, PSPID: textOf(row.PSPDiscountID), EndsAt: row.DiscountEndsAt}
	}
	s.discountCents = row.DiscountCents
	s.ScheduleID = textOf(row.PSPScheduleID)
	if row.ScheduledChange != nil {
		s.Scheduled = &scheduledChange{}
		if json.Unmarshal(row.ScheduledChange, s.Scheduled) != nil { // only this package writes it
			s.Scheduled = nil
		}
	}
	return s
}

// dueColumn returns the value of the column with the number of days until an invoice is due.
func (t Terms) dueColumn() *int32 {
	if !t.IsSent() {
		return nil
	}
	days := int32(t.DaysUntilDue)
	return &days
}

// textOf returns the text, or "" for nil.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// orNil returns nil for an empty text.
func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// loadCurrent returns the tenant's only subscription that is not over, or ErrNotFound.
func (s store) loadCurrent(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	row, err := s.q(ctx).LiveSubscription(ctx, tenantID)
	return toSubscription(row), sqldb.WrapAbsent(err, "read live subscription", ErrNotFound)
}

// byPSPID returns the subscription with the given ID at the provider, or ErrNotFound.
func (s store) byPSPID(ctx context.Context, id string) (Subscription, error) {
	tenantID, err := distribution.TenantOf(ctx, s.db, id)
	if err != nil {
		return Subscription{}, err
	}
	row, err := s.q(ctx).SubscriptionByPSPID(ctx, subscriptionsql.SubscriptionByPSPIDParams{PSPSubscriptionID: id, TenantID: tenantID})
	return toSubscription(row), sqldb.WrapAbsent(err, "read subscription by the provider's id", ErrNotFound)
}

// byID returns a subscription of a tenant, or ErrNotFound.
func (s store) byID(ctx context.Context, tenantID, id uuid.UUID) (Subscription, error) {
	row, err := s.q(ctx).SubscriptionOfTenant(ctx, subscriptionsql.SubscriptionOfTenantParams{TenantID: tenantID, ID: id})
	return toSubscription(row), sqldb.WrapAbsent(err, "read subscription of tenant", ErrNotFound)
}

// loaderByID returns a load step that loads a subscription of a tenant.
func (s store) loaderByID(tenantID, id uuid.UUID) loader {
	return func(ctx context.Context) (Subscription, error) { return s.byID(ctx, tenantID, id) }
}

// listStart sorts before the first subscription of any list.
var listStart = Subscription{ID: uuid.Max, CreatedAt: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}

// listAfter lists up to most of the tenant's subscriptions that follow last, newest first.
func (s store) listAfter(ctx context.Context, tenantID uuid.UUID, last Subscription, most int) ([]Subscription, error) {
	rows, err := s.q(ctx).OlderSubscriptionsOfTenant(ctx, subscriptionsql.OlderSubscriptionsOfTenantParams{
		TenantID: tenantID, CreatedAt: last.CreatedAt, ID: last.ID, Most: int32(most),
	})
	return toSubscriptions(rows), sqldb.Wrap(err, "list older subscriptions of tenant")
}

// listPage returns one page of the tenant's subscriptions, newest first, and their total number.
func (s store) listPage(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Subscription, int64, error) {
	most, skipped := q.Limits()
	rows, err := s.q(ctx).SubscriptionsOfTenant(ctx, subscriptionsql.SubscriptionsOfTenantParams{
		TenantID: tenantID, Most: most, Skipped: skipped,
	})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list subscriptions of tenant")
	}
	total, err := s.q(ctx).CountSubscriptionsOfTenant(ctx, tenantID)
	return toSubscriptions(rows), total, sqldb.Wrap(err, "count subscriptions of tenant")
}

func toSubscriptions(rows []subscriptionsql.Subscription) []Subscription {
	list := make([]Subscription, len(rows))
	for i, row := range rows {
		list[i] = toSubscription(row)
	}
	return list
}

// encodeCaller returns the stored form of the caller of a change, nil without one.
func encodeCaller(by *authz.Origin) (sqldb.JSON, error) {
	if by == nil {
		return nil, nil
	}
	text, err := json.Marshal(by)
	return text, sqldb.Wrap(err, "encode caller")
}

// decodeCaller returns the caller of a change, or nil.
func decodeCaller(text sqldb.JSON) *authz.Origin {
	var by authz.Origin
	if text == nil || json.Unmarshal(text, &by) != nil {
		return nil
	}
	return &by
}

// scheduledColumn returns the column of the scheduled change.
func (s Subscription) scheduledColumn() (sqldb.JSON, error) {
	if s.Scheduled == nil {
		return nil, nil
	}
	text, err := json.Marshal(s.Scheduled)
	return text, sqldb.Wrap(err, "encode scheduled change")
}

// insert stores a new subscription. The items that it was bought with bill its first period.
func (s store) insert(ctx context.Context, n Subscription) error {
	items, _, err := n.MeteredItems()
	if err != nil {
		return err
	}
	terms, err := json.Marshal(MeteredTerms{Items: items})
	if err != nil {
		return err
	}
	p := subscriptionsql.InsertSubscriptionParams{
		ID: n.ID, TenantID: n.TenantID, PlanID: n.PlanID, Status: string(n.Status), Currency: n.Currency,
		PriceCents: n.PriceCents, Quantity: n.Quantity, IntervalUnit: n.IntervalUnit, IntervalCount: n.IntervalCount,
		BillingAnchor: n.BillingAnchor, CurrentPeriodStart: n.CurrentPeriodStart, CurrentPeriodEnd: n.CurrentPeriodEnd,
		TrialEndsAt: n.TrialEndsAt, CancelAt: n.CancelAt, CancelAtPeriodEnd: n.CancelAtPeriodEnd, CanceledAt: n.CanceledAt,
		PSPSubscriptionID: n.PSPSubscriptionID, PSPPriceID: orNil(n.PSPPriceID), PaymentAction: orNil(n.Action.Type),
		PaymentURL: orNil(n.Action.URL), CreatedAt: n.CreatedAt, FormerBilling: n.former, MeteredItems: n.metered,
		MeteredPeriod: &n.CurrentPeriodStart, MeteredTerms: terms, HasPaymentMethod: n.HasPaymentMethod,
		Collection: n.Terms.Collection, DaysUntilDue: n.Terms.dueColumn(), PurchaseOrder: orNil(n.Terms.PurchaseOrder), CustomPrice: n.CustomPrice,
	}
	if u := n.Unpaid; u != nil {
		p.UnpaidPSPInvoiceID, p.UnpaidSince = &u.PSPID, &u.Since
	}
	if d := n.Discount; d != nil {
		p.DiscountID, p.PSPDiscountID, p.DiscountEndsAt = &d.ID, orNil(d.PSPID), d.EndsAt
	}
	p.DiscountCents = n.discountCents
	p.PSPScheduleID = orNil(n.ScheduleID)
	if p.ScheduledChange, err = n.scheduledColumn(); err != nil {
		return err
	}
	if err = s.q(ctx).InsertSubscription(ctx, p); err != nil {
		return sqldb.Wrap(err, "insert subscription")
	}
	if err := distribution.RememberTenant(ctx, s.db, n.PSPSubscriptionID, n.TenantID); err != nil {
		return err
	}
	return journal.Note(ctx, s.db, n.TenantID, n.ID, n.effectiveAt, n.pastDiscount)
}

// outdateReads makes read-backs of a subscription that are in progress start again.
func (s store) outdateReads(ctx context.Context, sub Subscription) error {
	err := s.q(ctx).OutdateReads(ctx, subscriptionsql.OutdateReadsParams{TenantID: sub.TenantID, ID: sub.ID})
	return sqldb.Wrap(err, "outdate reads of subscription")
}

// update stores a newer state. It returns errOvertaken if another state was stored after
// n.SyncVersion was read.
func (s store) update(ctx context.Context, n Subscription) error {
	p := subscriptionsql.UpdateSubscriptionParams{
		TenantID: n.TenantID, PSPSubscriptionID: n.PSPSubscriptionID, SyncVersion: n.SyncVersion, PlanID: n.PlanID, Status: string(n.Status),
		PriceCents: n.PriceCents, Quantity: n.Quantity, IntervalUnit: n.IntervalUnit, IntervalCount: n.IntervalCount,
		BillingAnchor: n.BillingAnchor, CurrentPeriodStart: n.CurrentPeriodStart, CurrentPeriodEnd: n.CurrentPeriodEnd,
		TrialEndsAt: n.TrialEndsAt, CancelAt: n.CancelAt, CancelAtPeriodEnd: n.CancelAtPeriodEnd, CanceledAt: n.CanceledAt, UpdatedAt: n.UpdatedAt,
		FormerBilling: n.former, MeteredItems: n.metered,
		PSPPriceID: orNil(n.PSPPriceID), PaymentAction: orNil(n.Action.Type), PaymentURL: orNil(n.Action.URL),
		HasPaymentMethod: n.HasPaymentMethod,
		Collection:       n.Terms.Collection, DaysUntilDue: n.Terms.dueColumn(), PurchaseOrder: orNil(n.Terms.PurchaseOrder), CustomPrice: n.CustomPrice,
	}
	if w := n.Pending; w != nil {
		p.PendingPlanID, p.PendingExpiresAt = &w.PlanID, &w.ExpiresAt
		p.PendingPSPPriceID, p.PendingPSPInvoiceID = orNil(w.PSPPriceID), orNil(w.PSPInvoiceID)
		p.PendingQuantity, p.PendingPriceCents = &w.Quantity, &w.PriceCents
		by, err := encodeCaller(w.By)
		if err != nil {
			return err
		}
		p.PendingBy = by
	}
	if u := n.Unpaid; u != nil {
		p.UnpaidPSPInvoiceID, p.UnpaidSince = &u.PSPID, &u.Since
	}
	if d := n.Discount; d != nil {
		p.DiscountID, p.PSPDiscountID, p.DiscountEndsAt = &d.ID, orNil(d.PSPID), d.EndsAt
	}
	p.DiscountCents = n.discountCents
	p.PSPScheduleID = orNil(n.ScheduleID)
	var err error
	if p.ScheduledChange, err = n.scheduledColumn(); err != nil {
		return err
	}
	rows, err := s.q(ctx).UpdateSubscription(ctx, p)
	if err != nil {
		return sqldb.Wrap(err, "update subscription")
	}
	if rows != 1 {
		return errOvertaken
	}
	return journal.Note(ctx, s.db, n.TenantID, n.ID, n.effectiveAt, n.pastDiscount)
}

// countDeparture counts a departed member on the tenant's subscription, if there is one.
func (s store) countDeparture(ctx context.Context, tenantID uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).CountDeparture(ctx, tenantID), "count departure")
}

// deductDepartures subtracts departures that the billed quantity already reflects.
func (s store) deductDepartures(ctx context.Context, sub Subscription, followed int64) error {
	err := s.q(ctx).DeductDepartures(ctx, subscriptionsql.DeductDeparturesParams{TenantID: sub.TenantID, ID: sub.ID, Followed: followed})
	return sqldb.Wrap(err, "deduct departures")
}

func (s store) setReason(ctx context.Context, sub Subscription, reason *string, now time.Time) error {
	err := s.q(ctx).SetCancellationReason(ctx, subscriptionsql.SetCancellationReasonParams{
		TenantID: sub.TenantID, ID: sub.ID, CancellationReason: reason, UpdatedAt: now,
	})
	return sqldb.Wrap(err, "set cancellation reason")
}

// markTrialEndMailed records that the tenant is mailed about the end of its trial. It reports false
// if that was recorded before, or if the subscription ends with the trial.
func (s store) markTrialEndMailed(ctx context.Context, sub Subscription) (bool, error) {
	n, err := s.q(ctx).MarkTrialEndMailed(ctx, subscriptionsql.MarkTrialEndMailedParams{TenantID: sub.TenantID, ID: sub.ID})
	return n == 1, sqldb.Wrap(err, "record the trial end email")
}

// listPlansOfPrice lists the plans that use a price of the provider, oldest price first.
func (s store) listPlansOfPrice(ctx context.Context, pspPriceID string) ([]uuid.UUID, error) {
	plans, err := s.q(ctx).PlansOfPSPPrice(ctx, &pspPriceID)
	return plans, sqldb.Wrap(err, "list plans of a price")
}

// minorUnits returns the number of decimals of a currency.
func (s store) minorUnits(ctx context.Context, currency string) (int, error) {
	units, err := s.q(ctx).MinorUnits(ctx, currency)
	return int(units), sqldb.Wrap(err, "read minor units")
}

// countDefaultTenants counts the tenants that have a plan as the default plan.
func (s store) countDefaultTenants(ctx context.Context, planID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountDefaultTenants(ctx, planID)
	return n, sqldb.Wrap(err, "count the tenants with the default plan")
}

// countCustomers counts the tenants with a subscription to a plan by the price that they pay.
func (s store) countCustomers(ctx context.Context, planID uuid.UUID) ([]PriceCustomers, error) {
	rows, err := s.q(ctx).CustomersOfPlan(ctx, planID)
	customers := make([]PriceCustomers, len(rows))
	for i, r := range rows {
		customers[i] = PriceCustomers{
			Price: r.PriceID, Currency: r.Currency, Amount: r.PriceCents, IntervalUnit: r.IntervalUnit, IntervalCount: r.IntervalCount,
			Tenants: r.Tenants,
		}
	}
	return customers, sqldb.Wrap(err, "count the customers of a plan")
}
