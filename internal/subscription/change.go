package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/tenant"
)

// This file holds a change of plan or of seats, from the request to the result. changePlan lists the
// steps; the functions below it follow in the order in which they run. The steps are explained in
// operation.go, which has the parts that all operations share.

// changeParams is a tenant's request to change to another plan.
type changeParams struct {
	planID uuid.UUID
	// promotionCode is the code of a discount that the change redeems, or empty.
	promotionCode string
	quantity      int64 // seats; 0 keeps the current number, but bills at least the members
	// URLs that the checkout returns to. Required only when a free plan changes to a paid one.
	successURL, cancelURL string
	// atPeriodEnd makes the change at the end of the period.
	atPeriodEnd bool
	// isUnseen makes the change at the current price, whatever a preview has shown to the tenant.
	isUnseen bool
	// forCustomer means that the platform acts for the customer, who is absent: a change that needs a
	// payment method mails the link to the owner.
	forCustomer bool
}

// changeResult is the result of a change: the updated subscription, or a hosted checkout that makes
// the change once it is paid.
type changeResult struct {
	sub       Subscription
	checkout  *psp.Checkout
	isPending bool // the payer must confirm the payment; until then the subscription is unchanged
	// action is the action that the payer must take if the change creates a replacing subscription that
	// waits for its first payment. Otherwise it is nil.
	action *money.PaymentAction
}

// changePlan moves the subscription that load returns to another plan, or changes the number of
// seats of its plan (rules: subscription#change-of-plan). It charges the amounts of the last
// preview immediately. The change is made in full or not at all. A change from a free plan to a
// paid one opens a checkout, and the subscription is replaced once the checkout is completed. If
// the payer has to confirm the payment, the change is pending until then.
//
// It rejects, in this order: no subscription (404), a status that does not allow a change
// (subscription_cannot_be_upgraded), an unknown plan (422), the same plan without another number of
// seats (plan_change_error), a plan without a price in the subscription's currency
// (plan_not_available_in_currency), missing URLs, too few or too many seats (422), a plan that
// allows less than the tenant uses (plan_change_error with violations), missing billing details
// (billing_not_ready), amounts that differ from the preview (preview_outdated), and a declined
// payment (plan_change_error).
func (s *Service) changePlan(ctx context.Context, load loader, p changeParams) (changeResult, error) {
	load = requireUpgradable(load)
	var bought *purchase // set if the change requires a checkout
	sub, err := s.operate(ctx, steps{
		load: load,
		check: func(ctx context.Context, sub Subscription) (in instruction, v verdict, err error) {
			in, v, bought, err = s.checkChange(ctx, sub, p)
			return in, v, err
		},
		repeats:     p.matches, // this and the next two belong to the claim step
		confirm:     s.confirmSeats,
		discountUse: s.useOfChange,
		send:        s.sendChange,
		explain:     explainChange,
	})
	switch {
	case errors.Is(err, errUsageChanged):
		return changeResult{}, s.newOutdatedError(ctx, load, p)
	case err != nil:
		return changeResult{}, err
	case bought != nil:
		return s.buyChange(ctx, *bought, p)
	}
	s.reapplyNow(ctx, sub)
	isPending := sub.Pending != nil && (sub.PlanID != p.planID || p.quantity != 0 && sub.Quantity != p.quantity)
	return changeResult{sub: sub, isPending: isPending}, nil
}

// requireUpgradable is the load step: it rejects a subscription whose status does not allow a change
// of plan.
func requireUpgradable(load loader) loader {
	return func(ctx context.Context) (Subscription, error) {
		sub, err := load(ctx)
		if err == nil && !sub.Status.IsRunning() {
			err = errNotUpgradable
		}
		return sub, err
	}
}

// checkChange is the check step: it applies the rules and prices the change. It returns the
// instruction, or the purchase if the change requires a checkout.
func (s *Service) checkChange(ctx context.Context, sub Subscription, p changeParams) (instruction, verdict, *purchase, error) {
	m, err := s.selectMove(ctx, sub, p)
	if err == nil && m.takesCheckout && !p.forCustomer {
		err = p.requireURLs()
	}
	var t tenant.Tenant
	if err == nil {
		t, err = s.requireMovable(ctx, m)
	}
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	isCurrent, err := s.readRemote(ctx, &m)
	if err != nil || !isCurrent {
		return instruction{}, outOfDate, nil, err
	}
	change, err := s.priceChange(ctx, m, p)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	if m.takesCheckout {
		return instruction{}, nothingToDo, &purchase{
			selection: m.selection, tenant: t, successURL: p.successURL, cancelURL: p.cancelURL, replaces: sub.ID, discount: m.redeems,
		}, nil
	}
	in := change.instruction(m)
	in.ForCustomer = p.forCustomer
	return in, mustSend, nil, nil
}

// requireURLs rejects missing URLs, named by their API fields.
func (p changeParams) requireURLs() error {
	var missing fault.Fields
	if p.successURL == "" {
		missing.Add("success_url", "validation.required")
	}
	if p.cancelURL == "" {
		missing.Add("cancel_url", "validation.required")
	}
	return missing.Err()
}

// priceChange returns the priced change to make.
func (s *Service) priceChange(ctx context.Context, m move, p changeParams) (pricedChange, error) {
	if p.isUnseen {
		return s.priceUnseen(ctx, m)
	}
	return s.priceAsShown(ctx, m, p.quantity)
}

// matches is part of the claim step. It reports whether an instruction changes to the same plan and,
// if a number of seats was given, to the same number.
func (p changeParams) matches(in instruction) bool {
	return in.Kind == opChange && in.PlanID == p.planID && (p.quantity == 0 || in.Quantity == p.quantity) &&
		(p.promotionCode == "") == (in.DiscountID == uuid.Nil)
}

