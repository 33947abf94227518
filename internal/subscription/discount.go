package subscription

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/promo"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// limitedSession is the lifetime of a checkout session whose promotion code has a maximum number of
// redemptions. The provider allows 30 minutes to 24 hours
// (https://docs.stripe.com/api/checkout/sessions/create#create_checkout_session-expires_at).
const limitedSession = time.Hour

// use returns the discount.Use of this purchase.
func (p purchase) use() discount.Use {
	return discount.Use{
		TenantID: p.tenant.ID, PlanID: p.plan.ID, PriceCents: p.price.PriceCents, Quantity: p.quantity, Currency: p.price.Currency,
	}
}

// sessionEnd returns the end of the session of a checkout that was stored at the given time, or
// zero for the provider's default.
func (p purchase) sessionEnd(stored time.Time) time.Time {
	if p.discount == nil || p.discount.MaxRedemptions == nil {
		return time.Time{}
	}
	return stored.Add(limitedSession)
}

// findDiscount returns the discount of a code, or nil for the empty code. If the code is used up,
// it first reads back the checkouts whose sessions should be over, in case a notification was lost.
func (s *Service) findDiscount(ctx context.Context, code string, u discount.Use) (*discount.Discount, error) {
	d, err := s.deps.Discounts.Find(ctx, code, u)
	if !discount.IsUsedUp(err) {
		return d, err
	}
	if err := s.settleHolds(ctx, code); err != nil {
		return nil, err
	}
	return s.deps.Discounts.Find(ctx, code, u)
}

