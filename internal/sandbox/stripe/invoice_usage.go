package stripe

import (
	"context"
	"fmt"
	"math/big"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// measure fills a line with what was used in its period. Usage below zero counts
// as none.
func measureLine(ctx context.Context, st *kernel.Step, line *invoiceLine, pr price, customer, name string) error {
	m, err := meters.Get(ctx, st.Q, *pr.Recurring.Meter, "meter")
	if err != nil {
		return err
	}
	quantity, err := readUsage(ctx, st, m, customer, line.Period.Start, line.Period.End)
	if err != nil {
		return err
	}
	if quantity.Sign() < 0 {
		quantity.SetInt64(0)
	}
	text := decimalText(quantity)
	line.Quantity, line.QuantityDecimal = new(big.Int).Quo(quantity.Num(), quantity.Denom()).Int64(), &text
	line.Amount = form.TimesExact(pr.UnitAmountDecimal, quantity)
	line.Subtotal = line.Amount
	line.Description = fmt.Sprintf("%s × %s (at %s)", text, name, describePrice(pr))
	return nil
}

// measureAgain brings the metered lines of a draft up to date: what was reported
// while it waited still counts in the period that it is dated in.
func remeasure(ctx context.Context, st *kernel.Step, in *invoice) error {
	before := in.Total
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		if line.QuantityDecimal == nil {
			continue
		}
		pr, err := prices.Get(ctx, st.Q, line.Pricing.PriceDetails.Price, "price")
		if err != nil {
			return err
		}
		pd, err := products.Get(ctx, st.Q, pr.Product, "product")
		if err != nil {
			return err
		}
		in.Total -= line.Amount
		if err := measureLine(ctx, st, line, *pr, in.Customer, pd.Name); err != nil {
			return err
		}
		in.Total += line.Amount
	}
	in.Subtotal += in.Total - before
	in.SubtotalExcludingTax, in.TotalExcludingTax = in.Subtotal, in.Total
	return nil
}
