package subscription

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/tenant"
)

const (
	oneDay = 24 * time.Hour
	// renewalNotice is how long before a renewal the tenant is reminded.
	renewalNotice = 7 * oneDay
	// The reminders of a card are due these times before the end of its month.
	firstCardNotice, lastCardNotice = 30 * oneDay, 7 * oneDay
)

// Invariant: a reminder is recorded under the tenant's lock, in the transaction that enqueues its
// mail. So it is sent once, whatever the number of instances and restarts, and never after a
// cancellation that was stored before.

// RemindOfRenewals mails the tenants whose subscriptions renew soon, if their cycles are long. It is
// a periodic job.
func (s *Service) RemindOfRenewals(ctx context.Context) error {
	if !s.deps.Letters.Sends(letters.MailRenewalReminder) {
		return nil
	}
	now := s.deps.Clock.Now()
	renewals, err := s.store.listRenewals(ctx, now, now.Add(renewalNotice))
	for _, sub := range renewals {
		err = errors.Join(err, s.remindOfRenewal(ctx, sub))
	}
	return err
}

func (s *Service) remindOfRenewal(ctx context.Context, sub Subscription) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, sub.TenantID)
		if err != nil {
			return err
		}
		isNew, err := s.store.markRenewalMailed(ctx, sub)
		if err != nil || !isNew {
			return err
		}
		to, locale, err := s.billingContact(ctx, t)
		if err != nil || to == "" {
			return err
		}
		current, err := s.store.byPSPID(ctx, sub.PSPSubscriptionID)
		if err != nil {
			return err
		}
		plan, err := s.deps.Catalog.Plan(ctx, current.nextPlanID())
		if err != nil {
			return err
		}
		units, err := s.store.minorUnits(ctx, current.Currency)
		if err != nil {
			return err
		}
		amount, err := s.nextAmount(ctx, current)
		if err != nil {
			return err
		}
		return s.deps.Letters.RenewalReminder(ctx, locale, to, letters.RenewalReminder{
			Tenant: t.Name, Plan: i18n.Pick(plan.Name, locale), RenewsAt: current.CurrentPeriodEnd, MinorUnits: units,
			Amount: money.Money{AmountCents: amount, Currency: current.Currency},
		})
	})
}

// billingContact returns the address for mail about a tenant's bills, "" without one, and the
// language of the mail.
func (s *Service) billingContact(ctx context.Context, t tenant.Tenant) (to, locale string, _ error) {
	address, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err != nil || address == nil {
		return "", "", err
	}
	locale, err = s.deps.Tenants.Locale(ctx, t, i18n.Default)
	return *address, locale, err
}

// RemindOfCards mails the tenants whose cards expire soon. It is a periodic job.
//
// The provider does not announce the end of a card. As cards expire at the end of a month, each
// customer's card is read whenever the reminders for the end of a month are due.
func (s *Service) RemindOfCards(ctx context.Context) error {
	if !s.deps.Letters.Sends(letters.MailCardExpires) {
		return nil
	}
	due, err := s.store.listUncheckedCards(ctx, latestCardNotice(s.deps.Clock.Now()))
	for _, c := range due {
		err = errors.Join(err, s.checkCard(ctx, c.TenantID, c.PSPCustomerID))
	}
	return err
}

// latestCardNotice returns the latest time at which reminders of cards were due.
func latestCardNotice(now time.Time) time.Time {
	month := time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC)
	var latest time.Time
	for i := range 3 {
		end := month.AddDate(0, i, 0)
		for _, notice := range []time.Duration{firstCardNotice, lastCardNotice} {
			if at := end.Add(-notice); !at.After(now) && at.After(latest) {
				latest = at
			}
		}
	}
	return latest
}

// dueCardNotice returns the time at which the latest reminder of a card was due. It returns false if
// none is due, or if the card has expired.
func dueCardNotice(m customers.PaymentMethod, now time.Time) (time.Time, bool) {
	if m.ExpYear == 0 {
		return time.Time{}, false
	}
	end := time.Date(int(m.ExpYear), time.Month(m.ExpMonth)+1, 1, 0, 0, 0, 0, time.UTC)
	due := end.Add(-lastCardNotice)
	if now.Before(due) {
		due = end.Add(-firstCardNotice)
	}
	return due, !now.Before(due) && now.Before(end)
}

// checkCard reads the card of a customer and sends a reminder if it is due.
func (s *Service) checkCard(ctx context.Context, tenantID uuid.UUID, customerID string) error {
	now := s.deps.Clock.Now()
	sub, err := s.loadRenewing(ctx, tenantID)
	if err != nil {
		return err
	}
	var m customers.PaymentMethod
	if sub != nil {
		if m, _, err = s.deps.Wallet.Default(ctx, customerID, sub.PSPSubscriptionID); err != nil {
			return err
		}
	}
	reminder, due := dueCardNotice(m, now)
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, tenantID)
		if err != nil {
			return err
		}
		if err := s.store.markCardChecked(ctx, tenantID, customerID, now); err != nil || !due {
			return err
		}
		if sub, err = s.loadRenewing(ctx, tenantID); err != nil || sub == nil {
			return err
		}
		isNew, err := s.store.markCardMailed(ctx, tenantID, customerID, reminder)
		if err != nil || !isNew {
			return err
		}
		to, locale, err := s.billingContact(ctx, t)
		if err != nil || to == "" {
			return err
		}
		return s.deps.Letters.CardExpires(ctx, locale, to, letters.CardExpires{
			Tenant: t.Name, Last4: m.Last4, Expires: time.Date(int(m.ExpYear), time.Month(m.ExpMonth), 1, 0, 0, 0, 0, time.UTC),
		})
	})
}

// loadRenewing returns the tenant's running subscription if it renews and is charged automatically.
// Otherwise it returns nil.
func (s *Service) loadRenewing(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	sub, err := s.loadRunning(ctx, tenantID)
	if errors.Is(err, ErrNotFound) || err == nil && (sub.IsEnding() || sub.Terms.IsSent()) {
		return nil, nil //nolint:nilnil // no card pays a renewal
	}
	return &sub, err
}
