package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/tenant"
)

// JobCard is the kind of job that asks a tenant for a payment method before its trial ends.
const JobCard = "subscription.card"

// cardNotice is how long before the end of a trial the tenant is asked for a payment method.
const cardNotice = 7 * 24 * time.Hour

// lacksCard reports whether the subscription is a trial that will be canceled at its end unless a
// payment method is added.
func (s Subscription) lacksCard() bool {
	return s.Status == Trialing && s.TrialEndsAt != nil && !s.HasPaymentMethod && !s.IsEnding() && !s.isWaived() && !s.Terms.IsSent()
}

// asksForCard reports whether the tenant must be asked for a payment method at the given time.
func (s Subscription) asksForCard(now time.Time) bool {
	return s.lacksCard() && !now.Before(s.TrialEndsAt.Add(-cardNotice))
}

// paymentAction returns the action that the payer has to take now, or nil.
func (s *Service) paymentAction(sub Subscription) *money.PaymentAction {
	if sub.Action == (money.PaymentAction{}) && sub.asksForCard(s.deps.Clock.Now()) {
		return &money.PaymentAction{Type: money.ActionAddCard, URL: s.deps.BillingPage}
	}
	return sub.Action.OrNil()
}

// enqueueCardRequest enqueues the request for a payment method before the trial ends. Call it in the
// transaction that stores the state.
func (s *Service) enqueueCardRequest(ctx context.Context, sub Subscription) error {
	if !sub.lacksCard() {
		return nil
	}
	return s.deps.Jobs.Enqueue(ctx, JobCard, sub.PSPSubscriptionID,
		jobs.Key(sub.PSPSubscriptionID+" "+sub.TrialEndsAt.Format(time.RFC3339)), jobs.At(sub.TrialEndsAt.Add(-cardNotice)))
}

// HandleCard handles JobCard. It asks the tenant for a payment method, once per end date of the trial,
// by mail and by an event with the payment action. If the end was moved or a payment method was added
// in the meantime, it does nothing.
func (s *Service) HandleCard(ctx context.Context, job jobs.Job) error {
	var id string
	if err := job.Decode(&id); err != nil {
		return err
	}
	sub, err := s.store.byPSPID(ctx, id)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		sub, err := s.store.byPSPID(ctx, id)
		if err != nil || !sub.asksForCard(s.deps.Clock.Now()) {
			return err
		}
		isNew, err := s.store.markCardAsked(ctx, sub)
		if err != nil || !isNew {
			return err
		}
		if err := s.publish(ctx, hook.SubscriptionUpdated, sub); err != nil {
			return err
		}
		return s.mailTrial(ctx, sub, s.deps.Tenants.BillingEmail, s.deps.Letters.AddCard)
	})
}

// PaymentMethodEvent handles the notification that a customer changed, perhaps its default payment
// method. Only a trial without a payment method is read back.
func (s *Service) PaymentMethodEvent(ctx context.Context, e psp.Event) error {
	tenantID, err := s.deps.Customers.TenantOf(ctx, e.ObjectID)
	if errors.Is(err, customer.ErrForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	sub, err := s.store.loadCurrent(ctx, tenantID)
	if errors.Is(err, ErrNotFound) || err == nil && !sub.lacksCard() {
		return nil
	}
	if err != nil {
		return err
	}
	return s.TakeOver(ctx, sub.PSPSubscriptionID)
}

// mailTrialEnd mails the owner that the platform has moved the end of the trial.
func (s *Service) mailTrialEnd(ctx context.Context, sub Subscription) error {
	write := s.deps.Letters.TrialMoved
	if sub.Status != Trialing {
		write = s.deps.Letters.TrialEnded
		now := s.deps.Clock.Now() // the provider keeps the planned end of a trial that is canceled
		sub.TrialEndsAt = &now
	}
	return s.mailTrial(ctx, sub, s.ownerEmail, write)
}

// ownerEmail returns the address of a tenant's owner, or nil without an owner.
func (s *Service) ownerEmail(ctx context.Context, t tenant.Tenant) (*string, error) {
	owner, err := s.deps.Tenants.Owner(ctx, t.ID)
	if owner == nil {
		return nil, err
	}
	return &owner.Email, nil
}

// mailFirstPayment mails the owner the page on which the first invoice of a subscription is paid.
func (s *Service) mailFirstPayment(ctx context.Context, bought checkout, sub Subscription) error {
	amount := sub.PriceCents * sub.Quantity
	if bought.discountID != uuid.Nil {
		d, err := s.deps.Discounts.Load(ctx, bought.discountID)
		if err != nil {
			return err
		}
		off, err := s.offOf(ctx, &d, amount, sub.Currency)
		if err != nil {
			return err
		}
		amount -= off
	}
	return s.mailTrial(ctx, sub, s.ownerEmail, func(ctx context.Context, locale, to string, e letters.TrialEnds) error {
		return s.deps.Letters.FirstPayment(ctx, locale, to, letters.FirstPayment{
			Tenant: e.Tenant, Plan: e.Plan, Amount: money.Money{AmountCents: amount, Currency: sub.Currency}, MinorUnits: e.MinorUnits, PaymentURL: sub.Action.URL,
		})
	})
}

// mailChangeWaits mails the owner a link to the page that confirms the payment of a change made by
// the platform.
func (s *Service) mailChangeWaits(ctx context.Context, sub Subscription) error {
	if sub.Pending == nil || sub.Action.URL == "" {
		return nil
	}
	after := sub
	after.PlanID = sub.Pending.PlanID
	return s.mailTrial(ctx, after, s.ownerEmail, func(ctx context.Context, locale, to string, e letters.TrialEnds) error {
		return s.deps.Letters.ChangeWaits(ctx, locale, to, letters.ChangeWaits{
			Tenant: e.Tenant, Plan: e.Plan, ExpiresAt: sub.Pending.ExpiresAt, PaymentURL: sub.Action.URL,
		})
	})
}

// mailTrial writes a mail about a tenant's trial, or about the price of its plan, to the address that
// recipient returns. If recipient returns nil, mailTrial sends nothing.
func (s *Service) mailTrial(
	ctx context.Context, sub Subscription, recipient func(ctx context.Context, t tenant.Tenant) (*string, error),
	write func(ctx context.Context, locale, to string, e letters.TrialEnds) error,
) error {
	t, err := s.deps.Tenants.Get(ctx, sub.TenantID)
	if err != nil {
		return err
	}
	to, err := recipient(ctx, t)
	if err != nil || to == nil {
		return err
	}
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return err
	}
	units, err := s.store.minorUnits(ctx, sub.Currency)
	if err != nil {
		return err
	}
	locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
	if err != nil {
		return err
	}
	amount, err := s.nextAmount(ctx, sub)
	if err != nil {
		return err
	}
	e := letters.TrialEnds{
		Tenant: t.Name, Plan: i18n.Pick(plan.Name, locale), MinorUnits: units,
		Price: money.Money{AmountCents: amount, Currency: sub.Currency},
	}
	if sub.TrialEndsAt != nil {
		e.EndsAt = *sub.TrialEndsAt
	}
	return write(ctx, locale, *to, e)
}
