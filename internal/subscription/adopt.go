package subscription

import (
	"context"
	"errors"
	"math"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

const (
	// JobRefuse is the kind of job that cancels and refunds the second of two paid checkouts.
	JobRefuse = "subscription.refuse"
	// JobRetire is the kind of job that cancels a replaced subscription at the provider.
	JobRetire = "subscription.retire"
)

// Adoption is the decision about a provider's subscription that is not stored yet.
type Adoption uint8

// The decisions (rules: subscription#read-back). A tenant has at most one subscription that is not
// over.
const (
	// AdoptFirst stores the new subscription, because the tenant has no other subscription.
	AdoptFirst Adoption = iota
	// AdoptReplacing stores the new subscription in place of the tenant's other subscription, because
	// its checkout was opened to replace the other one.
	AdoptReplacing
	// AdoptLater applies AdoptReplacing once the new subscription is paid. Until then, the other
	// subscription stays.
	AdoptLater
	// AdoptRefused cancels and refunds the new subscription: it is the second of two paid checkouts,
	// it begins with a trial that the tenant has already had, or the tenant has been deleted.
	AdoptRefused
	// AdoptIgnored does nothing. The subscription was not bought through this service, and the tenant
	// has another subscription or was deleted.
	AdoptIgnored
)

// adoption is the decision on a new subscription, with the checkout and the subscription that it is
// based on.
type adoption struct {
	Adoption
	opened checkout     // the checkout that bought it, zero if there is none
	other  Subscription // the tenant's current subscription, zero if there is none
}

// isBought reports whether the subscription was bought by a checkout of this service.
func (a adoption) isBought() bool { return a.opened.id != uuid.Nil }

// adopt stores a new subscription, under the tenant's lock and according to its adoption.
//
// Invariants: a replacement is one step, so that the tenant is never without a subscription. The
// old subscription ends here first. A job that is enqueued in the same step then ends it at the
// provider. A subscription that is not over belongs to the tenant's only customer, which is stored
// with the first subscription. A trial is recorded in the step that stores its subscription, and a
// refused checkout stays refused.
func (s *Service) adopt(ctx context.Context, next Subscription, remote psp.Subscription) error {
	_, err := s.store.byPSPID(ctx, next.PSPSubscriptionID)
	if err == nil {
		return errOvertaken
	}
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	if !next.Status.IsOver() {
		stored, err := s.deps.Customers.StoreFirst(ctx, next.TenantID, remote.CustomerID)
		if err != nil {
			return err
		}
		if stored != remote.CustomerID {
			return errOvertaken
		}
	}
	a, err := s.decideAdoption(ctx, next, remote)
	if err != nil {
		return err
	}
	switch a.Adoption {
	case AdoptRefused:
		return s.refuse(ctx, a.opened, next.PSPSubscriptionID, remote.LatestInvoiceID)
	case AdoptIgnored:
		s.deps.Log.WarnContext(ctx, "unexpected subscription at the payment provider: tenant is deleted or already has a subscription",
			"tenant_id", next.TenantID, "psp_subscription_id", next.PSPSubscriptionID)
		return nil
	case AdoptLater:
		return s.mailReplacement(ctx, a, next)
	case AdoptReplacing:
		if err := s.replace(ctx, a.other); err != nil {
			return err
		}
	case AdoptFirst:
	}
	if err := s.keepDiscount(ctx, a.opened, &next); err != nil {
		return err
	}
	had, err := s.store.listAfter(ctx, next.TenantID, listStart, math.MaxInt32)
	if err != nil {
		return err
	}
	_, err = s.deps.Catalog.DefaultPlan(ctx)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	if next.former, err = inheritFormerTerms(had, next, err == nil); err != nil {
		return err
	}
	if err := s.store.insert(ctx, next); err != nil {
		return err
	}
	return s.completeAdoption(ctx, a, next)
}

// completeAdoption applies the consequences of storing a new subscription.
func (s *Service) completeAdoption(ctx context.Context, a adoption, next Subscription) error {
	if err := s.recordTrial(ctx, a, next); err != nil {
		return err
	}
	if err := s.enqueueCardRequest(ctx, next); err != nil {
		return err
	}
	if err := s.redeemBought(ctx, a, next); err != nil {
		return err
	}
	if err := s.enqueueDiscount(ctx, next); err != nil {
		return err
	}
	if err := s.publish(ctx, hook.SubscriptionCreated, next); err != nil {
		return err
	}
	if err := s.completeContract(ctx, a, next); err != nil {
		return err
	}
	if a.isBought() && next.Status.IsRunning() {
		if err := s.mailStart(ctx, next); err != nil {
			return err
		}
		if err := s.deps.Tenants.PreferCurrency(ctx, next.TenantID, next.Currency); err != nil {
			return err
		}
	}
	members, err := s.deps.Tenants.CountMembers(ctx, next.TenantID)
	if err != nil || members <= next.Quantity {
		return err
	}
	return s.SeatsChanged(ctx, next.TenantID) // members joined after the checkout was opened
}

// redeemBought counts the redemption of the checkout or the contract of a new subscription.
func (s *Service) redeemBought(ctx context.Context, a adoption, next Subscription) error {
	switch {
	case !a.isBought():
		return nil
	case a.opened.contract != nil:
		return s.redeemContract(ctx, a.opened, next)
	}
	return s.redeem(ctx, a.opened.id, next, nil)
}

// refuse enqueues the cancellation and the refund of a subscription that a checkout or a contract has
// started.
func (s *Service) refuse(ctx context.Context, opened checkout, pspID, invoiceID string) error {
	if err := s.store.refuseCheckout(ctx, opened.tenantID, opened.id, s.deps.Clock.Now()); err != nil {
		return err
	}
	if err := s.deps.Discounts.Release(ctx, opened.tenantID, opened.id); err != nil {
		return err
	}
	r := refusedCheckout{SubscriptionID: pspID, SessionID: opened.session}
	if opened.contract != nil {
		r = refusedCheckout{SubscriptionID: pspID, InvoiceID: invoiceID}
	}
	// The key includes the session, because the session may become known only after the first refusal.
	return s.deps.Jobs.Enqueue(ctx, JobRefuse, r, jobs.Key(pspID+" "+opened.session))
}

// recordTrial records the trial that a subscription begins with, if any, for the plan that was
// bought.
func (s *Service) recordTrial(ctx context.Context, a adoption, next Subscription) error {
	if next.TrialEndsAt == nil || a.opened.refused {
		return nil
	}
	plan := next.PlanID
	if a.isBought() {
		plan = a.opened.planID // the subscription may have changed its plan since
	}
	owner, err := s.deps.Tenants.Owner(ctx, next.TenantID)
	if err != nil {
		return err
	}
	var ownerID *int64
	if owner != nil {
		ownerID = &owner.UserID
	}
	return s.store.insertTrial(ctx, plan, next, ownerID)
}

// DecideAdoption decides on a new subscription. other is the tenant's current subscription, zero if
// there is none.
func (s *Service) DecideAdoption(ctx context.Context, next Subscription, remote psp.Subscription) (a Adoption, other Subscription, err error) {
	found, err := s.decideAdoption(ctx, next, remote)
	return found.Adoption, found.other, err
}

func (s *Service) decideAdoption(ctx context.Context, next Subscription, remote psp.Subscription) (adoption, error) {
	var a adoption
	var err error
	a.opened, err = s.findCheckout(ctx, next.TenantID, remote.Metadata[metaCheckout])
	if err != nil && !errors.Is(err, errNoCheckout) {
		return a, err
	}
	if next.Status.IsOver() {
		return a, nil
	}
	if a.isBought() && next.TrialEndsAt != nil && !a.opened.refused && a.opened.contract == nil {
		if a.opened.refused, err = s.store.hadTrial(ctx, next.TenantID, a.opened.planID); err != nil {
			return a, err
		}
	}
	a.other, err = s.store.loadCurrent(ctx, next.TenantID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return a, err
	}
	alone := err != nil
	t, err := s.deps.Tenants.Get(ctx, next.TenantID)
	if err != nil {
		return a, err
	}
	deleted := t.DeletedAt != nil
	switch {
	case deleted && !a.isBought():
		a.Adoption = AdoptIgnored
	case deleted:
		a.Adoption = AdoptRefused
	case a.opened.refused:
		a.Adoption = AdoptRefused
	case alone:
		a.Adoption = AdoptFirst
	case !a.isBought():
		a.Adoption = AdoptIgnored
	case a.opened.replaces != a.other.ID:
		a.Adoption = AdoptRefused
	case !next.Status.IsRunning():
		a.Adoption = AdoptLater
	default:
		a.Adoption = AdoptReplacing
	}
	return a, nil
}

// findCheckout returns the checkout that started a tenant's subscription, by the ID in the
// metadata. It returns errNoCheckout if the subscription was not started by a checkout.
func (s *Service) findCheckout(ctx context.Context, tenantID uuid.UUID, id string) (checkout, error) {
	parsed, _ := uuid.Parse(id) // Nil for an invalid id; no checkout has it
	return s.store.loadCheckout(ctx, tenantID, parsed)
}

// replace ends a replaced subscription here and enqueues its end at the provider.
func (s *Service) replace(ctx context.Context, old Subscription) error {
	ended, err := s.endLocally(ctx, old)
	if err != nil {
		return err
	}
	if err := s.publishChange(ctx, old, ended); err != nil {
		return err
	}
	return s.enqueueRetire(ctx, old)
}

func (s *Service) enqueueRetire(ctx context.Context, old Subscription) error {
	return s.deps.Jobs.Enqueue(ctx, JobRetire, old.PSPSubscriptionID, jobs.Key(old.PSPSubscriptionID))
}

// RetireReplaced enqueues the end, at the provider, of a subscription that still runs there but was
// replaced here. It reports whether the subscription was replaced.
func (s *Service) RetireReplaced(ctx context.Context, sub Subscription) (bool, error) {
	replaced, err := s.store.hasSuccessor(ctx, sub)
	if err != nil || !replaced {
		return false, err
	}
	return true, s.enqueueRetire(ctx, sub)
}

// reasonMissing is the cancellation reason of a subscription that does not exist at the provider.
const reasonMissing = "The payment provider does not know this subscription."

// EndMissing ends a subscription that does not exist at the provider. It reports false if another
// state was stored since sub was read.
func (s *Service) EndMissing(ctx context.Context, sub Subscription) (bool, error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		ended, err := s.endLocally(ctx, sub)
		if err != nil {
			return err
		}
		reason := reasonMissing
		if err := s.store.setReason(ctx, sub, &reason, s.deps.Clock.Now()); err != nil {
			return err
		}
		if err := s.publishChange(ctx, sub, ended); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, sub.cancelEntry(ended, true, &reason))
	})
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// endLocally ends a subscription without calling the provider and returns the new state. It returns
// errOvertaken if another state was stored since it was read.
func (s *Service) endLocally(ctx context.Context, old Subscription) (Subscription, error) {
	now := s.deps.Clock.Now()
	ended := old
	ended.Status, ended.CancelAt, ended.CancelAtPeriodEnd, ended.CanceledAt, ended.UpdatedAt = Canceled, nil, false, &now, now
	ended.effectiveAt = now
	ended.Action, ended.Pending, ended.Scheduled, ended.ScheduleID = money.PaymentAction{}, nil, nil, ""
	var err error
	if ended.former, err = noteFormerTerms(old, ended, now); err != nil {
		return ended, err
	}
	return ended, s.store.update(ctx, ended)
}

