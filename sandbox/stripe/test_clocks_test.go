package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
)

// clockAt creates a test clock with the given time.
func (w *world) clockAt(at time.Time) *api.TestHelpersTestClock {
	w.t.Helper()
	frozen := at.Unix()
	return must[*api.TestHelpersTestClock](w.t)(w.V1TestHelpersTestClocks.Create(w.t.Context(), &api.TestHelpersTestClockCreateParams{FrozenTime: &frozen}))
}

// on returns the monthly subscription of a new customer with a test clock and a card.
func (w *world) on(clock *api.TestHelpersTestClock, card string) *api.Subscription {
	w.t.Helper()
	ctx := w.t.Context()
	cu := must[*api.Customer](w.t)(w.V1Customers.Create(ctx, &api.CustomerCreateParams{TestClock: &clock.ID, Email: api.String("ada@example.test")}))
	pm, price := w.attached(cu.ID, card), w.sold(1000, "eur", "month")
	return must[*api.Subscription](w.t)(w.V1Subscriptions.Create(ctx, &api.SubscriptionCreateParams{
		Customer: &cu.ID, DefaultPaymentMethod: &pm.ID, Items: []*api.SubscriptionCreateItemParams{{Price: &price.ID, Quantity: api.Int64(1)}},
	}))
}

// forward advances a test clock and waits until it is ready.
func (w *world) forward(clock string, to time.Time) {
	w.t.Helper()
	moving := must[*api.TestHelpersTestClock](w.t)(w.V1TestHelpersTestClocks.Advance(w.t.Context(), clock, &api.TestHelpersTestClockAdvanceParams{FrozenTime: api.Int64(to.Unix())}))
	if moving.Status != "advancing" {
		w.t.Errorf("the clock is %s", moving.Status)
	}
	testkit.Eventually(w.t, "the background work", func() bool {
		tc := must[*api.TestHelpersTestClock](w.t)(w.V1TestHelpersTestClocks.Retrieve(w.t.Context(), clock, nil))
		return tc.Status == "ready" && tc.FrozenTime == to.Unix()
	})
}

// TestTestClockMovesOnlyItsCustomers renews the subscription of one customer while another
// customer's subscription does not change.
func TestTestClockMovesOnlyItsCustomers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := time.Date(2031, time.January, 10, 12, 0, 0, 0, time.UTC)
	clock, other := w.clockAt(begin), w.clockAt(begin)
	sub, still := w.on(clock, "pm_card_visa"), w.on(other, "pm_card_visa")
	_, plain := w.bought(w.sold(1000, "eur", "month"), 1)
	if sub.Created != begin.Unix() || sub.TestClock.ID != clock.ID || sub.Items.Data[0].CurrentPeriodEnd != begin.AddDate(0, 1, 0).Unix() || plain.TestClock != nil {
		t.Fatalf("created at %d on %+v until %d", sub.Created, sub.TestClock, sub.Items.Data[0].CurrentPeriodEnd)
	}
	w.forward(clock.ID, begin.AddDate(0, 1, 0).Add(2*time.Hour))
	got, in := w.subscription(sub.ID), w.latestInvoice(sub.ID)
	if got.Items.Data[0].CurrentPeriodStart != begin.AddDate(0, 1, 0).Unix() || in.Status != "paid" || in.StatusTransitions.PaidAt != begin.AddDate(0, 1, 0).Add(time.Hour).Unix() || in.TestClock.ID != clock.ID {
		t.Errorf("renewed at %d, invoice %s at %d", got.Items.Data[0].CurrentPeriodStart, in.Status, in.StatusTransitions.PaidAt)
	}
	for name, id := range map[string]string{"another clock's": still.ID, "that without one": plain.ID} {
		before := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(t.Context(), id, nil))
		if before.Items.Data[0].CurrentPeriodStart != before.StartDate {
			t.Errorf("%s has moved", name)
		}
	}
	// Client requests happen at the clock's time.
	preview := w.previewed(got, nil, 2, "always_invoice")
	changed := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, upgrade(got, 2, "allow_incomplete")))
	in = w.latestInvoice(changed.ID)
	if in.Created != begin.AddDate(0, 1, 0).Add(2*time.Hour).Unix() || in.Total != preview.Total {
		t.Errorf("changed at %d for %d, previewed %d", in.Created, in.Total, preview.Total)
	}
	// The sandbox's clock does not renew the subscription.
	w.until(40)
	if got := w.subscription(sub.ID); got.LatestInvoice.ID != in.ID {
		t.Error("the sandbox's clock renewed the subscription")
	}
}

