package stripe_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

func TestCheckoutStartsASubscription(t *testing.T) {
	t.Parallel()
	for name, connections := range map[string]int{"one connection": 1, "many connections": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.db.SetMaxOpenConns(connections)
			ctx := t.Context()
			p := w.sold(1000, "eur", "month")
			params := w.checkoutParams(p, 3)
			params.ClientReferenceID = api.String("tenant-7")
			params.Metadata = map[string]string{"tenant": "7"}
			params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{Metadata: map[string]string{"plan": "starter"}}
			session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
			if session.Status != "open" || session.PaymentStatus != "unpaid" || session.AmountTotal != 3000 ||
				session.URL != w.url+"/sandbox/checkout/"+session.ID || session.ExpiresAt != start.Add(24*time.Hour).Unix() {
				t.Errorf("new session: %+v", session)
			}

			paid := w.pay(session.ID, "4242-4242 42424242")
			if want := "https://app.example.test/done?session=" + session.ID; paid.status != http.StatusSeeOther || paid.location != want {
				t.Fatalf("paying answered %d to %q, want 303 to %q", paid.status, paid.location, want)
			}

			get := &api.CheckoutSessionRetrieveParams{}
			get.AddExpand("subscription.latest_invoice.payments")
			get.AddExpand("line_items")
			get.AddExpand("customer")
			session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(ctx, session.ID, get))
			if session.Status != "complete" || session.PaymentStatus != "paid" || session.URL != "" || session.ClientReferenceID != "tenant-7" {
				t.Errorf("paid session: status %s, payment %s, url %q", session.Status, session.PaymentStatus, session.URL)
			}
			if session.Customer.Email != "ada@example.test" || len(session.LineItems.Data) != 1 || session.LineItems.Data[0].Quantity != 3 {
				t.Errorf("expanded customer %+v, line items %+v", session.Customer, session.LineItems)
			}
			sub := session.Subscription
			item := sub.Items.Data[0]
			if sub.Status != "active" || sub.Customer.ID != session.Customer.ID || !cmp.Equal(sub.Metadata, map[string]string{"plan": "starter"}) ||
				item.Price.ID != p.ID || item.Quantity != 3 || sub.DefaultPaymentMethod == nil {
				t.Errorf("subscription: %+v", sub)
			}
			february := time.Date(2026, time.February, 28, 10, 0, 0, 0, time.UTC)
			if item.CurrentPeriodStart != start.Unix() || item.CurrentPeriodEnd != february.Unix() {
				t.Errorf("period from %d to %d, want the last day of February", item.CurrentPeriodStart, item.CurrentPeriodEnd)
			}
			checkFirstInvoice(t, sub.LatestInvoice, sub.ID, 3000)
			pi := must[*api.PaymentIntent](t)(w.V1PaymentIntents.Retrieve(ctx, sub.LatestInvoice.Payments.Data[0].Payment.PaymentIntent.ID, nil))
			if pi.AmountReceived != 3000 || pi.Status != "succeeded" || pi.PaymentMethod.ID != sub.DefaultPaymentMethod.ID {
				t.Errorf("payment: %d received, %s", pi.AmountReceived, pi.Status)
			}
		})
	}
}

func checkFirstInvoice(t *testing.T, in *api.Invoice, subscriptionID string, total int64) {
	t.Helper()
	if in.Status != "paid" || in.Total != total || in.AmountPaid != total || in.AmountRemaining != 0 || in.BillingReason != "subscription_create" {
		t.Errorf("invoice: status %s, total %d, paid %d, remaining %d", in.Status, in.Total, in.AmountPaid, in.AmountRemaining)
	}
	if in.Parent.SubscriptionDetails.Subscription.ID != subscriptionID || !strings.HasSuffix(in.Number, "-0001") {
		t.Errorf("invoice %s is for subscription %s", in.Number, in.Parent.SubscriptionDetails.Subscription.ID)
	}
	if len(in.Lines.Data) != 1 || in.Lines.Data[0].Amount != total {
		t.Errorf("invoice lines: %+v", in.Lines.Data)
	}
	if len(in.Payments.Data) != 1 || in.Payments.Data[0].AmountPaid != total {
		t.Fatalf("invoice payments: %+v", in.Payments.Data)
	}
}

func TestPaymentEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bought(w.sold(1000, "usd", "year"), 1)
	want := []string{
		"product.created", "price.created", "customer.created", "payment_method.attached",
		"invoice.created", "customer.updated", "invoice.finalized",
		"payment_intent.created", "charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid",
		"invoice.paid", "invoice.payment_succeeded", "customer.subscription.created", "checkout.session.completed",
	}
	if diff := cmp.Diff(want, w.eventTypes()); diff != "" {
		t.Error(diff)
	}
}

func TestCards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sold(1000, "eur", "month")
	for _, c := range []struct {
		number string
		status int
		says   string
	}{
		{"4242424242424242", http.StatusSeeOther, ""},
		{"4000 0000 0000 0341", http.StatusSeeOther, ""},
		{"4000-0000-0000-0002", http.StatusPaymentRequired, "declined"},
		{"", http.StatusUnprocessableEntity, "Enter a card number"},
		{"5555 5555 5555 4444", http.StatusUnprocessableEntity, "Use one of the test cards"},
		{"4242 4242 4242 4241", http.StatusUnprocessableEntity, "not a valid card number"},
		{"<script>", http.StatusUnprocessableEntity, "not a valid card number"},
	} {
		session := w.checkout(p, 1)
		got := w.pay(session.ID, c.number)
		if got.status != c.status || !strings.Contains(got.body, c.says) {
			t.Errorf("card %q answered %d, want %d and %q: %s", c.number, got.status, c.status, c.says, got.body)
		}
		after := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(t.Context(), session.ID, nil))
		if paid := c.status == http.StatusSeeOther; (after.Status == "complete") != paid || (after.Subscription != nil) != paid {
			t.Errorf("after card %q, session is %s", c.number, after.Status)
		}
		if strings.Contains(got.body, "<script>") {
			t.Error("input is not escaped on the page")
		}
	}
}

func TestADeclinedCardCanBeFollowedByAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	before := w.eventTypes()
	if got := w.pay(session.ID, "4000000000000002"); got.status != http.StatusPaymentRequired || !strings.Contains(got.body, `id="pay"`) {
		t.Errorf("declined card answered %d: %s", got.status, got.body)
	}
	if after := w.eventTypes(); !slices.Equal(before, after) {
		t.Errorf("a declined card left %v", after[len(before):])
	}
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Errorf("second card answered %d", got.status)
	}
}

func TestPayingTwiceHasOneEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	const buyers = 8
	answers := make([]page, buyers)
	var all sync.WaitGroup
	for i := range buyers {
		all.Go(func() { answers[i] = w.pay(session.ID, "4242424242424242") })
	}
	all.Wait()
	answers = append(answers, w.pay(session.ID, "4000000000000002"))
	for _, got := range answers {
		if got.status != http.StatusSeeOther || !strings.HasSuffix(got.location, session.ID) {
			t.Errorf("answered %d to %q", got.status, got.location)
		}
	}
	types := w.eventTypes()
	for _, once := range []string{"checkout.session.completed", "customer.subscription.created", "charge.succeeded", "invoice.paid"} {
		if n := len(types) - len(slices.DeleteFunc(slices.Clone(types), func(s string) bool { return s == once })); n != 1 {
			t.Errorf("%s happened %d times", once, n)
		}
	}
}