// HandleRetire handles JobRetire. It ends a replaced subscription at the provider, which bills the
// usage until then. It is idempotent because its key is fixed.
func (s *Service) HandleRetire(ctx context.Context, job jobs.Job) error {
	var id string
	if err := job.Decode(&id); err != nil {
		return err
	}
	old, err := s.store.byPSPID(ctx, id)
	if err != nil {
		return err
	}
	if err := s.deps.Usage.Settle(ctx, old.TenantID); err != nil {
		return psp.MarkPermanent(err)
	}
	_, err = s.deps.Provider.EndSubscription(ctx, id, "retired-"+id)
	return psp.MarkPermanent(err)
}

// refusedCheckout names an unwanted second subscription and the checkout that paid for it.
type refusedCheckout struct {
	SubscriptionID string `json:"subscription_id"`
	SessionID      string `json:"session_id"`
	InvoiceID      string `json:"invoice_id,omitempty"` // the first invoice of a subscription without a checkout
}

// HandleRefuse handles JobRefuse. It cancels the subscription at the provider and refunds its
// checkout. It is idempotent because its keys are fixed.
func (s *Service) HandleRefuse(ctx context.Context, job jobs.Job) error {
	var r refusedCheckout
	if err := job.Decode(&r); err != nil {
		return err
	}
	_, err := s.deps.Provider.CancelSubscription(ctx, r.SubscriptionID, "refuse-"+r.SubscriptionID)
	if err != nil && !errors.Is(err, psp.ErrNotFound) {
		return psp.MarkPermanent(err)
	}
	if r.SessionID != "" {
		if err := s.deps.Provider.RefundCheckout(ctx, r.SessionID, "refund-"+r.SubscriptionID); err != nil {
			return psp.MarkPermanent(err)
		}
	}
	if r.InvoiceID != "" {
		if err := s.deps.Provider.RefundInvoice(ctx, r.InvoiceID, "refund-"+r.SubscriptionID); err != nil {
			return psp.MarkPermanent(err)
		}
	}
	s.deps.Log.InfoContext(ctx, "second subscription canceled", "psp_subscription_id", r.SubscriptionID)
	return nil
}
