package letters

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/money"
)

// Subscription is the content of the mails about the start, the change and the end of a
// subscription.
type Subscription struct {
	Tenant      string      // name
	Plan        string      // name
	FormerPlan  string      // name of the plan before a change
	Price       money.Money // per period; zero for a usage plan
	MinorUnits  int         // decimals of the price's currency: 0, 2 or 3
	TrialEndsAt time.Time   // zero without a trial
	RenewsAt    time.Time   // zero if it ends, or begins with a trial
	EndsAt      time.Time   // zero unless it ends
}

// SubscriptionStarted sends a mail that a subscription has started, if enabled.
func (l *Letters) SubscriptionStarted(ctx context.Context, locale, to string, s Subscription) error {
	return l.subscription(ctx, subscriptionStarted, locale, to, s)
}

// PlanChanged sends a mail that a subscription has another plan, if enabled.
func (l *Letters) PlanChanged(ctx context.Context, locale, to string, s Subscription) error {
	return l.subscription(ctx, planChanged, locale, to, s)
}

// SubscriptionCanceled sends a mail that a subscription was canceled, if enabled.
func (l *Letters) SubscriptionCanceled(ctx context.Context, locale, to string, s Subscription) error {
	return l.subscription(ctx, subscriptionCanceled, locale, to, s)
}

// SubscriptionEnded sends a mail that a subscription has ended because its payments failed, if
// enabled.
func (l *Letters) SubscriptionEnded(ctx context.Context, locale, to string, s Subscription) error {
	return l.subscription(ctx, subscriptionEnded, locale, to, s)
}

func (l *Letters) subscription(ctx context.Context, key, locale, to string, s Subscription) error {
	if !l.Sends(key) {
		return nil
	}
	in := l.locale(locale)
	date := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return in.Date(at)
	}
	ends := date(s.EndsAt)
	m := letter{
		key: key, to: to, link: l.pages().PageURL(frontend.Billing),
		ours:   map[string]string{"price": "", "trial_ends": date(s.TrialEndsAt), "renews": date(s.RenewsAt), "ends": ends, "ended": ends},
		admins: map[string]string{"plan": s.Plan, "former_plan": s.FormerPlan},
		theirs: map[string]string{"tenant": s.Tenant},
	}
	if s.Price.AmountCents > 0 {
		m.ours["price"] = in.Money(s.Price, s.MinorUnits)
	}
	return l.send(ctx, in, m)
}

// OwnershipTransferred is the content of the mail about a new owner.
type OwnershipTransferred struct {
	Name          string // of the recipient
	Tenant        string // name
	Owner, Former string // names of the new and the previous owner
}

// OwnershipTransferred notifies the new or the previous owner that an organization has a new
// owner.
func (l *Letters) OwnershipTransferred(ctx context.Context, locale, to string, o OwnershipTransferred) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "ownership_transferred", to: to, link: l.config.FrontendURL + "/",
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": o.Name, "tenant": o.Tenant, "owner": o.Owner, "former": o.Former},
	})
}

// lifecycleMails returns the mails about the life of an organization and its subscription.
func lifecycleMails(name, tenant Variable) []Mail {
	const optional = " Only sent if listed in TENANTRY_OPTIONAL_MAILS, which is the default."
	plan := Variable{"plan", "Name of the plan.", true}
	price := Variable{"price", "Price per billing period. Empty for usage-based plans.", true}
	renews := Variable{"renews", "Date of the next renewal. Can be empty.", true}
	return []Mail{
		{"confirm_payment", "The bank asks for a confirmation of a payment for a subscription.", []Variable{
			tenant, plan, {"amount", "Amount of the payment.", true},
		}, samplePayment(true)},
		{"subscription_started", "A subscription started." + optional, []Variable{
			tenant, plan, price, {"trial_ends", "End of the trial. Empty without a trial.", true}, renews,
		}, sampleSubscription((*Letters).SubscriptionStarted)},
		{"plan_changed", "The plan of a subscription changed." + optional, []Variable{
			tenant, plan, {"former_plan", "Name of the plan before the change.", true}, price, renews,
		}, sampleSubscription((*Letters).PlanChanged)},
		{"subscription_canceled", "A subscription was canceled." + optional, []Variable{
			tenant, plan, {"ends", "Date of the end.", true},
		}, sampleSubscription((*Letters).SubscriptionCanceled)},
		{"subscription_ended", "A subscription ended because its payments failed." + optional, []Variable{
			tenant, plan, {"ended", "Date of the end.", true},
		}, sampleSubscription((*Letters).SubscriptionEnded)},
		{"ownership_transferred", "An organization has a new owner. Sent to the new and the previous owner.", []Variable{
			name, tenant, {"owner", "Name of the new owner.", false}, {"former", "Name of the previous owner.", false}, {"time", "Time of the transfer.", true},
		}, sampleOwnershipTransferred},
	}
}

func sampleSubscription(write func(l *Letters, ctx context.Context, locale, to string, s Subscription) error) func(context.Context, *Letters, string, bool) error {
	return func(ctx context.Context, l *Letters, locale string, sparse bool) error {
		s := Subscription{
			Tenant: "Acme & Sons", Plan: "Team", FormerPlan: "Starter", Price: money.Money{AmountCents: 4_900, Currency: "EUR"}, MinorUnits: 2,
			RenewsAt: sampleTime.AddDate(0, 1, 0), EndsAt: sampleTime.AddDate(0, 1, 0),
		}
		if sparse {
			s.Price, s.RenewsAt, s.TrialEndsAt = money.Money{}, time.Time{}, sampleTime.AddDate(0, 0, 14)
		}
		return write(l, ctx, locale, sampleTo, s)
	}
}

func sampleOwnershipTransferred(ctx context.Context, l *Letters, locale string, _ bool) error {
	return l.OwnershipTransferred(ctx, locale, sampleTo, OwnershipTransferred{
		Name: "Ada Lovelace", Tenant: "Acme & Sons", Owner: "Grace Hopper", Former: "Ada Lovelace",
	})
}
