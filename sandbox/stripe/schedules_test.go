package stripe_test

import (
	"net/http"
	"testing"

	api "github.com/stripe/stripe-go/v85"
)

// scheduled returns the schedule of a subscription that changes to a price at the end of its period.
func (w *world) scheduled(sub *api.Subscription, p *api.Price) *api.SubscriptionSchedule {
	w.t.Helper()
	sched := must[*api.SubscriptionSchedule](w.t)(w.V1SubscriptionSchedules.Create(w.t.Context(), &api.SubscriptionScheduleCreateParams{FromSubscription: &sub.ID}))
	return must[*api.SubscriptionSchedule](w.t)(w.V1SubscriptionSchedules.Update(w.t.Context(), sched.ID, w.twoPhases(sched, p)))
}

// twoPhases returns the current phase of a schedule and a second phase with another price.
func (w *world) twoPhases(sched *api.SubscriptionSchedule, p *api.Price) *api.SubscriptionScheduleUpdateParams {
	now := sched.Phases[0]
	first := &api.SubscriptionScheduleUpdatePhaseParams{StartDate: &now.StartDate, EndDate: &now.EndDate, ProrationBehavior: api.String("none")}
	for _, item := range now.Items {
		first.Items = append(first.Items, &api.SubscriptionScheduleUpdatePhaseItemParams{Price: &item.Price.ID, Quantity: &item.Quantity})
	}
	if now.TrialEnd != 0 {
		first.TrialEnd = &now.TrialEnd
	}
	for _, d := range now.Discounts {
		first.Discounts = append(first.Discounts, &api.SubscriptionScheduleUpdatePhaseDiscountParams{Discount: &d.Discount.ID})
	}
	return &api.SubscriptionScheduleUpdateParams{
		EndBehavior: api.String("release"), ProrationBehavior: api.String("none"),
		Phases: []*api.SubscriptionScheduleUpdatePhaseParams{first, {
			Duration:          &api.SubscriptionScheduleUpdatePhaseDurationParams{Interval: api.String("month"), IntervalCount: api.Int64(1)},
			ProrationBehavior: api.String("none"), Metadata: map[string]string{"plan": "next"},
			Items: []*api.SubscriptionScheduleUpdatePhaseItemParams{{Price: &p.ID, Quantity: api.Int64(2)}},
		}},
	}
}

// https://docs.stripe.com/billing/subscriptions/subscription-schedules: the next phase begins when
// the current phase ends, and updates the subscription. After the last phase, the schedule is
// released and the subscription continues.
func TestScheduleChangesThePrice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	next := w.sold(2500, "eur", "month")
	sched := w.scheduled(sub, next)
	if got := w.subscription(sub.ID); got.Schedule == nil || got.Schedule.ID != sched.ID || got.Items.Data[0].Price.UnitAmount != 1000 {
		t.Errorf("scheduled: %+v", got.Schedule)
	}
	end := w.subscription(sub.ID).Items.Data[0].CurrentPeriodEnd
	w.clock.Set(w.clock.Now().AddDate(0, 1, 0))
	got := w.subscription(sub.ID)
	item := got.Items.Data[0]
	if item.Price.ID != next.ID || item.Quantity != 2 || item.CurrentPeriodStart != end || got.Metadata["plan"] != "next" || item.ID != sub.Items.Data[0].ID {
		t.Errorf("in the next phase: %+v, %v", item, got.Metadata)
	}
	if in := w.latestInvoice(sub.ID); in.Total != 5000 || in.BillingReason != "subscription_cycle" || len(in.Lines.Data) != 1 {
		t.Errorf("its invoice: %d, %s", in.Total, in.BillingReason)
	}
	w.until(75)
	if sched := must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Retrieve(t.Context(), sched.ID, nil)); sched.Status != "released" || w.subscription(sub.ID).Schedule != nil {
		t.Errorf("after the last phase: %s", sched.Status)
	}
	if got := w.subscription(sub.ID); got.Status != "active" || got.Items.Data[0].Price.ID != next.ID {
		t.Errorf("the subscription is %s", got.Status)
	}
}

