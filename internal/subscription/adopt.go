package subscription

import (
	"context"
	"errors"
	"math"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

const (
	// JobRefuse is the kind of the jobs that cancel the second of two paid checkouts
	// and refund it.
	JobRefuse = "subscription.refuse"
	// JobRetire is the kind of the jobs that cancel, at the provider, a subscription
	// that was replaced here.
	JobRetire = "subscription.retire"
)

// Adoption is the fate of a subscription of the provider that is new here.
type Adoption uint8

// The kinds of adoption (rules: subscription#read-back). A tenant has at most one subscription that is not over.
const (
	// AdoptFirst stores it: the tenant has no other.
	AdoptFirst Adoption = iota
	// AdoptReplacing stores it in place of the tenant's other one, which its checkout
	// was opened to replace.
	AdoptReplacing
	// AdoptLater is AdoptReplacing once it is paid; until then the other one stays.
	AdoptLater
	// AdoptRefused cancels and refunds it: it is the second of two paid checkouts, or
	// begins with a trial that the tenant has had, or the tenant was deleted meanwhile.
	AdoptRefused
	// AdoptIgnored leaves it alone: it is the tenant's second one, or that of a deleted
	// tenant, and was not bought here.
	AdoptIgnored
)

// adoption is the fate of a new subscription, with the checkout and the subscription that
// decided it.
type adoption struct {
	Adoption
	opened checkout     // that bought it; zero without one
	other  Subscription // that the tenant has; zero without one
}

// isBought reports whether it was bought by a checkout here.
func (a adoption) isBought() bool { return a.opened.id != uuid.Nil }

// adopt stores a subscription that is new here, under the tenant's lock, as its
// adoption says.
//
// Invariants: a subscription is replaced in one step, so that the tenant is never
// without. The old one ends here first and then, by a job that is part of the step,
// at the provider. And a subscription that is not over belongs to the tenant's one
// customer, which is stored with the first. A trial is recorded in the step in which
// its subscription is stored, and a checkout that was refused stays so.
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
		return s.refuse(ctx, a.opened, next.PSPSubscriptionID)
	case AdoptIgnored:
		s.deps.Log.WarnContext(ctx, "a tenant has a subscription at the payment provider that was not bought here, and has another one or is deleted",
			"tenant_id", next.TenantID, "psp_subscription_id", next.PSPSubscriptionID)
		return nil
	case AdoptLater:
		return nil
	case AdoptReplacing:
		if err := s.replace(ctx, a.other); err != nil {
			return err
		}
	case AdoptFirst:
	}
	had, err := s.store.listAfter(ctx, next.TenantID, listStart, math.MaxInt32)
	if err != nil {
		return err
	}
	if next.former, err = inheritFormerTerms(had, next); err != nil {
		return err
	}
	if err := s.store.insert(ctx, next); err != nil {
		return err
	}
	return s.completeAdoption(ctx, a, next)
}

// completeAdoption has the consequences of storing a subscription that is new here.
func (s *Service) completeAdoption(ctx context.Context, a adoption, next Subscription) error {
	if err := s.recordTrial(ctx, a, next); err != nil {
		return err
	}
	if err := s.publish(ctx, hook.SubscriptionCreated, next); err != nil {
		return err
	}
	if a.isBought() && next.Status.IsRunning() {
		if err := s.deps.Tenants.PreferCurrency(ctx, next.TenantID, next.Currency); err != nil {
			return err
		}
	}
	members, err := s.deps.Tenants.CountMembers(ctx, next.TenantID)
	if err != nil || members <= next.Quantity {
		return err
	}
	return s.SeatsChanged(ctx, next.TenantID) // they joined after the checkout was opened
}

// refuse has a subscription canceled that a checkout has paid for, and refunded.
func (s *Service) refuse(ctx context.Context, opened checkout, pspID string) error {
	if err := s.store.refuseCheckout(ctx, opened.tenantID, opened.id, s.deps.Clock.Now()); err != nil {
		return err
	}
	r := refusedCheckout{SubscriptionID: pspID, SessionID: opened.session}
	// The session is part of the key: it may become known only after a first refusal.
	return s.deps.Jobs.Enqueue(ctx, JobRefuse, r, jobs.Key(pspID+" "+opened.session))
}

// recordTrial records the trial that a subscription begins with, if any, as one of
// the plan that was bought.
func (s *Service) recordTrial(ctx context.Context, a adoption, next Subscription) error {
	if next.TrialEndsAt == nil || a.opened.refused {
		return nil
	}
	plan := next.PlanID
	if a.isBought() {
		plan = a.opened.planID // whatever plan the subscription has by now
	}
	return s.store.insertTrial(ctx, plan, next)
}

// DecideAdoption decides on the adoption of a subscription that is new here; other is the
// subscription that the tenant has, zero if none.
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
	if a.isBought() && next.TrialEndsAt != nil && !a.opened.refused {
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

// findCheckout returns the checkout that started a tenant's subscription, by the id in
// the metadata; errNoCheckout for a subscription that came another way.
func (s *Service) findCheckout(ctx context.Context, tenantID uuid.UUID, id string) (checkout, error) {
	parsed, _ := uuid.Parse(id) // Nil for an invalid id; no checkout has it
	c, err := s.store.loadCheckout(ctx, parsed)
	if err == nil && c.tenantID != tenantID {
		return checkout{}, errNoCheckout
	}
	return c, err
}

// replace ends a subscription that another one replaces, and has the provider end it.
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

// RetireReplaced has the provider end a subscription that runs there and was
// replaced here; it reports whether it was.
func (s *Service) RetireReplaced(ctx context.Context, sub Subscription) (bool, error) {
	replaced, err := s.store.hasSuccessor(ctx, sub)
	if err != nil || !replaced {
		return false, err
	}
	return true, s.enqueueRetire(ctx, sub)
}

// reasonMissing is the cancellation reason of a subscription that the provider does
// not know.
const reasonMissing = "The payment provider does not know this subscription."

// EndMissing ends a subscription here that the provider does not know. It reports
// whether it did: another state may have been stored since sub was read.
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

// endLocally ends a subscription without the provider, and returns it as it is then;
// errOvertaken when another state was stored since it was read.
func (s *Service) endLocally(ctx context.Context, old Subscription) (Subscription, error) {
	now := s.deps.Clock.Now()
	ended := old
	ended.Status, ended.CancelAt, ended.CancelAtPeriodEnd, ended.CanceledAt, ended.UpdatedAt = Canceled, nil, false, &now, now
	ended.Action, ended.Pending = money.PaymentAction{}, nil
	var err error
	if ended.former, err = noteFormerTerms(old, ended, now); err != nil {
		return ended, err
	}
	return ended, s.store.update(ctx, ended)
}

// HandleRetire is the handler of JobRetire: it ends a replaced subscription at the
// provider, which bills the usage until then. Its key is fixed: a repetition changes nothing.
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

// refusedCheckout names a subscription that is not wanted next to another one, and
// the checkout that paid for it.
type refusedCheckout struct {
	SubscriptionID string `json:"subscription_id"`
	SessionID      string `json:"session_id"`
}

// HandleRefuse is the handler of JobRefuse: it cancels the subscription at the
// provider and gives back what its checkout took. The writes have fixed keys: a
// repetition changes nothing.
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
	s.deps.Log.InfoContext(ctx, "second subscription refused", "psp_subscription_id", r.SubscriptionID)
	return nil
}
