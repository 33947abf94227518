package invoices

import "github.com/tenantry/tenantry/sandbox/stripe/discounts"

// ApplyDiscount applies a discount to the lines of a draft and updates its totals. Prorations are
// already net of discounts, so they are not discounted again
// (https://docs.stripe.com/billing/subscriptions/billing-mode/compare,
// proration_discounts=included). A nil discount only updates the totals.
func (in *Invoice) ApplyDiscount(a *discounts.ActiveDiscount) {
	in.Subtotal, in.Discounts, in.TotalDiscountAmounts = 0, nil, nil
	shares := make([]discounts.Share, len(in.Lines.Data))
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		in.Subtotal, line.DiscountAmounts = in.Subtotal+line.Amount, nil
		if line.Discountable && !line.isProration() {
			shares[i] = discounts.Share{Product: line.Pricing.PriceDetails.Product, Amount: line.Amount}
		}
	}
	in.Total = in.Subtotal
	if a != nil {
		in.Discounts = discounts.IDs{a.Discount.ID}
		var sum int64
		for i, off := range a.Coupon.AmountsOff(shares, in.Currency) {
			if off > 0 {
				in.Lines.Data[i].DiscountAmounts = discounts.Amounts{{Amount: off, Discount: a.Discount.ID}}
				sum += off
			}
		}
		in.TotalDiscountAmounts = discounts.Amounts{{Amount: sum, Discount: a.Discount.ID}}
		in.Total -= sum
	}
	in.SubtotalExcludingTax, in.TotalExcludingTax = in.Subtotal, in.Total
}

// isProration reports whether the line is a proration.
func (l *Line) isProration() bool {
	of := l.Parent.SubscriptionItemDetails
	return of != nil && of.Proration
}

// SubscriptionItem returns the subscription item that a line bills for a whole period, or "".
func (l *Line) SubscriptionItem() string {
	if of := l.Parent.SubscriptionItemDetails; of != nil && of.InvoiceItem == nil {
		return of.SubscriptionItem
	}
	return ""
}
