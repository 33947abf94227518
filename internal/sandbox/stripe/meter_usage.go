package stripe

import (
	"context"
	"fmt"
	"math/big"
	"strings"
)

// used is what a customer has used of a meter from start to before end: nothing
// when nothing was reported.
func (st *step) used(ctx context.Context, m *meter, customer string, start, end int64) (*big.Rat, error) {
	rows, err := st.q.QueryContext(ctx, `
		SELECT value FROM stripe_meter_events
		WHERE meter = ? AND customer = ? AND at >= ? AND at < ? ORDER BY at, seq`, m.ID, customer, start, end)
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	defer rows.Close()
	total := new(big.Rat)
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read usage: %w", err)
		}
		value, ok := new(big.Rat).SetString(text)
		if !ok {
			return nil, fmt.Errorf("usage %q is no number", text)
		}
		if m.DefaultAggregation.Formula == formulaLast {
			total = value
		} else {
			total.Add(total, value) // events that are counted have the value 1
		}
	}
	return total, rows.Err()
}

// decimalText shows a number with up to twelve decimals in its shortest form.
func decimalText(n *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(n.FloatString(12), "0"), ".")
}

// metered tells whether a price is for what is used, rather than for a quantity
// that was agreed upon.
func (pr price) metered() bool { return pr.Recurring != nil && pr.Recurring.UsageType == usageMetered }

// meteredLines are the lines of an invoice for what was used of a subscription's
// metered items from start to before end, in the order of the items. Usage is
// paid for afterwards, so this is the period that is over, or what there has
// been of the current one. In a trial it costs nothing and has no lines.
func (st *step) meteredLines(ctx context.Context, sub *subscription, start, end int64, names productNames) ([]invoiceLine, error) {
	if sub.Status == subscriptionTrialing {
		return nil, nil
	}
	var lines []invoiceLine
	for _, item := range sub.Items.Data {
		if !item.Price.metered() {
			continue
		}
		name := names[item.Price.Product]
		line := newInvoiceLine(sub, item, name)
		line.Period = linePeriod{Start: start, End: end}
		if err := st.measure(ctx, &line, item.Price, sub.Customer, name); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// measure fills a line with what was used in its period. Usage below zero counts
// as none.
func (st *step) measure(ctx context.Context, line *invoiceLine, pr price, customer, name string) error {
	m, err := meters.get(ctx, st.q, *pr.Recurring.Meter, "meter")
	if err != nil {
		return err
	}
	quantity, err := st.used(ctx, m, customer, line.Period.Start, line.Period.End)
	if err != nil {
		return err
	}
	if quantity.Sign() < 0 {
		quantity.SetInt64(0)
	}
	text := decimalText(quantity)
	line.Quantity, line.QuantityDecimal = new(big.Int).Quo(quantity.Num(), quantity.Denom()).Int64(), &text
	line.Amount = timesExact(pr.UnitAmountDecimal, quantity)
	line.Subtotal = line.Amount
	line.Description = fmt.Sprintf("%s × %s (at %s)", text, name, describePrice(pr))
	return nil
}

// measureAgain brings the metered lines of a draft up to date: what was reported
// while it waited still counts in the period that it is dated in.
func (st *step) measureAgain(ctx context.Context, in *invoice) error {
	before := in.Total
	for i := range in.Lines.Data {
		line := &in.Lines.Data[i]
		if line.QuantityDecimal == nil {
			continue
		}
		pr, err := prices.get(ctx, st.q, line.Pricing.PriceDetails.Price, "price")
		if err != nil {
			return err
		}
		pd, err := products.get(ctx, st.q, pr.Product, "product")
		if err != nil {
			return err
		}
		in.Total -= line.Amount
		if err := st.measure(ctx, line, *pr, in.Customer, pd.Name); err != nil {
			return err
		}
		in.Total += line.Amount
	}
	in.Subtotal += in.Total - before
	in.SubtotalExcludingTax, in.TotalExcludingTax = in.Subtotal, in.Total
	return nil
}
