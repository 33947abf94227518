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

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
)

// Stripe shows ten lines of an invoice in itself. A preview with more is completed from
// the items that wait, and what it shows is then charged.
func TestInvoicesOfManyLines(t *testing.T) {
	t.Parallel()
	now := clock.NewAdjustable(clock.System(), 0)
	p := newCounterpart(t, counterpart{base: startSandboxAt(t, testKey, now), key: testKey, remembers: true})
	ctx := t.Context()
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
	monthly, dearer, yearly := price("monthly", 1000, psp.IntervalMonth), price("dearer", 2500, psp.IntervalMonth), price("yearly", 9000, psp.IntervalYear)
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
	sub, err := p.GetSubscription(ctx, checkout.SubscriptionID)
	if err != nil {
		t.Fatal(err)
	}
	const joined = 8
	for n := range joined {
		now.Advance(time.Hour)
		if sub, err = p.SetQuantity(ctx, sub.ID, sub.ItemID, int64(4+n), false, "seat "+strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	now.Advance(time.Hour)
	lines := func(in psp.Invoice) (sum int64, n int) {
		for _, line := range in.Lines {
			sum += line.Amount
		}
		return sum, len(in.Lines)
	}
	for _, price := range []string{dearer, yearly} {
		change := psp.Change{SubscriptionID: sub.ID, ItemID: sub.ItemID, PriceID: price, Quantity: sub.Quantity, ProrationDate: now.Now()}
		shown, err := p.PreviewChange(ctx, change)
		if err != nil {
			t.Fatal(err)
		}
		if sum, n := lines(shown); sum != shown.Subtotal || n != 2*joined+2 {
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
	p.refusesPagesOfPreviews(ctx, t, sub.ID)
}

// refusesPagesOfPreviews holds that the sandbox is no kinder than Stripe.
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
