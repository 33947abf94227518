package subscriptions

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// ErrPeriodEnded means that the current period has ended since the change was decided. It is also a
// psp.ErrRefused.
var ErrPeriodEnded = fmt.Errorf("%w: the period has ended", psp.ErrRefused)

// Schedules makes changes of subscriptions that take effect at the end of the period, with the
// provider's subscription schedules (https://docs.stripe.com/billing/subscriptions/subscription-schedules).
type Schedules struct{ Client *psp.Client }

// NextPeriod describes a subscription from the end of its current period on.
type NextPeriod struct {
	// StartsAt is the end of the current period.
	StartsAt time.Time
	PriceID  string
	Price    *CustomPrice // instead of PriceID
	Quantity int64
	// MeteredPriceIDs are the prices that bill usage.
	MeteredPriceIDs []string
	// IntervalUnit and IntervalCount are the interval of the price.
	IntervalUnit  string
	IntervalCount int64
	// Metadata is added to the subscription's metadata when the change takes effect.
	Metadata map[string]string
	// Notes is the metadata of the schedule.
	Notes map[string]string
	// DropsDiscount ends the current discount with the period.
	DropsDiscount bool
	// TrialEnd moves the end of the current trial; zero keeps it.
	TrialEnd time.Time
}

// Set schedules a change for the end of the current period, or replaces the scheduled one. It
// returns ErrPeriodEnded if the period ends at another time.
//
// Invariant: both steps can be repeated. A schedule that was created but not updated has only the
// current phase and does not change the subscription. The next attempt uses it.
func (s Schedules) Set(ctx context.Context, subscriptionID string, n NextPeriod, key string) error {
	sub, err := s.read(ctx, subscriptionID)
	if err != nil {
		return err
	}
	managed := sub.Schedule
	if managed == nil {
		if managed, err = s.create(ctx, subscriptionID, key+"-schedule"); err != nil {
			return err
		}
	}
	params, err := s.phases(ctx, sub, managed, n)
	if err != nil {
		return err
	}
	// The current phase can differ in a retry, and a key stands for one request.
	text, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encode phases: %w", err)
	}
	key = fmt.Sprintf("%s-%x", key, sha256.Sum256(text))[:len(key)+17]
	params.IdempotencyKey = stripe.String(key)
	_, err = psp.Write(ctx, s.Client, "schedule change", key, func(ctx context.Context, api *calls.API) (*stripe.SubscriptionSchedule, error) {
		return api.V1SubscriptionSchedules.Update(ctx, managed.ID, params)
	}, notDone)
	return err
}

// notDone reports that a failed write was not done, so that the write is repeated. This is
// harmless.
func notDone(context.Context) (*stripe.SubscriptionSchedule, error) { return nil, psp.ErrNotDone }

// Release ends the schedule of a subscription without changing the subscription. Without a schedule
// it does nothing, because a released schedule cannot be released again.
func (s Schedules) Release(ctx context.Context, subscriptionID, key string) error {
	sub, err := s.read(ctx, subscriptionID)
	if err != nil || sub.Schedule == nil {
		return err
	}
	_, err = psp.Write(ctx, s.Client, "release schedule", key, func(ctx context.Context, api *calls.API) (*stripe.SubscriptionSchedule, error) {
		return api.V1SubscriptionSchedules.Release(ctx, sub.Schedule.ID, &stripe.SubscriptionScheduleReleaseParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(key)},
		})
	}, func(ctx context.Context) (*stripe.SubscriptionSchedule, error) {
		again, err := s.read(ctx, subscriptionID)
		if err == nil && again.Schedule != nil {
			err = psp.ErrNotDone
		}
		return nil, err
	})
	return err
}

// read returns a subscription with its schedule.
func (s Schedules) read(ctx context.Context, id string) (*stripe.Subscription, error) {
	sub, _, err := psp.Call(ctx, s.Client, "get subscription", func(ctx context.Context, api *calls.API) (*stripe.Subscription, error) {
		params := &stripe.SubscriptionRetrieveParams{}
		params.AddExpand("schedule")
		return api.V1Subscriptions.Retrieve(ctx, id, params)
	})
	return sub, err
}

func (s Schedules) create(ctx context.Context, subscriptionID, key string) (*stripe.SubscriptionSchedule, error) {
	return psp.Write(ctx, s.Client, "create schedule", key, func(ctx context.Context, api *calls.API) (*stripe.SubscriptionSchedule, error) {
		return api.V1SubscriptionSchedules.Create(ctx, &stripe.SubscriptionScheduleCreateParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(key)}, FromSubscription: stripe.String(subscriptionID),
		})
	}, func(ctx context.Context) (*stripe.SubscriptionSchedule, error) {
		sub, err := s.read(ctx, subscriptionID)
		if err == nil && sub.Schedule == nil {
			err = psp.ErrNotDone
		}
		if err != nil {
			return nil, err
		}
		return sub.Schedule, nil
	})
}