// https://docs.stripe.com/billing/subscriptions/subscription-schedules: the schedule of a trial
// changes the price when the trial ends. Another interval starts a new billing cycle.
func TestScheduleOfTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.trial(w.sold(1000, "eur", "month"), 10, "4242424242424242")
	yearly := w.sold(9000, "eur", "year")
	w.scheduled(sub, yearly)
	if got := w.subscription(sub.ID); got.Status != "trialing" || got.TrialEnd != sub.TrialEnd {
		t.Errorf("scheduled: %s until %d", got.Status, got.TrialEnd)
	}
	w.until(10.5)
	got := w.subscription(sub.ID)
	if item := got.Items.Data[0]; got.Status != "active" || item.Price.ID != yearly.ID || item.CurrentPeriodStart != sub.TrialEnd || got.BillingCycleAnchor != sub.TrialEnd {
		t.Errorf("after the trial: %s, %+v", got.Status, item)
	}
}

// https://docs.stripe.com/api/subscription_schedules/release: a released schedule changes nothing, and
// cannot be released again.
func TestReleasedSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	price := w.sold(1000, "eur", "month")
	_, sub := w.bought(price, 1)
	sched := w.scheduled(sub, w.sold(2500, "eur", "month"))
	released := must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Release(t.Context(), sched.ID, nil))
	if released.Status != "released" || released.ReleasedSubscription == nil || released.ReleasedSubscription.ID != sub.ID || w.subscription(sub.ID).Schedule != nil {
		t.Errorf("released: %+v", released)
	}
	_, err := w.V1SubscriptionSchedules.Release(t.Context(), sched.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	_, err = w.V1SubscriptionSchedules.Cancel(t.Context(), sched.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	w.until(40)
	if got := w.subscription(sub.ID); got.Items.Data[0].Price.ID != price.ID {
		t.Errorf("the price changed to %d", got.Items.Data[0].Price.UnitAmount)
	}
}

// https://docs.stripe.com/api/subscription_schedules/create, from_subscription: "When using this
// parameter, other parameters (such as phase values) cannot be set."
func TestScheduleRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	_, err := w.V1SubscriptionSchedules.Create(t.Context(), &api.SubscriptionScheduleCreateParams{FromSubscription: &sub.ID, EndBehavior: api.String("release")})
	refused(t, err, http.StatusBadRequest, "parameter_unknown", "end_behavior")
	next := w.sold(2500, "eur", "month")
	sched := w.scheduled(sub, next)
	_, err = w.V1SubscriptionSchedules.Create(t.Context(), &api.SubscriptionScheduleCreateParams{FromSubscription: &sub.ID})
	refused(t, err, http.StatusBadRequest, "", "from_subscription")
	_, err = w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)})
	refused(t, err, http.StatusBadRequest, "", "cancel_at_period_end")
	_, err = w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{CancelAt: api.Int64(w.clock.Now().Add(day).Unix())})
	refused(t, err, http.StatusBadRequest, "", "cancel_at")
	moved := w.twoPhases(sched, next)
	moved.Phases[0].StartDate = api.Int64(*moved.Phases[0].StartDate - 1)
	_, err = w.V1SubscriptionSchedules.Update(t.Context(), sched.ID, moved)
	refused(t, err, http.StatusBadRequest, "", "phases[0][start_date]")
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(t.Context(), sub.ID, nil))
	if sched := must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Retrieve(t.Context(), sched.ID, nil)); sched.Status != "canceled" {
		t.Errorf("the schedule of a canceled subscription: %s", sched.Status)
	}
	_, err = w.V1SubscriptionSchedules.Update(t.Context(), sched.ID, w.twoPhases(sched, next))
	refused(t, err, http.StatusBadRequest, "", "")
	_, err = w.V1SubscriptionSchedules.Create(t.Context(), &api.SubscriptionScheduleCreateParams{FromSubscription: &sub.ID})
	refused(t, err, http.StatusBadRequest, "", "from_subscription")
}

