package psp_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/sandbox/clock"
)

// Stripe includes only ten lines in an invoice. A longer preview is completed from the pending
// items, and its amounts are then charged.
func TestInvoicesOfManyLines(t *testing.T) {
	t.Parallel()
	now := clock.NewAdjustable(clock.System(), 0)
	p := newCounterpart(t, counterpart{base: startSandboxAt(t, testKey, now), key: testKey, remembers: true})
	ctx := t.Context()
	const joined = 8
	sub, dearer, yearly := p.addsSeats(ctx, t, now, joined)
	lines := func(in psp.Invoice) (sum int64, n int) {
		for _, line := range in.Lines {
			sum += line.Amount
		}
		return sum, len(in.Lines)
	}
	for _, price := range []string{dearer, yearly} {
		change := psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: price, Quantity: sub.Quantity, ProrationDate: now.Now()}
		change.Waiting = psp.PendingAmounts{Credit: -7, Charge: 500, Currency: "eur"}
		more, err := p.PreviewChange(ctx, change)
		if err != nil {
			t.Fatal(err)
		}
		sum, n := lines(more)
		if sum != more.Subtotal || n != 2*joined+4 {
			t.Errorf("%s: with pending items: %d lines totaling %d, but the subtotal is %d", price, n, sum, more.Subtotal)
		}
		change.Waiting = psp.PendingAmounts{}
		shown, err := p.PreviewChange(ctx, change)
		if err != nil {
			t.Fatal(err)
		}
		if less, n := lines(shown); less != sum-493 || less != shown.Subtotal || n != 2*joined+2 {
			t.Errorf("%s: %d lines of %d, the subtotal is %d", price, n, sum, shown.Subtotal)
		}
		if got := shown.Lines[len(shown.Lines)-1]; price == yearly && (got.PriceID != yearly || got.Amount != 9000*sub.Quantity) {
			t.Errorf("the new period is %+v", got)
		}
	}
	change := psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: dearer, Quantity: sub.Quantity, ProrationDate: now.Now()}
	shown, err := p.PreviewChange(ctx, change)
	if err != nil {
		t.Fatal(err)
	}
	if sub, err = p.ChangeSubscription(ctx, change, nil, "change"); err != nil {
		t.Fatal(err)
	}
	charged, err := p.GetInvoice(ctx, sub.LatestInvoiceID)
	if err != nil {
		t.Fatal(err)
	}
	if sum, n := lines(charged); sum != shown.Subtotal || n != 2*joined+2 || charged.Total != shown.Total {
		t.Errorf("charged %d lines of %d, shown was %d", n, sum, shown.Subtotal)
	}
	p.makesAgainOnce(ctx, t, sub, charged, now)
	p.refusesPagesOfPreviews(ctx, t, sub.ID)
}

