package psp_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/errorreport"
	"github.com/tenantry/tenantry/internal/psp/items"
	"github.com/tenantry/tenantry/internal/sqldb/stmtcache"
	sandbox "github.com/tenantry/tenantry/sandbox/stripe"
)

func TestAPIVersionIsTheLibrarys(t *testing.T) {
	t.Parallel()
	if psp.APIVersion != stripe.APIVersion {
		t.Fatalf("psp is written for API version %s, the library speaks %s", psp.APIVersion, stripe.APIVersion)
	}
}

// counterpart is a provider that the adapter is tested against.
type counterpart struct {
	*psp.Client
	base, key string
	// remembers means that the provider stores objects. Stripe's mock only validates requests
	// against the published API description and returns examples.
	remembers bool
}

// Every request that the service can make matches the provider's API description, and the sandbox
// responds as the adapter expects.
func TestAdapter(t *testing.T) {
	t.Parallel()
	t.Run("stripe-mock", func(t *testing.T) {
		t.Parallel()
		adapterWorks(t, newCounterpart(t, counterpart{base: stripeMock(t), key: "sk_test_123"}))
	})
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		adapterWorks(t, newCounterpart(t, counterpart{base: startSandbox(t, testKey), key: testKey, remembers: true}))
	})
}

func newCounterpart(t *testing.T, p counterpart) counterpart {
	t.Helper()
	var err error
	p.Client, err = psp.NewClient(psp.Config{SecretKey: p.key, BaseURL: p.base})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// startSandbox serves the sandbox provider and returns its base URL.
func startSandbox(t *testing.T, key string) string { return startSandboxAt(t, key, clock.System()) }

func startSandboxAt(t *testing.T, key string, now clock.Clock) string {
	t.Helper()
	db, err := stmtcache.Open(stmtcache.DSN(filepath.Join(t.TempDir(), "sandbox.db"), "_txlock=immediate&_pragma=busy_timeout(5000)&_dqs=0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	server, err := sandbox.New(sandbox.Config{DB: db, Clock: now, PublicURL: web.URL, SecretKey: key})
	if err != nil {
		t.Fatal(err)
	}
	handler = server.Handler()
	return web.URL + "/sandbox/stripe"
}

// adapterWorks makes every call of the adapter, in the order of a subscription's life.
func adapterWorks(t *testing.T, p counterpart) {
	called := map[string]bool{}
	step := func(method string, call func(ctx context.Context) error) {
		t.Helper()
		called[strings.Fields(method)[0]] = true
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	// is fails the test if a provider that remembers does not have the expected state.
	is := func(what string, ok bool) {
		t.Helper()
		if p.remembers && !ok {
			t.Error(what)
		}
	}
	step("UnitsRead", func(ctx context.Context) error {
		units, err := p.UnitsRead(ctx, "eur")
		is("an amount in EUR has other units", units.FromProvider(1250) == 1250)
		return err
	})
	step("Mode", func(context.Context) error {
		is("the key is of another mode", p.Mode() == psp.TestMode)
		return nil
	})
	step("HasRestrictedKey", func(context.Context) error {
		is("the key is restricted", !p.HasRestrictedKey())
		return nil
	})
	metadata := map[string]string{"tenant_id": "0198c6f0", "checkout_id": "0198c6f1"}

	var customer string
	details := psp.CustomerParams{
		Key: "customer", TenantID: "0198c6f0", Name: "Acme", Email: "billing@acme.test", Address: "1 Road",
		City: "Paris", PostalCode: "75001", Country: "FR", VATNumber: "FR123", Locale: "fr",
	}
	step("CreateCustomer", func(ctx context.Context) (err error) {
		customer, err = p.CreateCustomer(ctx, details)
		return err
	})
	step("CreateCustomer again", func(ctx context.Context) error {
		again, err := p.CreateCustomer(ctx, details)
		is("a repeated key made another customer", again == customer)
		return err
	})
	step("CreateCustomer with a name only", func(ctx context.Context) error {
		other, err := p.CreateCustomer(ctx, psp.CustomerParams{Key: "other", Name: "Acme"})
		is("another key made the same customer", other != customer && other != "")
		return err
	})
	step("UpdateCustomer", func(ctx context.Context) error {
		changed := details
		changed.Key, changed.City = "moved", "Lyon"
		return p.UpdateCustomer(ctx, customer, changed)
	})
	step("UpdateCustomer, erasing", func(ctx context.Context) error {
		return p.UpdateCustomer(ctx, customer, psp.CustomerParams{Key: "erased"})
	})
	step("CustomerDeleted", func(ctx context.Context) error {
		deleted, err := p.CustomerDeleted(ctx, customer)
		is("the customer was deleted", !deleted)
		return err
	})

	var product psp.Product
	step("CreateProduct", func(ctx context.Context) error {
		id, err := p.CreateProduct(ctx, psp.ProductParams{Key: "product", ID: "prod_1", Name: "Team", Metadata: metadata})
		is("the product has another id", id == "prod_1")
		return err
	})
	step("GetProduct", func(ctx context.Context) (err error) {
		product, err = p.GetProduct(ctx, "prod_1")
		is("got another product than created", product.ID == "prod_1" && product.Active)
		return err
	})
	prices := map[string]psp.Price{}
	for name, amount := range map[string]int64{"cheap": 1200, "dear": 3000, "free": 0} {
		step("CreatePrice", func(ctx context.Context) (err error) {
			prices[name], err = p.CreatePrice(ctx, psp.PriceParams{
				Key: "price " + name, ProductID: "prod_1", Currency: "EUR", UnitAmount: amount, IntervalUnit: psp.IntervalMonth, IntervalCount: 3,
				Nickname: name, LookupKey: name, Metadata: metadata,
			})
			return err
		})
	}
	step("GetPrice", func(ctx context.Context) error {
		price, err := p.GetPrice(ctx, prices["cheap"].ID)
		is("got another price than created", reflect.DeepEqual(price, prices["cheap"]) && *price.UnitAmount == 1200 && price.Currency == "EUR")
		return err
	})
	step("FindPrice", func(ctx context.Context) error {
		price, err := p.FindPrice(ctx, "dear")
		is("the price is not found by its key", price.ID == prices["dear"].ID)
		return err
	})
	var meter psp.Meter
	step("CreateMeter", func(ctx context.Context) (err error) {
		meter, err = p.CreateMeter(ctx, psp.MeterParams{Key: "meter", EventName: "api-calls", Name: "API calls", Aggregation: psp.AggregateSum})
		return err
	})
	step("GetMeter", func(ctx context.Context) error {
		m, err := p.GetMeter(ctx, meter.ID)
		is("got another meter than created", m == meter && m.EventName == "api-calls" && m.Active)
		return err
	})
	metered := p.meteredPrice(t, meter.ID)

	const success, cancel = "https://app.test/ok?s={CHECKOUT_SESSION_ID}", "https://app.test/no"
	step("CreateCheckout of everything", func(ctx context.Context) error {
		c, err := p.CreateCheckout(ctx, psp.CheckoutParams{
			Key: "trial", CustomerID: customer, PriceID: prices["cheap"].ID, Quantity: 3, TrialDays: 14, SuccessURL: success, CancelURL: cancel,
			MeteredPriceIDs: []string{metered}, Metadata: metadata, Locale: "fr",
		})
		is("the checkout is not open", c.Status == psp.CheckoutOpen && c.URL != "")
		return err
	})
	step("CreateCheckout of something free", func(ctx context.Context) error {
		_, err := p.CreateCheckout(ctx, psp.CheckoutParams{
			Key: "free", CustomerID: customer, PriceID: prices["free"].ID, Quantity: 1, Free: true, SuccessURL: success, CancelURL: cancel,
		})
		return err
	})
	var checkout psp.Checkout
	step("CreateCheckout", func(ctx context.Context) (err error) {
		checkout, err = p.CreateCheckout(ctx, psp.CheckoutParams{
			Key: "checkout", CustomerID: customer, PriceID: prices["cheap"].ID, Quantity: 3, MeteredPriceIDs: []string{metered},
			SuccessURL: success, CancelURL: cancel, Metadata: metadata,
		})
		return err
	})
	if p.remembers {
		pay(t, checkout.URL)
	}
	step("GetCheckout", func(ctx context.Context) (err error) {
		checkout, err = p.GetCheckout(ctx, checkout.ID)
		is("the checkout is not paid", checkout.Status == psp.CheckoutComplete && checkout.PaymentStatus == psp.PaymentPaid && checkout.SubscriptionID != "")
		return err
	})
	sub := psp.Subscription{ID: "sub_1", ItemID: "si_1", LatestInvoiceID: "in_1"}
	if p.remembers {
		sub.ID = checkout.SubscriptionID
	}
	step("GetSubscription", func(ctx context.Context) error {
		s, err := p.GetSubscription(ctx, sub.ID)
		if err == nil && (s.ItemID == "" || s.PriceID == "" || s.PeriodEnd.IsZero() || s.Currency == "") {
			t.Errorf("incomplete: %+v", s)
		}
		is("got another subscription than bought", s.CustomerID == customer && s.PriceID == prices["cheap"].ID && s.Quantity == 3 &&
			s.Status == "active" && s.UnitAmount == 1200 && s.Metadata["tenant_id"] == "0198c6f0" && s.IntervalCount == 3)
		if p.remembers {
			sub = s
		}
		return err
	})
	step("Subscriptions of a customer", func(ctx context.Context) error {
		n, err := count(p.Subscriptions(ctx, customer, ""))
		is("the customer has another number of subscriptions", n == 1)
		return err
	})
	step("Subscriptions of all customers after an ID", func(ctx context.Context) error {
		n, err := count(p.Subscriptions(ctx, "", sub.ID))
		is("there are others", n == 0)
		return err
	})

	change := psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: prices["dear"].ID, Quantity: 4, ProrationDate: clock.System().Now()}
	var shown psp.Invoice
	step("PreviewChange", func(ctx context.Context) (err error) {
		shown, err = p.PreviewChange(ctx, change)
		is("a dearer plan costs nothing", shown.Total > 0 && shown.Currency == "EUR")
		return err
	})
	step("ChangeSubscription", func(ctx context.Context) error {
		s, err := p.ChangeSubscription(ctx, change, metadata, "change")
		is("the plan is another", s.PriceID == prices["dear"].ID && s.Quantity == 4)
		if p.remembers {
			sub.LatestInvoiceID = s.LatestInvoiceID
		}
		return err
	})
	step("GetInvoice", func(ctx context.Context) error {
		in, err := p.GetInvoice(ctx, sub.LatestInvoiceID)
		is("the change costs something else than was shown", in.Total == shown.Total && in.Status == "paid")
		return err
	})
	step("ListInvoices", func(ctx context.Context) error {
		page, err := p.ListInvoices(ctx, psp.InvoiceQuery{CustomerID: customer, Status: "paid", After: sub.LatestInvoiceID, Limit: 25})
		is("the first invoice is missing", len(page.Invoices) == 1 && page.Invoices[0].Total == 3600 && !page.More)
		return err
	})
	step("AwaitChange", func(ctx context.Context) error {
		s, err := p.AwaitChange(ctx, psp.Change{
			SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: sub.PriceID, Quantity: 6, ProrationDate: sub.PeriodStart,
		}, "await")
		is("a paid change is still pending", s.Pending == nil && s.Quantity == 6)
		return err
	})
	step("SetQuantity", func(ctx context.Context) error {
		s, err := p.SetQuantity(ctx, psp.Change{
			SubscriptionID: sub.ID, ItemID: sub.ItemID, Quantity: 7, UnpaidCredit: 10, Currency: "EUR", ProductID: sub.ProductID,
			ProrationDate: clock.System().Now(), PeriodEnd: sub.PeriodEnd,
		}, true, "quantity")
		is("the quantity is another", s.Quantity == 7)
		return err
	})
	step("ChangeMetered", func(ctx context.Context) error {
		other, item := p.meteredPrice(t, meter.ID), "si_1"
		if len(sub.Metered) > 0 {
			item = sub.Metered[0].ID
		}
		s, err := p.ChangeMetered(ctx, sub.ID, []psp.MeteredChange{{ItemID: item, PriceID: other}}, "metered")
		is("usage is billed at another price", len(s.Metered) == 1 && s.Metered[0].PriceID == other)
		return err
	})
	scheduleWorks(step, is, p, sub.ID, prices["cheap"].ID)
	contractsWork(step, is, p, prices["cheap"].ID)
	for _, ends := range []bool{true, false} {
		step("SetCancelAtPeriodEnd", func(ctx context.Context) error {
			s, err := p.SetCancelAtPeriodEnd(ctx, sub.ID, ends, map[bool]string{true: "ends", false: "goes on"}[ends])
			is("the end is another", s.CancelAtPeriodEnd == ends)
			return err
		})
	}
	step("ClearCancelAt", func(ctx context.Context) error {
		s, err := p.ClearCancelAt(ctx, sub.ID, "no date")
		is("the subscription ends", s.CancelAt == nil)
		return err
	})
	step("CreatePortal", func(ctx context.Context) error {
		link, err := p.CreatePortal(ctx, psp.PortalParams{Key: "portal", CustomerID: customer, ReturnURL: "https://app.test/billing", Locale: "it"})
		if link == "" {
			t.Error("CreatePortal returned no URL")
		}
		return err
	})
	step("ReportUsage", func(ctx context.Context) error {
		return p.ReportUsage(ctx, psp.UsageReport{
			EventName: "api-calls", CustomerID: customer, Quantity: 2_500_000, Identifier: "0198c6f2", At: clock.System().Now(),
		})
	})
	// The sandbox has no such event here, and the mock has no version 2 events. TestUsageErrors
	// reads one.
	if _, _, err := (errorreport.Reader{Client: p.Client}).UsageErrors(t.Context(), "evt_none"); p.remembers && !errors.Is(err, psp.ErrNotFound) {
		t.Errorf("UsageErrors of no event: %v", err)
	}
	its := items.Items{Client: p.Client}
	if _, err := its.ListPending(t.Context(), customer, sub.ID); err != nil {
		t.Errorf("what waits: %v", err)
	}
	if all, err := its.ListOfInvoice(t.Context(), sub.LatestInvoiceID); err != nil || its.Recreate(t.Context(), all, clock.System().Now()) != nil {
		t.Errorf("items were not created again: %v", err)
	}
	if _, err := its.InvoiceOf(t.Context(), "ii_none"); p.remembers && !errors.Is(err, psp.ErrNotFound) {
		t.Errorf("the invoice of no item: %v", err)
	}
	step("OtherCurrency", func(ctx context.Context) error {
		other, err := p.OtherCurrency(ctx, customer, "EUR")
		is("there is something in another currency", other == "")
		return err
	})
	step("CustomerCredit", func(ctx context.Context) error {
		credit, err := p.CustomerCredit(ctx, customer, "EUR")
		is("the credit is another", credit == 4800) // four expensive seats became six cheap ones
		return err
	})
	step("SetTrialEnd", func(ctx context.Context) error {
		end := clock.System().Now().Add(10 * 24 * time.Hour).Truncate(time.Second)
		s, err := p.SetTrialEnd(ctx, sub.ID, end, "trial end")
		is("the trial ends at another time", s.TrialEnd != nil && s.TrialEnd.Equal(end))
		return err
	})
	step("OldestUnpaid", func(ctx context.Context) error {
		unpaid, err := p.OldestUnpaid(ctx, sub.ID, clock.System().Now())
		is("an invoice is unpaid", unpaid == nil)
		return err
	})
	step("RefundCheckout", func(ctx context.Context) error { return p.RefundCheckout(ctx, checkout.ID, "refund") })
	step("RefundCheckout again", func(ctx context.Context) error { return p.RefundCheckout(ctx, checkout.ID, "refund") })
	step("RefundedAmount", func(ctx context.Context) error {
		in, err := p.GetInvoice(ctx, sub.LatestInvoiceID)
		if err != nil {
			return err
		}
		_, err = p.RefundedAmount(ctx, in)
		return err
	})
	step("credit notes", func(ctx context.Context) error { return creditNotesWork(ctx, p, sub.LatestInvoiceID, is) })
	step("CollectDue", func(ctx context.Context) error { return p.CollectDue(ctx, sub.ID, "due") })
	step("EndSubscription", func(ctx context.Context) error {
		s, err := p.EndSubscription(ctx, sub.ID, "end")
		is("the subscription is not over", s.Status == "canceled" && s.CanceledAt != nil)
		return err
	})
	step("CancelSubscription", func(ctx context.Context) error {
		s, err := p.CancelSubscription(ctx, sub.ID, "cancel")
		is("the subscription is not canceled", s.Status == "canceled" && s.CanceledAt != nil)
		return err
	})
	called["PayInvoice"] = true
	if err := p.PayInvoice(t.Context(), sub.LatestInvoiceID, "pay"); p.remembers && !errors.Is(err, psp.ErrRefused) {
		t.Errorf("paying a paid invoice: %v", err)
	}
	called["VoidInvoice"] = true
	switch err := p.VoidInvoice(t.Context(), sub.LatestInvoiceID, "void"); {
	case p.remembers && err == nil:
		t.Error("a paid invoice can be voided")
	case !p.remembers && err != nil:
		t.Errorf("VoidInvoice: %v", err)
	}
	step("CreateSubscription", func(ctx context.Context) error {
		owner, err := p.CreateCustomer(ctx, psp.CustomerParams{Key: "of a free plan", Name: "Free"})
		if err != nil {
			return err
		}
		params := psp.CheckoutParams{
			Key: "free subscription", CustomerID: owner, PriceID: prices["free"].ID, Quantity: 1, MeteredPriceIDs: []string{metered},
			InvoicesMonthly: true, Metadata: map[string]string{"tenant_id": "0198c6f9"},
		}
		made, err := p.CreateSubscription(ctx, params)
		if err != nil {
			return err
		}
		is("a free subscription is not active", made.Status == "active" && made.UnitAmount == 0 && len(made.Metered) == 1 && made.Metadata["tenant_id"] == "0198c6f9")
		again, err := p.CreateSubscription(ctx, params)
		is("a repeated key made another subscription", again.ID == made.ID)
		return err
	})
	step("Events", func(ctx context.Context) error {
		n, err := count(p.Events(ctx, clock.System().Now().Add(-time.Hour), []string{
			"customer.created", "customer.updated", "product.created", "price.created", "checkout.session.completed", "customer.subscription.created",
			"customer.subscription.updated", "customer.subscription.deleted", "invoice.created", "invoice.finalized", "invoice.paid", "invoice.updated",
			"invoice.payment_succeeded", "charge.succeeded", "charge.refunded", "payment_intent.created", "payment_intent.succeeded",
			"billing.meter.created", "invoiceitem.created", "price.updated", "product.updated", "invoice_payment.paid",
		}))
		is("little has happened", n > 10)
		return err
	})
	for method := range reflect.TypeFor[*psp.Client]().Methods() {
		if !called[method.Name] {
			t.Errorf("%s is never called", method.Name)
		}
	}
}

// meteredPrice creates a price that bills the usage of a meter, as the provider's dashboard does.
// The service only links such prices.
func (p counterpart) meteredPrice(t *testing.T, meter string) string {
	t.Helper()
	form := url.Values{
		"product": {"prod_1"}, "currency": {"eur"}, "unit_amount": {"2"}, "recurring[interval]": {"month"},
		"recurring[interval_count]": {"3"}, "recurring[usage_type]": {"metered"}, "recurring[meter]": {meter},
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.base+"/v1/prices", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+p.key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var price struct{ ID string }
	if err := json.NewDecoder(resp.Body).Decode(&price); err != nil || price.ID == "" {
		t.Fatalf("a metered price: %s, %v", resp.Status, err)
	}
	return price.ID
}

// pay submits the form of a hosted checkout.
func pay(t *testing.T, page string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page, strings.NewReader("card_number=4242424242424242"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		t.Fatalf("paying: %s", resp.Status)
	}
}

// count reads a list to its end.
func count[T any](list iter.Seq2[T, error]) (n int, err error) {
	for _, err := range list {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