// https://docs.stripe.com/api/subscription_schedules/cancel: canceling a schedule also cancels its subscription.
func TestCanceledSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	sched := w.scheduled(sub, w.sold(2500, "eur", "month"))
	canceled := must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Cancel(t.Context(), sched.ID, nil))
	if canceled.Status != "canceled" || w.subscription(sub.ID).Status != "canceled" {
		t.Errorf("%s, %s", canceled.Status, w.subscription(sub.ID).Status)
	}
}

// https://docs.stripe.com/api/subscription_schedules/update, phases.discounts: a phase has the
// discounts that it names. phases.items.price_data creates a price inline.
func TestScheduleWithDiscount(t *testing.T) {
	t.Parallel()
	for _, keeps := range []bool{true, false} {
		w := newWorld(t)
		price := w.sold(1000, "eur", "month")
		_, sub := w.bought(price, 1)
		coupon := must[*api.Coupon](t)(w.V1Coupons.Create(t.Context(), &api.CouponCreateParams{PercentOff: api.Float64(50), Duration: api.String("forever")}))
		sub = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
			Discounts: []*api.SubscriptionUpdateDiscountParams{{Coupon: &coupon.ID}},
		}))
		sched := must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Create(t.Context(), &api.SubscriptionScheduleCreateParams{FromSubscription: &sub.ID}))
		if ds := sched.Phases[0].Discounts; len(ds) != 1 || ds[0].Discount.ID != sub.Discounts[0].ID {
			t.Fatalf("the discounts of the first phase: %+v", ds)
		}
		params := w.twoPhases(sched, price)
		next := params.Phases[1]
		next.Items[0].Price, next.Items[0].PriceData = nil, &api.SubscriptionItemPriceDataParams{
			Currency: api.String("eur"), Product: &price.Product.ID, UnitAmount: api.Int64(700),
			Recurring: &api.SubscriptionItemPriceDataRecurringParams{Interval: api.String("month")},
		}
		if keeps {
			next.Discounts = params.Phases[0].Discounts
		}
		must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Update(t.Context(), sched.ID, params))
		w.clock.Set(w.clock.Now().AddDate(0, 1, 0))
		want := int64(1400)
		if keeps {
			want = 700
		}
		if in := w.latestInvoice(sub.ID); in.Total != want || len(w.subscription(sub.ID).Discounts) != int(2-want/700) {
			t.Errorf("keeps %v: %d, %d discounts", keeps, in.Total, len(w.subscription(sub.ID).Discounts))
		}
	}
}

// https://docs.stripe.com/api/subscription_schedules/update, phases.trial_end: the current phase can
// move the end of a trial, and with it the start of the next phase.
func TestScheduleMovesTheTrial(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.trial(w.sold(1000, "eur", "month"), 10, "4242424242424242")
	next := w.sold(2500, "eur", "month")
	sched := w.scheduled(sub, next)
	params := w.twoPhases(sched, next)
	later := sub.TrialEnd + 5*24*60*60
	params.Phases[0].TrialEnd, params.Phases[0].EndDate = &later, &later
	must[*api.SubscriptionSchedule](t)(w.V1SubscriptionSchedules.Update(t.Context(), sched.ID, params))
	if got := w.subscription(sub.ID); got.TrialEnd != later || got.Items.Data[0].CurrentPeriodEnd != later {
		t.Errorf("moved to %d", got.TrialEnd)
	}
	w.until(15.5)
	if got := w.subscription(sub.ID); got.Status != "active" || got.Items.Data[0].Price.ID != next.ID {
		t.Errorf("after the trial: %s, %d", got.Status, got.Items.Data[0].Price.UnitAmount)
	}
}
