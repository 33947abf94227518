package stripe_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"
)

// Metered items that are added, switched or removed bill the usage during their time on the
// subscription. The usage before a switch or removal is billed unless the change disables
// prorations.
func TestMeteredItemsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		proration            string
		pending, total, next int64
	}{
		{"none", 0, 2000 + 3*50 + 4*7, 2000 + 50},
		{"create_prorations", 2, 2000 + 10*20 + 5*100 + 3*50 + 4*7, 2000 + 50},
	} {
		w := newWorld(t)
		ctx := t.Context()
		calls, disk, mails := w.meter("calls", "sum"), w.meter("disk", "sum"), w.meter("mails", "sum")
		sub := w.mixed(w.sold(1000, "eur", "month"), w.metered(calls, "20"))
		update := func(items ...*api.SubscriptionUpdateItemParams) *api.Subscription {
			t.Helper()
			return must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{Items: items, ProrationBehavior: &c.proration}))
		}
		use := func(m *api.BillingMeter, value string) { w.use(m, sub.Customer.ID, value, 0) }
		diskPrice, mailPrice := w.metered(disk, "100"), w.metered(mails, "7")
		use(disk, "1000") // no item bills it yet
		w.clock.Set(start.Add(time.Hour))
		sub = update(&api.SubscriptionUpdateItemParams{Price: &diskPrice.ID})
		if len(sub.Items.Data) != 3 || sub.Items.Data[2].Price.ID != diskPrice.ID || sub.Items.Data[2].Quantity != 0 {
			t.Fatalf("after one was added: %+v", sub.Items.Data)
		}
		w.clock.Set(start.Add(2 * time.Hour))
		use(calls, "10")
		use(disk, "5")
		w.clock.Set(start.Add(3 * time.Hour))
		dearer := w.metered(calls, "50")
		sub = update(&api.SubscriptionUpdateItemParams{Price: &mailPrice.ID},
			&api.SubscriptionUpdateItemParams{ID: &sub.Items.Data[2].ID, Deleted: api.Bool(true)},
			&api.SubscriptionUpdateItemParams{ID: &sub.Items.Data[1].ID, Price: &dearer.ID})
		if len(sub.Items.Data) != 3 || sub.Items.Data[1].Price.ID != dearer.ID || sub.Items.Data[2].Price.ID != mailPrice.ID {
			t.Fatalf("after all changed: %+v", sub.Items.Data)
		}
		use(calls, "3")
		use(mails, "4")
		use(disk, "6")
		var pending int64
		for _, err := range w.V1InvoiceItems.List(ctx, &api.InvoiceItemListParams{Customer: &sub.Customer.ID, Pending: api.Bool(true)}).All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			pending++
		}
		end := time.Unix(sub.Items.Data[0].CurrentPeriodEnd, 0)
		w.clock.Set(end.Add(2 * time.Hour))
		if in := w.latestInvoice(sub.ID); in.Total != c.total || pending != c.pending {
			t.Errorf("%s: billed %d with %d items pending, want %d: %v", c.proration, in.Total, pending, c.total, lines(in))
		}
		use(calls, "1")
		next := time.Unix(w.subscription(sub.ID).Items.Data[0].CurrentPeriodEnd, 0)
		w.clock.Set(next.Add(2 * time.Hour))
		if in := w.latestInvoice(sub.ID); in.Total != c.next {
			t.Errorf("%s: the next bills %d, want %d: %v", c.proration, in.Total, c.next, lines(in))
		}
	}
}

