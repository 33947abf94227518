// Package stats computes key figures of the whole platform: tenants, recurring revenue, failed
// payments, quota rejections and health (rules: stats). It writes nothing and makes no remote
// calls.
package stats

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock
	Machine clock.Clock // measures the latency of the database
	Journal *journal.Journal
	Inbox   *inbox.Receiver
	Calls   *CallMonitor // calls to the payment provider
	Outbox  *mail.Outbox
	// ToBase returns a function that converts an amount to the base currency. The function returns nil
	// without a base currency, and for a currency without any rate.
	ToBase func(context.Context) (func(money.Money) *money.Money, error)
}

// Service computes the key figures.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{d, store{d.DB}} }

// window is the number of days over which a figure is compared.
const window = 30

// tenants counts the tenants, the tenants created within the window, and the tenants by
// subscription status.
func (s *Service) tenants(ctx context.Context, now time.Time) (TenantFigures, error) {
	total, added, err := s.store.tenants(ctx, now.AddDate(0, 0, -window))
	if err != nil {
		return TenantFigures{}, err
	}
	live, err := s.store.countLive(ctx)
	if err != nil {
		return TenantFigures{}, err
	}
	f := TenantFigures{Total: total, AddedIn30Days: added}
	by := &f.BySubscription
	by.None = total
	for status, n := range live {
		by.None -= n
		switch status {
		case "active":
			by.Active = n
		case "trialing":
			by.Trialing = n
		case "past_due":
			by.PastDue = n
		default:
			by.Other += n
		}
	}
	by.None = max(0, by.None) // a tenant can have subscribed between the two queries
	return f, nil
}

// revenue returns the monthly recurring revenue by currency, largest in the base currency first, and
// the number of subscriptions. Amounts without a rate follow, largest in minor units first.
func (s *Service) revenue(ctx context.Context, now time.Time) ([]CurrencyRevenue, SubscriptionFigures, error) {
	first := journal.DayOf(now) - window + 1
	moves, err := s.deps.Journal.Movements(ctx, first, journal.DayOf(now))
	if err != nil {
		return nil, SubscriptionFigures{}, err
	}
	var subs SubscriptionFigures
	of := map[string]*CurrencyRevenue{}
	for _, m := range moves {
		c := of[m.Currency]
		if c == nil {
			c = &CurrencyRevenue{Currency: m.Currency}
			of[m.Currency] = c
		}
		c.Amount += m.Amount
		subs.Active += netStarts(m)
		if m.Day < first {
			c.Amount30DaysAgo += m.Amount
			subs.Active30DaysAgo += netStarts(m)
			continue
		}
		switch m.Kind {
		case journal.KindNew:
			c.New += m.Amount
		case journal.KindExpansion:
			c.Expansion += m.Amount
		case journal.KindContraction:
			c.Contraction += m.Amount
		case journal.KindEnded:
			c.Ended += m.Amount
		}
	}
	list := []CurrencyRevenue{}
	for _, c := range of {
		if c.Amount != 0 || c.Amount30DaysAgo != 0 {
			list = append(list, *c)
		}
	}
	convert, err := s.deps.ToBase(ctx)
	if err != nil {
		return nil, SubscriptionFigures{}, err
	}
	inBase := func(r CurrencyRevenue) int64 {
		if base := convert(money.Money{AmountCents: r.Amount, Currency: r.Currency}); base != nil {
			return base.AmountCents
		}
		return -1
	}
	slices.SortFunc(list, func(a, b CurrencyRevenue) int {
		return cmp.Or(cmp.Compare(inBase(b), inBase(a)), cmp.Compare(b.Amount, a.Amount), cmp.Compare(b.Amount30DaysAgo, a.Amount30DaysAgo), cmp.Compare(a.Currency, b.Currency))
	})
	return list, subs, nil
}

// netStarts returns the change in the number of subscriptions through a movement.
func netStarts(m journal.Movement) int64 {
	switch m.Kind {
	case journal.KindNew:
		return m.Entries
	case journal.KindEnded:
		return -m.Entries
	default:
		return 0
	}
}

// failedPayments counts the failed payments of the last two weeks, and the open invoices with
// failed payments.
func (s *Service) failedPayments(ctx context.Context, now time.Time) (FailedPaymentFigures, error) {
	f, err := s.store.openFailures(ctx)
	if err != nil {
		return f, err
	}
	week, before := now.AddDate(0, 0, -7), now.AddDate(0, 0, -14)
	counts, err := s.store.failures(ctx, []span{{before, week}, {week, now.Add(time.Microsecond)}})
	if err == nil {
		f.Previous7Days, f.Last7Days = counts[0], counts[1]
	}
	return f, err
}

// hoursOfDay is the number of hours that count as a day: the current hour and the 23 before it.
const hoursOfDay = 24

// quotaRefusals counts the usage events that were rejected because of a quota.
func (s *Service) quotaRefusals(ctx context.Context, now time.Time) (QuotaRefusalFigures, error) {
	return s.store.refusals(ctx, hourOf(now))
}

// Limits of the health check.
const (
	pingTimeout = time.Second
	// late is how long a job or a provider event must have been due to count as late.
	late = 5 * time.Minute
	// countLimit is the maximum value of a count.
	countLimit = 10_000
)

// health returns the health of the service as seen by this instance.
func (s *Service) health(ctx context.Context, now time.Time) (Health, error) {
	var h Health
	h.DatabaseMS = s.ping(ctx)
	jobs, err := s.store.jobs(ctx, now.Add(-late), mail.JobSend)
	if err != nil {
		return h, err
	}
	h.Mail = MailHealth{Waiting: jobs.mails, Failing: jobs.failing, Sent: s.deps.Outbox.LastSent()}
	h.Jobs = JobHealth{jobs.waiting, jobs.late, jobs.dead}
	h.Provider.Reachable, h.Provider.LatencyMS = s.deps.Calls.lastCall()
	waiting, lag, err := s.deps.Inbox.Backlog(ctx)
	if err != nil {
		return h, err
	}
	h.Provider.Waiting, h.Provider.DelaySeconds = waiting, int64(lag/time.Second)
	at, err := inbox.LastEventAt(ctx, s.deps.DB)
	if err == nil {
		h.Provider.LastNotificationAt = timeOf(at)
	} else if !errors.Is(err, inbox.ErrNoEvent) {
		return h, err
	}
	if h.Webhooks, err = s.store.deliveries(ctx, now.AddDate(0, 0, -1)); err != nil {
		return h, err
	}
	h.OK = h.DatabaseMS != nil && h.Provider.Reachable && lag < late && h.Jobs.Late == 0 && h.Jobs.Dead == 0 && h.Mail.Failing == 0
	return h, nil
}

// ping returns the latency of the database, or nil if it does not respond in time.
func (s *Service) ping(ctx context.Context) *float64 {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	begun := s.deps.Machine.Now()
	if s.deps.DB.Ping(ctx) != nil {
		return nil
	}
	return milliseconds(s.deps.Machine.Now().Sub(begun))
}
