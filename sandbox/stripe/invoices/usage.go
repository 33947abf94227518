package invoices

import (
	"context"
	"fmt"
	"math/big"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/meters"
)

// MeasureLine sets the quantity, amount and description of a metered line from the usage in its
// period. Negative usage counts as zero.
func MeasureLine(ctx context.Context, st *kernel.Step, line *Line, pr catalog.Price, customer, name string) error {
	m, err := meters.All.Get(ctx, st.Q, *pr.Recurring.Meter, "meter")
	if err != nil {
		return err
	}
	quantity, err := meters.Usage(ctx, st, m, customer, line.Period.Start, line.Period.End)
	if err != nil {
		return err
	}
	if quantity.Sign() < 0 {
		quantity.SetInt64(0)
	}
	text := meters.DecimalText(quantity)
	line.Quantity, line.QuantityDecimal = new(big.Int).Quo(quantity.Num(), quantity.Denom()).Int64(), &text
	line.Amount = form.TimesExact(pr.UnitAmountDecimal, quantity, billing.Step(pr.Currency))
	line.Subtotal = line.Amount
	line.Description = fmt.Sprintf("%s × %s (at %s)", text, name, catalog.DescribePrice(pr))
	return nil
}

// remeasure updates the metered lines of a draft, because usage of the period can be reported after
// the draft was created.
func remeasure(ctx context.Context, st *kernel.Step, in *Invoice) error {
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		if line.QuantityDecimal == nil {
			continue
		}
		pr, err := catalog.Prices.Get(ctx, st.Q, line.Pricing.PriceDetails.Price, "price")
		if err != nil {
			return err
		}
		pd, err := catalog.Products.Get(ctx, st.Q, pr.Product, "product")
		if err != nil {
			return err
		}
		if err := MeasureLine(ctx, st, line, *pr, in.Customer, pd.Name); err != nil {
			return err
		}
	}
	var off *discounts.ActiveDiscount
	if len(in.Discounts) > 0 {
		var err error
		if off, err = discounts.Load(ctx, st.Q, in.Discounts[0]); err != nil {
			return err
		}
	}
	in.ApplyDiscount(off)
	return nil
}