// TestATestClockSeesDunning fails the payments of a card on a test clock.
func TestATestClockSeesDunning(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := time.Date(2031, time.January, 10, 12, 0, 0, 0, time.UTC)
	clock := w.clockAt(begin)
	sub := w.on(clock, "pm_card_authenticationRequired")
	if sub.Status != "incomplete" {
		t.Fatalf("created %s", sub.Status)
	}
	if got := w.answer(w.latestInvoice(sub.ID), "confirmed"); got.status != http.StatusSeeOther {
		t.Fatalf("confirming returns %d", got.status)
	}
	if in := w.latestInvoice(sub.ID); in.StatusTransitions.PaidAt != begin.Unix() {
		t.Errorf("paid on its page at %d", in.StatusTransitions.PaidAt)
	}
	w.forward(clock.ID, begin.AddDate(0, 1, 0).Add(time.Hour))
	if got := w.subscription(sub.ID); got.Status != "past_due" {
		t.Errorf("got %s", got.Status)
	}
	w.forward(clock.ID, begin.AddDate(0, 1, 16).Add(time.Hour))
	if got := w.subscription(sub.ID); got.Status != "canceled" {
		t.Errorf("after the last attempt: got %s", got.Status)
	}
}

func TestTestClocksAreManaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	begin := time.Date(2031, time.January, 10, 12, 0, 0, 0, time.UTC)
	before := w.eventTypes()
	clock := w.clockAt(begin)
	sub := w.on(clock, "pm_card_visa")
	plain := w.customer("plain@example.test")
	for name, c := range map[string]struct {
		params *api.CustomerListParams
		want   string
	}{"without": {&api.CustomerListParams{}, plain.ID}, "of the clock": {&api.CustomerListParams{TestClock: &clock.ID}, sub.Customer.ID}} {
		var ids []string
		for cu, err := range w.V1Customers.List(ctx, c.params).All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, cu.ID)
		}
		if diff := cmp.Diff([]string{c.want}, ids); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, c := range map[string]struct{ to time.Time }{
		"back": {begin.Add(-time.Hour)}, "nowhere": {begin}, "too far": {begin.AddDate(0, 2, 1)},
	} {
		_, err := w.V1TestHelpersTestClocks.Advance(ctx, clock.ID, &api.TestHelpersTestClockAdvanceParams{FrozenTime: api.Int64(c.to.Unix())})
		if msg := refused(t, err, http.StatusBadRequest, "", "frozen_time"); msg == "" {
			t.Errorf("%s: no message", name)
		}
	}
	_, err := w.V1Customers.Create(ctx, &api.CustomerCreateParams{TestClock: api.String("clock_x")})
	refused(t, err, http.StatusBadRequest, "resource_missing", "test_clock")
	w.forward(clock.ID, begin.AddDate(0, 2, 0))
	if gone := must[*api.TestHelpersTestClock](t)(w.V1TestHelpersTestClocks.Delete(ctx, clock.ID, nil)); !gone.Deleted {
		t.Errorf("deleted: %+v", gone)
	}
	if cu := must[*api.Customer](t)(w.V1Customers.Retrieve(ctx, sub.Customer.ID, nil)); !cu.Deleted || w.subscription(sub.ID).Status != "canceled" {
		t.Errorf("customer was not deleted: %+v", cu)
	}
	_, err = w.V1TestHelpersTestClocks.Retrieve(ctx, clock.ID, nil)
	refused(t, err, http.StatusNotFound, "resource_missing", "id")
	var clocks []string
	for _, name := range w.since(before) {
		if len(name) > 12 && name[:12] == "test_helpers" {
			clocks = append(clocks, name)
		}
	}
	want := []string{"test_helpers.test_clock.created", "test_helpers.test_clock.advancing", "test_helpers.test_clock.ready", "test_helpers.test_clock.deleted"}
	if diff := cmp.Diff(want, clocks); diff != "" {
		t.Error(diff)
	}
}
