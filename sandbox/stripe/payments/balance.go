package payments

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// balance is the merchant's balance. The sandbox makes no payouts.
type balance struct {
	Object    string       `json:"object"`
	Available []balanceSum `json:"available"`
	Livemode  bool         `json:"livemode"`
	Pending   []balanceSum `json:"pending"`
}

type balanceSum struct {
	Amount      int64            `json:"amount"`
	Currency    string           `json:"currency"`
	SourceTypes map[string]int64 `json:"source_types"`
}

// GetBalance responds to GET /v1/balance with the charges minus the refunds, by currency.
func GetBalance(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	rows, err := c.Q.QueryContext(ctx, `
		SELECT doc ->> '$.currency', sum(doc ->> '$.amount_captured' - doc ->> '$.amount_refunded') FROM stripe_objects
		WHERE kind = 'charge' AND doc ->> '$.status' = 'succeeded' GROUP BY 1 ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("read balance: %w", err)
	}
	defer rows.Close()
	b := balance{Object: "balance", Available: []balanceSum{}, Pending: []balanceSum{}}
	for rows.Next() {
		var sum balanceSum
		if err := rows.Scan(&sum.Currency, &sum.Amount); err != nil {
			return nil, fmt.Errorf("read balance: %w", err)
		}
		sum.SourceTypes = map[string]int64{"card": sum.Amount}
		b.Available = append(b.Available, sum)
		b.Pending = append(b.Pending, balanceSum{Currency: sum.Currency, SourceTypes: map[string]int64{"card": 0}})
	}
	if len(b.Available) == 0 {
		none := balanceSum{Currency: kernel.DefaultCurrency, SourceTypes: map[string]int64{"card": 0}}
		b.Available, b.Pending = []balanceSum{none}, []balanceSum{none}
	}
	return b, rows.Err()
}
