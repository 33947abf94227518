package checkout

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// readDiscounts reads the parameter discounts. The page does not ask for a code, so the sandbox
// does not support allow_promotion_codes. Next to discounts, it refuses the parameter with Stripe's
// message (https://docs.stripe.com/payments/checkout/discounts).
func (cs *Session) readDiscounts(p *form.Params) {
	w := discounts.Read(p, false)
	if !w.IsGiven() {
		return
	}
	if p.Has("allow_promotion_codes") {
		p.Fail("allow_promotion_codes", "", "You may only specify one of these parameters: allow_promotion_codes, discounts.")
		p.Boolean("allow_promotion_codes", new(bool))
	}
	if cs.Mode == modePayment {
		p.Fail("discounts", "", "The sandbox does not support discounts in `payment` mode.")
	}
	if !w.IsEmpty() {
		cs.Discounts = sessionDiscounts{w}
	}
}

// applyDiscount subtracts the session's discount from its line items. The discount is redeemed
// later, when the session is complete.
func (cs *Session) applyDiscount(ctx context.Context, st *kernel.Step, items []subscriptions.LineItem, cu *customers.Customer) error {
	if len(cs.Discounts) == 0 {
		return nil
	}
	b := discounts.Buyer{Customer: cu.ID, Currency: cs.Currency}
	shares := make([]discounts.Share, len(items))
	for i, item := range items {
		b.Amount += item.AmountSubtotal
		shares[i] = discounts.Share{Product: item.Price.Product, Amount: item.AmountSubtotal}
	}
	a, err := cs.Discounts[0].Resolve(ctx, st, b)
	if err != nil {
		return err
	}
	for i, off := range a.Coupon.AmountsOff(shares, cs.Currency) {
		items[i].AmountDiscount, items[i].AmountTotal = off, items[i].AmountSubtotal-off
		cs.TotalDetails.AmountDiscount += off
	}
	return nil
}