// confirmSeats is part of the claim step. It reports whether the plan still has room for the team and
// the seats still suffice. Before the claim, only the old plan limits invitations and joins. After it,
// they see the stored operation.
func (s *Service) confirmSeats(ctx context.Context, sub Subscription, in instruction) (bool, error) {
	plan, err := s.deps.Catalog.Plan(ctx, in.PlanID)
	if err != nil {
		return false, err
	}
	if in.PlanID != sub.PlanID {
		tooLarge, err := s.deps.Entitlements.TeamTooLarge(ctx, sub.TenantID, plan)
		if err != nil || tooLarge {
			return false, err
		}
	}
	if plan.PricingType != catalog.PricingSeat {
		return true, nil
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	return members <= in.Quantity, err
}

// useOfChange is part of the claim step. It returns the use of the discount that a change redeems: the
// new plan at its price.
func (s *Service) useOfChange(ctx context.Context, sub Subscription, in instruction) (discount.Use, error) {
	u := discount.Use{TenantID: sub.TenantID, PlanID: in.PlanID, PriceCents: sub.PriceCents, Quantity: in.Quantity, Currency: sub.Currency}
	if in.PlanID == sub.PlanID {
		return u, nil
	}
	plan, err := s.deps.Catalog.Plan(ctx, in.PlanID)
	if err != nil {
		return u, err
	}
	price, _ := plan.PriceIn(sub.Currency)
	u.PriceCents = price.PriceCents
	return u, nil
}

// sendChange is the send step: it makes the change at the provider and drops a pending one. The
// change is paid or it is not made. If the payer has to confirm the payment, the change is pending.
// If the provider refuses the change, a scheduled change stays scheduled.
func (s *Service) sendChange(ctx context.Context, op operation) error {
	err := s.prepareChange(ctx, op)
	if err == nil {
		err = s.makeChange(ctx, op)
	}
	if isRefusal(err) && op.before.Scheduled != nil {
		s.restoreScheduled(ctx, op)
	}
	return err
}

// prepareChange reports the usage that the invoice of the change includes, ends a scheduled and a
// pending change, and collects the owed invoices.
//
// Invariant: while the subscription is past_due, a change that costs something does not create an
// invoice. The new invoice would be the latest one, and the provider considers a subscription paid
// if its latest invoice is paid. So the owed invoices are paid first, or the change is not made.
func (s *Service) prepareChange(ctx context.Context, op operation) error {
	if op.Usage == usageSettled {
		// The invoice includes the usage that the provider has by then.
		if err := s.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
			return err
		}
		if err := s.requireShownUsage(ctx, op); err != nil {
			return err
		}
	}
	if err := s.releaseSchedule(ctx, op); err != nil {
		return err
	}
	if err := s.dropPending(ctx, op); err != nil {
		return err
	}
	if op.PaysOwed {
		return s.payOwed(ctx, op)
	}
	return nil
}

// requireShownUsage returns errUsageChanged if the invoice of a change would bill other usage than
// the preview showed. It returns nil if an earlier attempt has already made the change.
func (s *Service) requireShownUsage(ctx context.Context, op operation) error {
	if op.ShownUsage == nil {
		return nil
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil || remote.PriceID == op.PriceID {
		return err
	}
	items, _, err := op.before.MeteredItems()
	if err != nil {
		return err
	}
	p, err := s.previewCost(ctx, op.before, pricedChange{Change: op.change(), metered: items})
	if err == nil && p.usage != *op.ShownUsage {
		err = errUsageChanged
	}
	return err
}

// makeChange calls the provider. If the payer has to confirm the payment, it makes the change again
// as a pending one.
func (s *Service) makeChange(ctx context.Context, op operation) error {
	change := op.change()
	metadata := map[string]string{metaPlan: op.PlanID.String()}
	if !op.isSeatsOnly() {
		metadata[subscriptions.MetaCustomPrice] = ""
	}
	_, err := s.deps.Provider.ChangeSubscription(ctx, change, metadata, op.key())
	// Pending updates do not take discounts
	// (https://docs.stripe.com/billing/subscriptions/pending-updates-reference).
	if errors.Is(err, psp.ErrActionRequired) && op.before.Status != PastDue && !change.IsSent && !change.ChangesDiscount() {
		return s.sendPending(ctx, op, change)
	}
	if err == nil {
		s.sendInvoices(ctx, op, false)
	}
	return err
}

// explainChange is part of the settle step. It converts a declined payment to errDeclined and any other
// refusal of the provider to errChangeRefused.
func explainChange(refusal error) error {
	switch {
	case errors.Is(refusal, errUsageChanged):
		return refusal
	case errors.Is(refusal, psp.ErrDeclined):
		return errDeclined.Wrap(refusal)
	default:
		return errChangeRefused.Wrap(refusal)
	}
}

// newOutdatedError returns preview_outdated for a change whose usage has changed since its preview.
// The error contains a new preview.
func (s *Service) newOutdatedError(ctx context.Context, load loader, p changeParams) error {
	next, err := s.previewChange(ctx, load, p)
	if err != nil {
		return err
	}
	return errOutdated.With("preview", newChangePreview(next))
}

// buyChange makes a change from a free plan to a paid one, which starts another subscription: in a
// checkout, or with the saved payment method if the platform acts for the customer.
func (s *Service) buyChange(ctx context.Context, bought purchase, p changeParams) (changeResult, error) {
	if p.forCustomer {
		return s.replaceFree(ctx, bought)
	}
	session, err := s.openCheckout(ctx, bought)
	return changeResult{checkout: &session}, err
}