func TestTrialsAndFreePlansNeedNoPayment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		amount     int64
		trialDays  int64
		collection string
		card       string
		status     int
		becomes    api.SubscriptionStatus
	}{
		{"free without a card", 0, 0, "if_required", "", http.StatusSeeOther, "active"},
		{"free with a card all the same", 0, 0, "if_required", "4242424242424242", http.StatusSeeOther, "active"},
		{"free with a card that is declined", 0, 0, "if_required", "4000000000000002", http.StatusPaymentRequired, ""},
		{"free that always asks", 0, 0, "always", "", http.StatusUnprocessableEntity, ""},
		{"trial without a card", 1000, 14, "if_required", "", http.StatusSeeOther, "trialing"},
		{"trial that asks for a card", 1000, 14, "always", "", http.StatusUnprocessableEntity, ""},
		{"trial with a card", 1000, 14, "always", "4242424242424242", http.StatusSeeOther, "trialing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			params := w.checkoutParams(w.sold(c.amount, "eur", "month"), 1)
			params.PaymentMethodCollection = &c.collection
			if c.trialDays > 0 {
				params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: &c.trialDays}
			}
			session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
			if got := w.pay(session.ID, c.card); got.status != c.status {
				t.Fatalf("answered %d, want %d", got.status, c.status)
			}
			if c.becomes == "" {
				return
			}
			get := &api.CheckoutSessionRetrieveParams{}
			get.AddExpand("subscription.latest_invoice.payments")
			session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(t.Context(), session.ID, get))
			sub := session.Subscription
			if session.PaymentStatus != "no_payment_required" || sub.Status != c.becomes || (sub.DefaultPaymentMethod != nil) != (c.card != "") {
				t.Errorf("payment %s, subscription %s, card %v", session.PaymentStatus, sub.Status, sub.DefaultPaymentMethod)
			}
			if in := sub.LatestInvoice; in.Status != "paid" || in.Total != 0 || len(in.Payments.Data) != 0 {
				t.Errorf("invoice %s of %d with payments %v", in.Status, in.Total, in.Payments.Data)
			}
			if end := start.AddDate(0, 0, 14).Unix(); c.trialDays > 0 && (sub.TrialEnd != end || sub.Items.Data[0].CurrentPeriodEnd != end) {
				t.Errorf("trial ends %d, period %d, want %d", sub.TrialEnd, sub.Items.Data[0].CurrentPeriodEnd, end)
			}
		})
	}
}

func TestCheckoutExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sold(1000, "eur", "month")
	session, other := w.checkout(p, 1), w.checkout(p, 1)
	w.clock.Set(start.Add(24*time.Hour - time.Second))
	if got := w.visit(http.MethodGet, session.ID, nil); got.status != http.StatusOK {
		t.Errorf("just before the end the page returns %d", got.status)
	}
	must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Expire(t.Context(), other.ID, nil))
	_, err := w.V1CheckoutSessions.Expire(t.Context(), other.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")

	w.clock.Set(start.Add(30 * 24 * time.Hour))
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusGone || strings.Contains(got.body, `id="pay"`) {
		t.Errorf("paying an expired session returns %d: %s", got.status, got.body)
	}
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(t.Context(), session.ID, nil))
	if session.Status != "expired" || session.URL != "" {
		t.Errorf("the session is %s with url %q", session.Status, session.URL)
	}
	list := w.V1Events.List(t.Context(), &api.EventListParams{Type: api.String("checkout.session.expired")})
	var at []int64
	for e, err := range list.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, e.Created)
	}
	want := []int64{start.Add(24 * time.Hour).Unix(), start.Add(24*time.Hour - time.Second).Unix()}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("expired at other moments (-want +got):\n%s", diff)
	}
}

