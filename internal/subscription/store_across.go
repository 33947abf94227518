package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/sheet"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// acrossEntry is a subscription with its tenant and its monthly recurring revenue.
type acrossEntry struct {
	sub     Subscription
	tenant  sheet.NamedTenant
	revenue money.Money
}

// pageAcross returns a page of the subscriptions of all tenants and their total number.
func (s store) pageAcross(ctx context.Context, q page.Query) ([]acrossEntry, int64, error) {
	sel := page.Select{
		Columns: "s.id, s.tenant_id, t.name, s.currency, CASE WHEN s.journaled_active THEN s.journaled_amount ELSE 0 END",
		From:    "subscriptions s", Join: "JOIN tenants t ON t.id = s.tenant_id",
	}
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, sel, func(row page.Scanner) (e acrossEntry, err error) {
		err = row.Scan(&e.sub.ID, &e.tenant.ID, &e.tenant.Name, &e.revenue.Currency, &e.revenue.AmountCents)
		return e, err
	})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list subscriptions across tenants")
	}
	for i, e := range entries {
		if entries[i].sub, err = s.byID(ctx, e.tenant.ID, e.sub.ID); err != nil {
			return nil, 0, err
		}
	}
	return entries, total, nil
}
