package meters

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Usage returns the usage of a customer from start up to, but not including, end.
func Usage(ctx context.Context, st *kernel.Step, m *Meter, customer string, start, end int64) (*big.Rat, error) {
	rows, err := st.Q.QueryContext(ctx, `
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
			return nil, fmt.Errorf("usage %q is not a number", text)
		}
		if m.DefaultAggregation.Formula == formulaLast {
			total = value
		} else {
			total.Add(total, value) // with the formula count, each event has the value 1
		}
	}
	return total, rows.Err()
}

// DecimalText formats a number with up to twelve decimals in its shortest form.
func DecimalText(n *big.Rat) string {
	return strings.TrimSuffix(strings.TrimRight(n.FloatString(12), "0"), ".")
}