// addsSeats creates a subscription with three seats and adds a seat each hour. It returns the prices
// of other plans.
func (p counterpart) addsSeats(ctx context.Context, t *testing.T, now *clock.Adjustable, joined int) (sub psp.Subscription, dearer, yearly string) {
	t.Helper()
	customer, err := p.CreateCustomer(ctx, psp.CustomerParams{Key: "customer", TenantID: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.CreateProduct(ctx, psp.ProductParams{Key: "product", ID: "prod_1", Name: "Team"}); err != nil {
		t.Fatal(err)
	}
	price := func(name string, amount int64, unit string) string {
		made, err := p.CreatePrice(ctx, psp.PriceParams{
			Key: name, ProductID: "prod_1", Currency: "EUR", UnitAmount: amount, IntervalUnit: unit, IntervalCount: 1, LookupKey: name,
		})
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	monthly := price("monthly", 1000, psp.IntervalMonth)
	dearer, yearly = price("dearer", 2500, psp.IntervalMonth), price("yearly", 9000, psp.IntervalYear)
	checkout, err := p.CreateCheckout(ctx, psp.CheckoutParams{
		Key: "checkout", CustomerID: customer, PriceID: monthly, Quantity: 3, SuccessURL: "https://app.test/ok", CancelURL: "https://app.test/no",
	})
	if err != nil {
		t.Fatal(err)
	}
	pay(t, checkout.URL)
	checkout, err = p.GetCheckout(ctx, checkout.ID)
	if err != nil {
		t.Fatal(err)
	}
	sub, err = p.GetSubscription(ctx, checkout.SubscriptionID)
	if err != nil {
		t.Fatal(err)
	}
	for n := range joined {
		now.Advance(time.Hour)
		if sub, err = p.SetQuantity(ctx, psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, Quantity: int64(4 + n)}, false, "seat "+strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	now.Advance(time.Hour)
	return sub, dearer, yearly
}

// makesAgainOnce recreates the items of an invoice, both immediately and after the provider has
// forgotten the idempotency keys. A preview counts them once, with their original fields.
func (p counterpart) makesAgainOnce(ctx context.Context, t *testing.T, sub psp.Subscription, billed psp.Invoice, now *clock.Adjustable) {
	t.Helper()
	its := subscriptions.Items{Client: p.Client}
	all, err := its.ListOfInvoice(ctx, billed.ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := its.Recreate(ctx, all, billed.CreatedAt); err != nil {
			t.Fatal(err)
		}
		now.Advance(25 * time.Hour)
	}
	waiting, err := its.ListPending(ctx, sub.CustomerID, sub.ID)
	if err != nil || len(waiting) != len(billed.Lines) || len(waiting) != len(all) {
		t.Errorf("%d items are pending, %d were billed: %v", len(waiting), len(billed.Lines), err)
	}
	if in, err := its.InvoiceOf(ctx, all[0].ID); in != billed.ID || err != nil {
		t.Errorf("billed item is on invoice %s: %v", in, err)
	}
	if in, err := its.InvoiceOf(ctx, waiting[0].ID); in != "" || err != nil {
		t.Errorf("pending item is on invoice %s: %v", in, err)
	}
	if sum := subscriptions.SumItems(all); sum.Credit+sum.Charge != billed.Subtotal || sum.Credit >= 0 || sum.Currency != "eur" {
		t.Errorf("sums %+v, want a total of %d", sum, billed.Subtotal)
	}
	shown, err := p.PreviewChange(ctx, psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: sub.PriceID, Quantity: sub.Quantity + 1, ProrationDate: now.Now()})
	if err != nil {
		t.Fatal(err)
	}
	was, again := map[string]int{}, map[string]int{}
	for _, line := range billed.Lines {
		was[line.Description+line.PriceID+line.PeriodStart.String()+strconv.FormatInt(line.Amount, 10)]++
	}
	for _, line := range shown.Lines {
		if line.Proration && line.Quantity == 0 {
			again[line.Description+line.PriceID+line.PeriodStart.String()+strconv.FormatInt(line.Amount, 10)]++
		}
	}
	if diff := cmp.Diff(was, again); diff != "" {
		t.Errorf("billed and recreated (-want +got)\n%s", diff)
	}
}

// refusesPagesOfPreviews checks that the sandbox is as strict as Stripe.
func (p counterpart) refusesPagesOfPreviews(ctx context.Context, t *testing.T, subscription string) {
	t.Helper()
	ask := func(method, path string, form url.Values) (status int, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, p.base+"/v1"+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.key)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	if status, body := ask("GET", "/invoices/upcoming_in_1/lines?starting_after=il_tmp_1", nil); status != 400 && status != 404 ||
		!strings.Contains(body, "does not have a line item il_tmp_1") {
		t.Errorf("a second page of a preview: %d %s", status, body)
	}
	if status, body := ask("POST", "/invoices/create_preview", url.Values{"subscription": {subscription}, "limit": {"100"}}); status != 400 {
		t.Errorf("a longer preview: %d %s", status, body)
	}
}