// phases returns the two phases of a schedule. The current phase does not change the subscription;
// the next phase lasts one interval.
func (s Schedules) phases(ctx context.Context, sub *stripe.Subscription, managed *stripe.SubscriptionSchedule, n NextPeriod) (*stripe.SubscriptionScheduleUpdateParams, error) {
	item, err := s.item(ctx, n)
	if err != nil {
		return nil, err
	}
	present := presentPhase(sub, managed)
	if present.EndDate == nil || *present.EndDate != n.StartsAt.Unix() {
		return nil, ErrPeriodEnded
	}
	if !n.TrialEnd.IsZero() {
		present.TrialEnd, present.EndDate = stripe.Int64(n.TrialEnd.Unix()), stripe.Int64(n.TrialEnd.Unix())
	}
	next := &stripe.SubscriptionScheduleUpdatePhaseParams{
		Items: []*stripe.SubscriptionScheduleUpdatePhaseItemParams{item}, Metadata: n.Metadata, ProrationBehavior: stripe.String("none"),
		Duration: &stripe.SubscriptionScheduleUpdatePhaseDurationParams{
			Interval: stripe.String(n.IntervalUnit), IntervalCount: stripe.Int64(n.IntervalCount),
		},
	}
	for _, id := range n.MeteredPriceIDs {
		next.Items = append(next.Items, &stripe.SubscriptionScheduleUpdatePhaseItemParams{Price: stripe.String(id)})
	}
	if !n.DropsDiscount {
		next.Discounts = present.Discounts
	}
	if len(next.Discounts) == 0 {
		next.UnsetFields = append(next.UnsetFields, stripe.SubscriptionScheduleUpdatePhaseParamsUnsetFieldDiscounts)
	}
	return &stripe.SubscriptionScheduleUpdateParams{
		EndBehavior: stripe.String("release"), ProrationBehavior: stripe.String("none"), Metadata: n.Notes, DefaultSettings: scheduleDefaults(sub),
		Phases: []*stripe.SubscriptionScheduleUpdatePhaseParams{present, next},
	}, nil
}

// item returns the item of the next phase that bills the plan.
func (s Schedules) item(ctx context.Context, n NextPeriod) (*stripe.SubscriptionScheduleUpdatePhaseItemParams, error) {
	item := &stripe.SubscriptionScheduleUpdatePhaseItemParams{Quantity: stripe.Int64(n.Quantity)}
	if n.Price == nil {
		item.Price = stripe.String(n.PriceID)
		return item, nil
	}
	units, err := s.Client.UnitsRead(ctx, n.Price.Currency)
	if err != nil {
		return nil, err
	}
	amount, err := units.ToProvider(n.Price.Amount)
	item.PriceData = &stripe.SubscriptionItemPriceDataParams{
		Currency: stripe.String(strings.ToLower(n.Price.Currency)), Product: stripe.String(n.Price.ProductID), UnitAmount: stripe.Int64(amount),
		Recurring: &stripe.SubscriptionItemPriceDataRecurringParams{
			Interval: stripe.String(n.Price.IntervalUnit), IntervalCount: stripe.Int64(n.Price.IntervalCount),
		},
	}
	return item, err
}

// presentPhase returns the current phase, with the current items and discounts of the subscription.
// These can have changed since the schedule was created.
func presentPhase(sub *stripe.Subscription, managed *stripe.SubscriptionSchedule) *stripe.SubscriptionScheduleUpdatePhaseParams {
	phase := &stripe.SubscriptionScheduleUpdatePhaseParams{ProrationBehavior: stripe.String("none")}
	for _, p := range managed.Phases {
		if managed.CurrentPhase != nil && p.StartDate != managed.CurrentPhase.StartDate {
			continue
		}
		phase.StartDate, phase.EndDate, phase.Metadata = stripe.Int64(p.StartDate), stripe.Int64(p.EndDate), p.Metadata
		if p.TrialEnd != 0 {
			phase.TrialEnd = stripe.Int64(p.TrialEnd)
		}
		break
	}
	if sub.Items != nil {
		for _, item := range sub.Items.Data {
			wanted := &stripe.SubscriptionScheduleUpdatePhaseItemParams{Price: stripe.String(item.Price.ID)}
			if item.Quantity > 0 {
				wanted.Quantity = stripe.Int64(item.Quantity)
			}
			phase.Items = append(phase.Items, wanted)
		}
	}
	for _, d := range sub.Discounts {
		phase.Discounts = append(phase.Discounts, &stripe.SubscriptionScheduleUpdatePhaseDiscountParams{Discount: stripe.String(d.ID)})
	}
	if len(phase.Discounts) == 0 {
		phase.UnsetFields = append(phase.UnsetFields, stripe.SubscriptionScheduleUpdatePhaseParamsUnsetFieldDiscounts)
	}
	return phase
}

// scheduleDefaults returns the current terms of payment, so that the next phase does not change them.
func scheduleDefaults(sub *stripe.Subscription) *stripe.SubscriptionScheduleUpdateDefaultSettingsParams {
	d := &stripe.SubscriptionScheduleUpdateDefaultSettingsParams{CollectionMethod: stripe.String(string(sub.CollectionMethod))}
	if sub.DefaultPaymentMethod != nil {
		d.DefaultPaymentMethod = stripe.String(sub.DefaultPaymentMethod.ID)
	}
	if sub.CollectionMethod == stripe.SubscriptionCollectionMethodSendInvoice {
		d.InvoiceSettings = &stripe.SubscriptionScheduleUpdateDefaultSettingsInvoiceSettingsParams{DaysUntilDue: stripe.Int64(sub.DaysUntilDue)}
	}
	return d
}
