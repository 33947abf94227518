package stripe_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"
)

// coupon creates a coupon and a promotion code for it.
func (w *world) coupon(code string, change func(*api.CouponCreateParams), restrict func(*api.PromotionCodeCreateParams)) (*api.Coupon, *api.PromotionCode) {
	w.t.Helper()
	params := &api.CouponCreateParams{PercentOff: api.Float64(50), Duration: api.String("forever"), Name: api.String("Sale")}
	if change != nil {
		change(params)
	}
	co := must[*api.Coupon](w.t)(w.V1Coupons.Create(w.t.Context(), params))
	of := &api.PromotionCodeCreateParams{
		Code: &code, Promotion: &api.PromotionCodeCreatePromotionParams{Type: api.String("coupon"), Coupon: &co.ID},
	}
	if restrict != nil {
		restrict(of)
	}
	return co, must[*api.PromotionCode](w.t)(w.V1PromotionCodes.Create(w.t.Context(), of))
}

func once(p *api.CouponCreateParams) { p.Duration = api.String("once") }

// discounted buys a plan with a promotion code.
func (w *world) discounted(p *api.Price, code *api.PromotionCode) *api.Subscription {
	w.t.Helper()
	params := w.checkoutParams(p, 1)
	params.Discounts = []*api.CheckoutSessionCreateDiscountParams{{PromotionCode: &code.ID}}
	return w.paid(params, "4242424242424242")
}

// wantRefused checks that Stripe's error names the parameter.
func wantRefused(t *testing.T, err error, param string) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.HTTPStatusCode != http.StatusBadRequest || e.Param != param {
		t.Errorf("error %v, want an error on %s", err, param)
	}
}

// Invalid parameters are refused, as documented in https://docs.stripe.com/api/coupons/create and
// https://docs.stripe.com/api/promotion_codes/create.
func TestCouponsAndCodesAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for param, p := range map[string]*api.CouponCreateParams{
		"percent_off":        {},
		"currency":           {AmountOff: api.Int64(100)},
		"duration_in_months": {PercentOff: api.Float64(10), Duration: api.String("repeating")},
		"name":               {PercentOff: api.Float64(10), Name: api.String("01234567890123456789012345678901234567890")},
	} {
		_, err := w.V1Coupons.Create(t.Context(), p)
		wantRefused(t, err, param)
	}
	co, code := w.coupon("SPRING", nil, nil)
	_, err := w.V1PromotionCodes.Create(t.Context(), &api.PromotionCodeCreateParams{
		Code: api.String("spring"), Promotion: &api.PromotionCodeCreatePromotionParams{Type: api.String("coupon"), Coupon: &co.ID},
	})
	wantRefused(t, err, "code")
	found := w.V1PromotionCodes.List(t.Context(), &api.PromotionCodeListParams{Code: api.String("sPrInG")})
	if data := found.Data(); len(data) != 1 || data[0].ID != code.ID {
		t.Errorf("found %d codes", len(data))
	}
	must[*api.PromotionCode](t)(w.V1PromotionCodes.Update(t.Context(), code.ID, &api.PromotionCodeUpdateParams{Active: api.Bool(false)}))
	w.coupon("spring", nil, nil) // a code is unique among active codes
}

// https://docs.stripe.com/payments/checkout/discounts: the session, the subscription and the invoice
// have the discount, and discounts exclude allow_promotion_codes.
func TestDiscountOfACheckout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, code := w.coupon("HALF", nil, nil)
	params := w.checkoutParams(w.sold(1999, "eur", "month"), 1)
	params.Discounts = []*api.CheckoutSessionCreateDiscountParams{{PromotionCode: &code.ID}}
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
	if session.AmountSubtotal != 1999 || session.AmountTotal != 999 || session.TotalDetails.AmountDiscount != 1000 {
		t.Errorf("total %d of %d", session.AmountTotal, session.AmountSubtotal)
	}
	params.AllowPromotionCodes = api.Bool(true)
	_, err := w.V1CheckoutSessions.Create(t.Context(), params)
	wantRefused(t, err, "allow_promotion_codes")
	params.AllowPromotionCodes = nil

	sub := w.paid(params, "4242424242424242")
	in := w.latestInvoice(sub.ID)
	if in.Subtotal != 1999 || in.Total != 999 || in.AmountPaid != 999 || in.TotalDiscountAmounts[0].Amount != 1000 ||
		in.Lines.Data[0].Amount != 1999 || in.Lines.Data[0].DiscountAmounts[0].Amount != 1000 {
		t.Errorf("invoice of %d, less %v", in.Subtotal, in.TotalDiscountAmounts)
	}
	expand := &api.SubscriptionRetrieveParams{}
	expand.AddExpand("discounts")
	got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(t.Context(), sub.ID, expand))
	if d := got.Discounts[0]; d.PromotionCode.ID != code.ID || d.Source.Coupon.ID == "" || d.End != 0 || d.Subscription != sub.ID {
		t.Errorf("discount %+v", d)
	}
	used := must[*api.PromotionCode](t)(w.V1PromotionCodes.Retrieve(t.Context(), code.ID, nil))
	if used.TimesRedeemed != 1 {
		t.Errorf("redeemed %d times", used.TimesRedeemed)
	}
}