// A licensed item is charged for the rest of its period when it is added, and credited when it is
// removed.
func TestLicensedItemsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first, second := w.sold(2800, "eur", "month"), w.sold(1400, "eur", "month")
	_, sub := w.bought(first, 1)
	w.clock.Set(start.Add(14 * day))
	change := func(item *api.SubscriptionUpdateItemParams) (*api.Subscription, error) {
		return w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{
			Items: []*api.SubscriptionUpdateItemParams{item}, ProrationBehavior: api.String("always_invoice"),
		})
	}
	sub = must[*api.Subscription](t)(change(&api.SubscriptionUpdateItemParams{Price: &second.ID}))
	if in := w.latestInvoice(sub.ID); in.Total != 700 || !slices.Equal(lines(in), []string{"Remaining time on Starter after 14 Feb 2026: 700, day 14 to 28, prorated"}) {
		t.Errorf("adding bills %d: %v", in.Total, lines(in))
	}
	w.clock.Set(start.Add(21 * day))
	added := sub.Items.Data[1].ID
	sub = must[*api.Subscription](t)(change(&api.SubscriptionUpdateItemParams{ID: &added, Deleted: api.Bool(true)}))
	if in := w.latestInvoice(sub.ID); in.Total != -350 || len(sub.Items.Data) != 1 {
		t.Errorf("removing bills %d: %v", in.Total, lines(in))
	}
	for param, item := range map[string]*api.SubscriptionUpdateItemParams{
		"items[0][price]":       {Quantity: api.Int64(1)},
		"items[0][id]":          {ID: &added, Deleted: api.Bool(true)},
		"items":                 {Price: &first.ID},
		"items[0][clear_usage]": {ID: &sub.Items.Data[0].ID, Deleted: api.Bool(true), ClearUsage: api.Bool(true)},
	} {
		_, err := change(item)
		code := ""
		switch param {
		case "items[0][price]":
			code = "parameter_missing"
		case "items[0][id]":
			code = "resource_missing"
		}
		refused(t, err, http.StatusBadRequest, code, param)
	}
	_, err := change(&api.SubscriptionUpdateItemParams{ID: &sub.Items.Data[0].ID, Deleted: api.Bool(true)})
	refused(t, err, http.StatusBadRequest, "", "items")
}

// A subscription with only metered items starts without an invoice: through checkout, through the
// API and with a trial. Its renewals bill the usage.
func TestMeteredOnlyBeginsWithoutAnInvoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.meter("calls", "sum")
	p := w.metered(m, "20")
	params := w.checkoutParams(p, 1)
	params.LineItems[0].Quantity = nil
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Fatalf("paying returns %d %s", got.status, got.body)
	}
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(ctx, session.ID, nil))
	if session.Status != "complete" || session.PaymentStatus == "unpaid" || session.Invoice != nil {
		t.Errorf("the session: %s, %s, %v", session.Status, session.PaymentStatus, session.Invoice)
	}
	bought := w.subscription(session.Subscription.ID)
	made := must[*api.Subscription](t)(w.V1Subscriptions.Create(ctx, &api.SubscriptionCreateParams{
		Customer: &bought.Customer.ID, Items: []*api.SubscriptionCreateItemParams{{Price: &p.ID}},
	}))
	tried := must[*api.Subscription](t)(w.V1Subscriptions.Create(ctx, &api.SubscriptionCreateParams{
		Customer: &bought.Customer.ID, Items: []*api.SubscriptionCreateItemParams{{Price: &p.ID}}, TrialPeriodDays: api.Int64(5),
	}))
	for status, sub := range map[string]*api.Subscription{"active": made, "trialing": tried} {
		if string(sub.Status) != status || sub.LatestInvoice != nil {
			t.Errorf("%s with the invoice %v, want %s", sub.Status, sub.LatestInvoice, status)
		}
	}
	if bought.Status != "active" || bought.LatestInvoice != nil {
		t.Errorf("bought: %s with the invoice %v", bought.Status, bought.LatestInvoice)
	}
	w.use(m, bought.Customer.ID, "3", 0)
	w.clock.Set(start.Add(6 * day))
	if sub := w.subscription(tried.ID); sub.Status != "active" || sub.LatestInvoice != nil {
		t.Errorf("after its trial: %s with the invoice %v", sub.Status, sub.LatestInvoice)
	}
	w.clock.Set(start.Add(28*day + 2*time.Hour))
	if in := w.latestInvoice(bought.ID); in.Total != 60 || len(in.Lines.Data) != 1 || in.Status != "paid" {
		t.Errorf("the renewal: %d, %s, %v", in.Total, in.Status, lines(in))
	}
}