// settleHolds ends the expired holds of a code. If the session was paid, the code is redeemed;
// otherwise the hold is released. A checkout without a known session was never shown.
func (s *Service) settleHolds(ctx context.Context, code string) error {
	holders, err := s.deps.Discounts.ExpiredHolds(ctx, code)
	if err != nil {
		return err
	}
	for _, h := range holders {
		c, err := s.store.loadCheckout(ctx, h.TenantID, h.ID)
		switch {
		case err != nil && !errors.Is(err, errNoCheckout):
			return err
		case err == nil && c.contract != nil:
			err = s.settleContractHold(ctx, c)
		case err != nil || c.session == "":
			err = s.deps.Discounts.Release(ctx, h.TenantID, h.ID)
		default:
			err = s.readCheckout(ctx, c.session)
		}
		if errors.Is(err, psp.ErrNotFound) { // unknown sessions cannot be paid
			err = s.deps.Discounts.Release(ctx, h.TenantID, h.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settleContractHold ends the hold of a subscription that the platform has created, if the first
// payment has arrived or the subscription has expired. A request with an unknown outcome keeps its
// hold.
func (s *Service) settleContractHold(ctx context.Context, c checkout) error {
	id := c.session
	if id == "" {
		customerID, err := s.deps.Customers.Customer(ctx, c.tenantID)
		if err != nil || customerID == "" {
			return err
		}
		remote, err := s.deps.Provider.FindSubscription(ctx, customerID, map[string]string{metaCheckout: c.id.String()})
		if err != nil {
			if errors.Is(err, psp.ErrNotDone) {
				err = nil
			}
			return err
		}
		id = remote.ID
	}
	return s.ReadBack(ctx, id, nil)
}

// storeCheckout stores a checkout with the hold of its discount, in one transaction, and returns
// it. If the checkout is already stored, storeCheckout changes nothing.
func (s *Service) storeCheckout(ctx context.Context, id uuid.UUID, bought purchase, now time.Time) (c checkout, _ error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if bought.discount != nil {
			if _, err := s.deps.Tenants.Lock(ctx, bought.tenant.ID); err != nil {
				return err
			}
		}
		_, err := s.store.loadCheckout(ctx, bought.tenant.ID, id)
		isNew := errors.Is(err, errNoCheckout)
		if err != nil && !isNew {
			return err
		}
		if err := s.store.insertCheckout(ctx, id, bought, now); err != nil {
			return err
		}
		if c, err = s.store.loadCheckout(ctx, bought.tenant.ID, id); err != nil || !isNew || bought.discount == nil {
			return err
		}
		var until *time.Time
		if end := bought.sessionEnd(c.createdAt); !end.IsZero() {
			until = &end
		}
		return s.deps.Discounts.Hold(ctx, id, bought.discount.ID, bought.use(), until)
	})
	return c, err
}

// expireCheckout records that the provider has expired a session, and releases its discount.
func (s *Service) expireCheckout(ctx context.Context, tenantID uuid.UUID, session string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ended, err := s.store.expireCheckout(ctx, tenantID, session, s.deps.Clock.Now())
		if err != nil {
			return err
		}
		for _, c := range ended {
			if err := s.deps.Discounts.Release(ctx, c.tenantID, c.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// redeem counts, once, the redemption that a checkout or an operation holds, and records it. Call
// it in the transaction that stores the state. former is the replaced discount, or nil.
func (s *Service) redeem(ctx context.Context, holder uuid.UUID, sub Subscription, former *discount.Discount) error {
	d, err := s.deps.Discounts.Redeem(ctx, sub.TenantID, holder)
	if err != nil || d == nil {
		return err
	}
	return s.deps.Audit.Record(ctx, sub.discountEntry("subscription.promotion_code_applied", former, d))
}

// discountEntry returns the audit entry for a change of the discount.
func (s Subscription) discountEntry(action string, before, after *discount.Discount) audit.Entry {
	code := func(d *discount.Discount) map[string]any {
		if d == nil {
			return map[string]any{"promotion_code": nil}
		}
		return map[string]any{"promotion_code": d.Code}
	}
	return audit.Entry{
		Action: action, TenantID: &s.TenantID, Resource: "subscription", ResourceID: s.ID.String(), Before: code(before), After: code(after),
	}
}

// recordDiscount redeems the discount of an operation, and records its removal.
func (s *Service) recordDiscount(ctx context.Context, op operation, after Subscription) error {
	ctx = op.by.NewContext(ctx)
	if op.discountSetting().IsZero() {
		return nil
	}
	var former *discount.Discount
	if live := op.before.liveDiscount(); live != nil {
		d, err := s.deps.Discounts.Load(ctx, live.ID)
		if err != nil {
			return err
		}
		former = &d
	}
	if op.DiscountID != uuid.Nil {
		return s.redeem(ctx, op.id, after, former)
	}
	return s.deps.Audit.Record(ctx, after.discountEntry("subscription.promotion_code_removed", former, nil))
}

// holdDiscount holds the discount that a new operation redeems.
func (s *Service) holdDiscount(ctx context.Context, op operation, o steps) error {
	if op.DiscountID == uuid.Nil {
		return nil
	}
	u, err := o.discountUse(ctx, op.before, op.instruction)
	if err != nil {
		return err
	}
	return s.deps.Discounts.Hold(ctx, op.id, op.DiscountID, u, nil)
}

// selectDiscount sets the discount that a move redeems. If the move does not redeem a discount,
// selectDiscount records whether the current discount covers the new plan.
func (s *Service) selectDiscount(ctx context.Context, m *move, code string) (err error) {
	u := discount.Use{
		TenantID: m.sub.TenantID, PlanID: m.plan.ID, PriceCents: m.price.PriceCents, Quantity: m.quantity, Currency: m.sub.Currency,
	}
	if m.redeems, err = s.findDiscount(ctx, code, u); err != nil || m.redeems != nil || m.sub.liveDiscount() == nil {
		return err
	}
	present, err := s.deps.Discounts.Load(ctx, m.sub.Discount.ID)
	m.drops = err == nil && !m.takesCheckout && !present.Covers(m.plan.ID, m.price.PriceCents)
	return err
}

// discountKey returns the key that distinguishes the previews of a change by their discount. A change
// at the end of the period redeems no discount and has its own key.
func (m move) discountKey() string {
	switch {
	case m.atPeriodEnd:
		return "period_end"
	case m.redeems == nil:
		return ""
	default:
		return m.redeems.ID.String()
	}
}

// discountSetting returns the discount that an operation sets at the provider.
func (op operation) discountSetting() promo.Setting {
	return promo.Setting{PromotionCodeID: op.PSPCodeID, Removes: op.DropsDiscount}
}

// changesDiscountTo reports whether a state shows the effect of opDiscount.
func (op operation) changesDiscountTo(after Subscription) bool {
	before := op.before.Discount
	if op.DropsDiscount {
		return before != nil && after.Discount == nil
	}
	return after.Discount != nil && after.Discount.ID == op.DiscountID && (before == nil || before.PSPID != after.Discount.PSPID)
}

// offOf returns the discount on an amount. It is used only for purchases that do not exist at the
// provider yet; otherwise the provider computes the discount.
func (s *Service) offOf(ctx context.Context, d *discount.Discount, amount int64, currency string) (int64, error) {
	if d == nil {
		return 0, nil
	}
	step, err := s.deps.Discounts.Step(ctx, currency)
	return d.Reduction(amount, currency, step), err
}

// discountNext reduces the next regular bill of an outlook by the discount that applies then.
func (s *Service) discountNext(ctx context.Context, m move, change psp.Change, from time.Time, o *outlook) error {
	d := m.redeems
	var end *time.Time
	switch {
	case d != nil:
		end = d.EndsAfter(from)
	case m.sub.Discount == nil || m.drops:
		return nil
	default:
		present, err := s.deps.Discounts.Load(ctx, m.sub.Discount.ID)
		if err != nil {
			return err
		}
		d, end = &present, m.sub.Discount.EndsAt
	}
	startsTrial := m.sub.Status == Trialing || !change.TrialEnd.IsZero() ||
		m.takesCheckout && !o.nextBillingAt.Equal(addInterval(from, m.plan.Interval))
	billsNothing := change.Unprorated && !m.beginsPeriod() // without an invoice, nothing uses up the discount
	if d.Duration == discount.Once && !startsTrial && !billsNothing || end != nil && !o.nextBillingAt.Before(*end) {
		return nil
	}
	off, err := s.offOf(ctx, d, o.nextAmount, m.sub.Currency)
	o.nextAmount -= off
	return err
}

// mergeDiscount sets the discount of a subscription from the provider's state.
//
// Invariant: a trial does not use up a discount with the duration once. At the provider, the
// trial's invoice of 0 can end the discount. Until the end of the trial, the discount therefore
// stays here, and JobDiscount applies it again.
func (s *Service) mergeDiscount(ctx context.Context, known Subscription, next *Subscription, remote psp.Subscription) error {
	next.Discount, next.discountCents = nil, 0
	if id := discount.IDOfCoupon(remote.CouponID); id != uuid.Nil {
		next.Discount = &Discount{ID: id, PSPID: remote.DiscountID, EndsAt: remote.DiscountEndsAt}
	}
	if next.Discount == nil && known.ID != uuid.Nil && next.Status == Trialing {
		unused, err := s.unusedDiscount(ctx, known, *next, remote)
		if err != nil {
			return err
		}
		if unused != uuid.Nil {
			next.Discount = &Discount{ID: unused}
		}
	}
	if next.Discount == nil && known.Discount.appliesToPeriodOf(*next) {
		next.Discount = &Discount{ID: known.Discount.ID, EndsAt: known.Discount.EndsAt}
	}
	if next.Discount == nil {
		return nil
	}
	d, err := s.deps.Discounts.Load(ctx, next.Discount.ID)
	isForeign := errors.Is(err, catalog.ErrNotFound) // the coupon belongs to another database
	if isForeign || err == nil && next.Discount.isOver() && !d.Covers(next.PlanID, next.PriceCents) {
		next.Discount = nil
		return nil
	}
	if err == nil && d.Duration != discount.Once {
		next.discountCents, err = s.offOf(ctx, &d, next.PriceCents*next.Quantity, next.Currency)
	}
	return err
}

// appliesToPeriodOf reports whether a repeating discount that has ended applies to the period of a
// state, because the period began before the discount ended.
func (d *Discount) appliesToPeriodOf(next Subscription) bool {
	return d != nil && d.EndsAt != nil && next.Status != Trialing && !next.Status.IsOver() &&
		!next.UpdatedAt.Before(*d.EndsAt) && next.CurrentPeriodStart.Before(*d.EndsAt)
}

// findPastDiscount returns the discount that applied when a state took effect, if it has ended since and
// the state is read only now. Otherwise it returns nil.
func (s *Service) findPastDiscount(ctx context.Context, known, next Subscription) (*journal.PastDiscount, error) {
	own := known.Discount
	if own == nil || next.Discount != nil || own.EndsAt == nil || !next.effectiveAt.Before(*own.EndsAt) || next.UpdatedAt.Before(*own.EndsAt) {
		return nil, nil //nolint:nilnil // no such discount
	}
	d, err := s.deps.Discounts.Load(ctx, own.ID)
	if err != nil || !d.Covers(next.PlanID, next.PriceCents) {
		return nil, err
	}
	off, err := s.offOf(ctx, &d, next.PriceCents*next.Quantity, next.Currency)
	return &journal.PastDiscount{Cents: off, EndsAt: *own.EndsAt}, err
}

// unusedDiscount returns the ID of a discount with the duration once that the invoice of a trial has
// ended at the provider without using it: the subscription had it, and no operation removes or replaces
// it, or the change of plan redeems it. Otherwise it returns uuid.Nil.
func (s *Service) unusedDiscount(ctx context.Context, known, next Subscription, remote psp.Subscription) (id uuid.UUID, _ error) {
	op, isPending, err := s.store.pendingOperation(ctx, known)
	if err != nil {
		return uuid.Nil, err
	}
	isChange := isPending && op.Kind == opChange && op.PlanID == next.PlanID
	switch {
	case isPending && !op.discountSetting().IsZero():
		if isChange {
			id = op.DiscountID
		}
	case known.Discount != nil && (known.Status == Trialing || isChange):
		id = known.Discount.ID
	}
	if id == uuid.Nil {
		return uuid.Nil, nil
	}
	d, err := s.deps.Discounts.Load(ctx, id)
	if err != nil || d.Duration != discount.Once {
		return uuid.Nil, err
	}
	if isChange { // its invoice can bill usage, which uses the discount
		in, err := s.deps.Provider.GetInvoice(ctx, remote.LatestInvoiceID)
		if err != nil || in.Discount > 0 {
			return uuid.Nil, err
		}
	}
	return id, nil
}

// keepDiscount keeps the discount of a checkout whose trial has used it up at the provider.
func (s *Service) keepDiscount(ctx context.Context, opened checkout, next *Subscription) error {
	if opened.discountID == uuid.Nil || next.Discount != nil || next.Status != Trialing {
		return nil
	}
	d, err := s.deps.Discounts.Load(ctx, opened.discountID)
	if err == nil && d.Duration == discount.Once {
		next.Discount = &Discount{ID: d.ID}
	}
	return err
}

// nextAmount returns the amount of the next regular bill of a subscription, without usage.
func (s *Service) nextAmount(ctx context.Context, sub Subscription) (int64, error) {
	amount, own, price := sub.PriceCents*sub.Quantity, sub.Discount, sub.PriceCents
	if c := sub.Scheduled; c != nil {
		amount, price = c.PriceCents*c.Quantity, c.PriceCents
	}
	if own == nil || own.EndsAt != nil && !sub.CurrentPeriodEnd.Before(*own.EndsAt) {
		return amount, nil
	}
	d, err := s.deps.Discounts.Load(ctx, own.ID)
	if err != nil {
		return 0, err
	}
	if !d.Covers(sub.nextPlanID(), price) {
		return amount, nil
	}
	off, err := s.offOf(ctx, &d, amount, sub.Currency)
	return amount - off, err
}

// isWaived reports whether a discount takes everything off for as long as the subscription lasts.
func (s Subscription) isWaived() bool {
	return s.Discount != nil && s.Discount.EndsAt == nil && s.discountCents > 0 && s.discountCents == s.PriceCents*s.Quantity
}

// viewDiscount returns the view of a subscription's discount. It returns nil without a discount, or if
// the discount or the subscription has ended.
func (s viewMaker) viewDiscount(ctx context.Context, sub Subscription) (*SubscriptionDiscount, error) {
	own := sub.Discount
	if own == nil || sub.Status.IsOver() || own.EndsAt != nil && !s.deps.Clock.Now().Before(*own.EndsAt) {
		return nil, nil //nolint:nilnil // no discount
	}
	d, err := loadOnce(ctx, s.discounts, own.ID, s.deps.Discounts.Load)
	if err != nil {
		return nil, err
	}
	v := &SubscriptionDiscount{
		Code: d.Code, Name: d.Name.Localize(i18n.Locale(ctx)), PercentOff: discount.PercentView(d.PercentOff), EndsAt: shape.TP(own.EndsAt),
	}
	if cents, ok := d.AmountIn(sub.Currency); ok {
		v.Amount = &money.Money{AmountCents: cents, Currency: sub.Currency}
	}
	return v, nil
}

// RefuseCodeOfDefault refuses a promotion code for the default plan, which is free.
func (s *Service) RefuseCodeOfDefault(ctx context.Context, plan catalog.Plan, code string) error {
	if !plan.IsDefault || strings.TrimSpace(code) == "" {
		return nil
	}
	_, err := s.findDiscount(ctx, code, discount.Use{PlanID: plan.ID})
	return err
}

// CheckCode refuses a promotion code that a new tenant, which is not stored yet, cannot use.
func (s *Service) CheckCode(ctx context.Context, plan catalog.Plan, p CheckoutParams) error {
	price, _ := plan.PriceIn(p.Currency)
	quantity := int64(1)
	if plan.PricingType == catalog.PricingSeat {
		quantity = p.Quantity
	}
	_, err := s.findDiscount(ctx, p.PromotionCode, discount.Use{
		PlanID: plan.ID, PriceCents: price.PriceCents, Quantity: quantity, Currency: p.Currency,
	})
	return err
}

// UsageDiscount returns a function that computes the discount on the usage lines of the next regular
// invoice, in minor units, or nil without a discount. A percentage is taken off each line; an amount is
// taken off the plan's fee first.
func (s *Service) UsageDiscount(ctx context.Context, sub Subscription) (func(lines []int64) int64, error) {
	own := sub.Discount
	if own == nil || own.EndsAt != nil && !sub.CurrentPeriodEnd.Before(*own.EndsAt) {
		return nil, nil //nolint:nilnil // no discount
	}
	d, err := s.deps.Discounts.Load(ctx, own.ID)
	if err != nil {
		return nil, err
	}
	step, err := s.deps.Discounts.Step(ctx, sub.Currency)
	return func(lines []int64) (off int64) {
		if d.PercentOff != nil {
			for _, line := range lines {
				off += d.Reduction(line, sub.Currency, step)
			}
			return off
		}
		total := sub.PriceCents * sub.Quantity
		fee := total
		for _, line := range lines {
			total += line
		}
		return max(d.Reduction(total, sub.Currency, step)-fee, 0)
	}, err
}