// https://docs.stripe.com/billing/subscriptions/coupons#coupon-duration: once, repeating and forever.
func TestDurations(t *testing.T) {
	t.Parallel()
	for duration, want := range map[string][]int64{"once": {500, 1000, 1000, 1000}, "repeating": {500, 500, 1000, 1000}, "forever": {500, 500, 500, 500}} {
		w := newWorld(t)
		_, code := w.coupon("HALF", func(p *api.CouponCreateParams) {
			p.Duration = &duration
			if duration == "repeating" {
				p.DurationInMonths = api.Int64(2)
			}
		}, nil)
		sub := w.discounted(w.sold(1000, "eur", "month"), code)
		for n, total := range want {
			if in := w.latestInvoice(sub.ID); in.Total != total {
				t.Errorf("%s: invoice %d of %d, want %d", duration, n, in.Total, total)
			}
			w.until(float64(31*(n+1)) + 1)
		}
	}
	// The first year of a yearly plan is discounted completely.
	w := newWorld(t)
	_, code := w.coupon("HALF", func(p *api.CouponCreateParams) {
		p.Duration, p.DurationInMonths = api.String("repeating"), api.Int64(2)
	}, nil)
	sub := w.discounted(w.sold(12000, "eur", "year"), code)
	if in := w.latestInvoice(sub.ID); in.Total != 6000 {
		t.Errorf("first year: %d", in.Total)
	}
	w.until(366)
	if in := w.latestInvoice(sub.ID); in.Total != 12000 {
		t.Errorf("second year: %d", in.Total)
	}
}

// https://docs.stripe.com/api/promotion_codes/object#promotion_code_object-restrictions and
// https://docs.stripe.com/api/coupons/object: limits of codes and coupons.
func TestLimitsOfCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	price := w.sold(1000, "eur", "month")
	open := func(customer string, code *api.PromotionCode) error {
		params := w.checkoutParams(price, 1)
		if customer != "" {
			params.Customer = &customer
		}
		params.Discounts = []*api.CheckoutSessionCreateDiscountParams{{PromotionCode: &code.ID}}
		_, err := w.V1CheckoutSessions.Create(t.Context(), params)
		return err
	}
	_, single := w.coupon("SINGLE", nil, func(p *api.PromotionCodeCreateParams) { p.MaxRedemptions = api.Int64(1) })
	sub := w.discounted(price, single)
	wantRefused(t, open("", single), "discounts[0][promotion_code]")
	if got := must[*api.PromotionCode](t)(w.V1PromotionCodes.Retrieve(t.Context(), single.ID, nil)); got.Active {
		t.Error("a code that has reached its maximum is active")
	}
	_, first := w.coupon("FIRST", nil, func(p *api.PromotionCodeCreateParams) {
		p.Restrictions = &api.PromotionCodeCreateRestrictionsParams{FirstTimeTransaction: api.Bool(true)}
	})
	wantRefused(t, open(sub.Customer.ID, first), "discounts[0][promotion_code]")
	_, least := w.coupon("LEAST", nil, func(p *api.PromotionCodeCreateParams) {
		p.Restrictions = &api.PromotionCodeCreateRestrictionsParams{MinimumAmount: api.Int64(1001), MinimumAmountCurrency: api.String("eur")}
	})
	wantRefused(t, open("", least), "discounts[0][promotion_code]")
	_, short := w.coupon("SHORT", nil, func(p *api.PromotionCodeCreateParams) { p.ExpiresAt = api.Int64(start.Add(time.Hour).Unix()) })
	w.advance(2 * time.Hour)
	wantRefused(t, open("", short), "discounts[0][promotion_code]")
	_, dollars := w.coupon("DOLLARS", func(p *api.CouponCreateParams) {
		p.PercentOff, p.AmountOff, p.Currency = nil, api.Int64(100), api.String("usd")
	}, nil)
	wantRefused(t, open("", dollars), "discounts[0][promotion_code]")
	// applies_to limits a coupon to products.
	_, other := w.coupon("OTHER", func(p *api.CouponCreateParams) {
		p.AppliesTo = &api.CouponCreateAppliesToParams{Products: []*string{&w.sold(1, "eur", "month").Product.ID}}
	}, nil)
	if in := w.latestInvoice(w.discounted(price, other).ID); in.Total != 1000 {
		t.Errorf("a coupon for another product: %d", in.Total)
	}
}

