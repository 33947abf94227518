package usagetest

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// Plans grants the allowances that a test sets.
type Plans struct {
	db          *sqldb.DB
	mu          sync.Mutex
	allowances  map[uuid.UUID]usage.Allowance
	billedUntil time.Time
}

// grants is a table that changes with every grant, so that caches of the allowances are
// invalidated.
const grants = "test_grants"

func newPlans(db *sqldb.DB) *Plans {
	p := &Plans{db: db, allowances: map[uuid.UUID]usage.Allowance{}}
	p.exec(context.Background(), `CREATE TABLE IF NOT EXISTS `+grants+` (tenant_id text)`)
	return p
}

func (p *Plans) exec(ctx context.Context, statement string, args ...any) {
	if _, err := p.db.Conn(ctx).ExecContext(ctx, statement, args...); err != nil {
		panic(err)
	}
}

// Grant sets the allowance of a tenant's subscription.
func (p *Plans) Grant(tenantID uuid.UUID, a usage.Allowance) {
	err := p.db.Tx(context.Background(), func(ctx context.Context) error {
		p.exec(ctx, `INSERT INTO `+grants+` (tenant_id) VALUES ($1)`, tenantID.String())
		p.mu.Lock()
		defer p.mu.Unlock()
		p.allowances[tenantID] = a
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// Allowances implements usage.Plans.
func (p *Plans) Allowances(context.Context, []uuid.UUID) ([]sqldb.Query, func(context.Context) (map[uuid.UUID]usage.Allowance, error)) {
	look := sqldb.Query{Doing: "read the grants", Text: `SELECT 1 FROM ` + grants + ` LIMIT 1`, Row: func(scan func(...any) error) error {
		var one int
		return scan(&one)
	}}
	return []sqldb.Query{look}, func(context.Context) (map[uuid.UUID]usage.Allowance, error) { return p.copyAllowances(), nil }
}

// Prices implements usage.Plans. A plan that bills usage bills all meters with a linked price in
// euros.
func (p *Plans) Prices(ctx context.Context, allowances map[uuid.UUID]usage.Allowance) (map[uuid.UUID]map[uuid.UUID]money.UnitPrice, error) {
	found := map[uuid.UUID]map[uuid.UUID]money.UnitPrice{}
	prices := map[uuid.UUID]money.UnitPrice{}
	for id, a := range allowances {
		if a.BillsUsage {
			found[id] = prices
		}
	}
	if len(found) == 0 {
		return found, nil
	}
	return found, p.db.QueryAll(ctx, sqldb.Query{
		Doing: "read prices", Text: `SELECT meter_id, unit_price_cents FROM meter_prices WHERE currency = 'EUR' AND psp_price_id IS NOT NULL`,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			var cents string
			if err := scan(&id, &cents); err != nil {
				return err
			}
			unit, err := money.ParseUnitPrice(cents)
			prices[id] = unit
			return err
		},
	})
}

// AllowanceTables implements usage.Plans.
func (p *Plans) AllowanceTables() []string { return []string{grants, "meter_prices"} }

func (p *Plans) copyAllowances() map[uuid.UUID]usage.Allowance {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.allowances)
}

// Payer implements billing.Payers. Tenants with a subscription pay in euros, the others in dollars.
func (p *Plans) Payer(_ context.Context, tenantID uuid.UUID) (billing.Payer, error) {
	payer := billing.Payer{Billing: p.copyAllowances()[tenantID].Billing, Currency: "EUR", PaysUsage: true}
	if payer.Billing == nil {
		payer.Currency = "USD"
	}
	return payer, nil
}

// BilledUntil makes IsBilled return true for times before end.
func (p *Plans) BilledUntil(end time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.billedUntil = end
}

// IsBilled implements billing.Payers.
func (p *Plans) IsBilled(_ context.Context, _ uuid.UUID, at, _ time.Time) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return at.Before(p.billedUntil), nil
}

// Customer implements billing.Customers. Every tenant with a subscription has a customer.
func (p *Plans) Customer(_ context.Context, tenantID uuid.UUID) (string, error) {
	if p.copyAllowances()[tenantID].Billing == nil {
		return "", nil
	}
	return "cus", nil
}

// Alerts records alerts.
type Alerts struct {
	mu   sync.Mutex
	Sent []usage.Alert
}

// QuotaAlert implements usage.Notifier.
func (n *Alerts) QuotaAlert(_ context.Context, a usage.Alert) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Sent = append(n.Sent, a)
	return nil
}

// noAudit discards audit entries.
type noAudit struct{}

func (noAudit) Record(context.Context, audit.Entry) error { return nil }

// anyCurrency accepts every currency.
type anyCurrency struct{}

func (anyCurrency) CurrencyExists(context.Context, string) (bool, error) { return true, nil }

// cents returns two decimals for every currency.
func cents(context.Context, string) (decimals int, known bool, err error) { return 2, true, nil }