func TestTheRunnerExpiresCheckouts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(*stripe.Config) {})
	w.checkout(w.sold(1000, "eur", "month"), 1)
	w.run()
	w.clock.Set(start.Add(25 * time.Hour))
	w.server.Wake()
	testkit.Eventually(t, "the notification", func() bool {
		var n int
		err := w.db.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_objects WHERE kind = 'event' AND doc ->> '$.type' = 'checkout.session.expired'`).Scan(&n)
		return err == nil && n == 1
	})
}

func TestCheckoutRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.sold(1000, "eur", "month")
	yearly := w.sold(1000, "eur", "year")
	dollars := w.sold(1000, "usd", "month")
	once := must[*api.Price](t)(w.V1Prices.Create(t.Context(), &api.PriceCreateParams{Currency: api.String("eur"), UnitAmount: api.Int64(1), Product: &p.Product.ID}))
	gone := w.sold(1000, "eur", "month")
	must[*api.Price](t)(w.V1Prices.Update(t.Context(), gone.ID, &api.PriceUpdateParams{Active: api.Bool(false)}))
	second := func(id string) func(*api.CheckoutSessionCreateParams) {
		return func(c *api.CheckoutSessionCreateParams) {
			c.LineItems = append(c.LineItems, &api.CheckoutSessionCreateLineItemParams{Price: &id, Quantity: api.Int64(1)})
		}
	}
	for _, c := range []struct {
		name        string
		change      func(*api.CheckoutSessionCreateParams)
		code, param string
	}{
		{"no mode", func(c *api.CheckoutSessionCreateParams) { c.Mode = nil }, "parameter_missing", "mode"},
		{"another mode", func(c *api.CheckoutSessionCreateParams) { c.Mode = api.String("setup") }, "", "mode"},
		{"no customer", func(c *api.CheckoutSessionCreateParams) { c.Customer = nil }, "parameter_missing", "customer"},
		{"unknown customer", func(c *api.CheckoutSessionCreateParams) { c.Customer = api.String("cus_x") }, "resource_missing", "customer"},
		{"no success_url", func(c *api.CheckoutSessionCreateParams) { c.SuccessURL = nil }, "parameter_missing", "success_url"},
		{"script as success_url", func(c *api.CheckoutSessionCreateParams) { c.SuccessURL = api.String("javascript:alert(1)") }, "url_invalid", "success_url"},
		{"relative cancel_url", func(c *api.CheckoutSessionCreateParams) { c.CancelURL = api.String("/plans") }, "url_invalid", "cancel_url"},
		{"no quantity", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Quantity = nil }, "parameter_missing", "line_items[0][quantity]"},
		{"quantity 0", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Quantity = api.Int64(0) }, "parameter_invalid_integer", "line_items[0][quantity]"},
		{"unknown price", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Price = api.String("price_x") }, "resource_missing", "line_items[0][price]"},
		{"inactive price", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Price = &gone.ID }, "", "line_items[0][price]"},
		{"one-time price", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Price = &once.ID }, "", "line_items"},
		{"two intervals", second(yearly.ID), "", "line_items[1][price]"},
		{"two currencies", second(dollars.ID), "", "line_items[1][price]"},
		{"too much", func(c *api.CheckoutSessionCreateParams) { c.LineItems[0].Quantity = api.Int64(100_000) }, "amount_too_large", "line_items"},
		{"trial too long", func(c *api.CheckoutSessionCreateParams) {
			c.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(731)}
		}, "parameter_invalid_integer", "subscription_data[trial_period_days]"},
		{"expires too soon", func(c *api.CheckoutSessionCreateParams) { c.ExpiresAt = api.Int64(start.Unix() + 60) }, "parameter_invalid_integer", "expires_at"},
		{"not supported", func(c *api.CheckoutSessionCreateParams) {
			c.AutomaticTax = &api.CheckoutSessionCreateAutomaticTaxParams{Enabled: api.Bool(true)}
		}, "parameter_unknown", "automatic_tax"},
	} {
		params := w.checkoutParams(p, 1)
		c.change(params)
		_, err := w.V1CheckoutSessions.Create(t.Context(), params)
		if err == nil {
			t.Errorf("%s is accepted", c.name)
			continue
		}
		t.Log(c.name)
		refused(t, err, http.StatusBadRequest, c.code, c.param)
	}
}

func TestOneCurrencyForACustomer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	params := w.checkoutParams(w.sold(1000, "usd", "month"), 1)
	params.Customer = &session.Customer.ID
	_, err := w.V1CheckoutSessions.Create(t.Context(), params)
	refused(t, err, http.StatusBadRequest, "", "customer")
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(t.Context(), sub.ID, nil))
	must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
}