// https://docs.stripe.com/billing/subscriptions/prorations#credit-prorations: prorations are net of
// discounts (proration_discounts=included), in the preview as in the invoice.
func TestProrationsAreNet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, code := w.coupon("HALF", nil, nil)
	_, quarter := w.coupon("QUARTER", func(p *api.CouponCreateParams) { p.PercentOff = api.Float64(25) }, nil)
	sub := w.discounted(w.sold(1000, "eur", "month"), code)
	large := w.sold(3000, "eur", "month")
	w.until(14) // of 28
	preview := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{
		Subscription: &sub.ID, Discounts: []*api.InvoiceCreatePreviewDiscountParams{{PromotionCode: &quarter.ID}},
		SubscriptionDetails: &api.InvoiceCreatePreviewSubscriptionDetailsParams{
			Items:             []*api.InvoiceCreatePreviewSubscriptionDetailsItemParams{{ID: &sub.Items.Data[0].ID, Price: &large.ID}},
			ProrationBehavior: api.String("always_invoice"),
		},
	}))
	changed := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		Items:             []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Price: &large.ID}},
		ProrationBehavior: api.String("always_invoice"), Discounts: []*api.SubscriptionUpdateDiscountParams{{PromotionCode: &quarter.ID}},
	}))
	in := w.latestInvoice(changed.ID)
	if in.Lines.Data[0].Amount != -250 || in.Lines.Data[1].Amount != 1125 || in.Total != 875 || preview.Total != in.Total {
		t.Errorf("credit %d, charge %d, preview %d", in.Lines.Data[0].Amount, in.Lines.Data[1].Amount, preview.Total)
	}
	_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		Items: []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: api.Int64(2)}}, PaymentBehavior: api.String("pending_if_incomplete"),
		Discounts: []*api.SubscriptionUpdateDiscountParams{{PromotionCode: &code.ID}},
	})
	wantRefused(t, err, "discounts") // https://docs.stripe.com/billing/subscriptions/pending-updates-reference
	if _, err := w.V1Subscriptions.DeleteDiscount(t.Context(), sub.ID, nil); err != nil {
		t.Error(err)
	}
	w.until(30)
	if in := w.latestInvoice(sub.ID); in.Total != 3000 {
		t.Errorf("without a discount: %d", in.Total)
	}
}

// The invoice of a trial uses up a coupon with the duration once. Stripe does not document this; the
// service works either way (docs/stripe.md).
func TestOnceEndsWithTheTrialInvoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	co, code := w.coupon("ONCE", once, nil)
	params := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(14)}
	params.Discounts = []*api.CheckoutSessionCreateDiscountParams{{PromotionCode: &code.ID}}
	sub := w.paid(params, "4242424242424242")
	if got := w.subscription(sub.ID); len(got.Discounts) != 0 {
		t.Error("the discount outlives the invoice of the trial")
	}
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
		Discounts: []*api.SubscriptionUpdateDiscountParams{{Coupon: &co.ID}},
	}))
	w.until(15)
	if in := w.latestInvoice(sub.ID); in.Total != 500 {
		t.Errorf("the first paid invoice: %d", in.Total)
	}
}
