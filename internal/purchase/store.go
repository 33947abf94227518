package purchase

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/purchase/purchasesql"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// errNoPurchase means that the purchase does not exist.
var errNoPurchase = errors.New("no such purchase")

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *purchasesql.Queries { return purchasesql.New(s.db.Conn(ctx)) }

// insert stores a purchase that is about to be opened at the provider. It is idempotent.
func (s store) insert(ctx context.Context, p purchase, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertPurchase(ctx, purchasesql.InsertPurchaseParams{
		ID: p.id, TenantID: p.tenantID, PackID: p.packID, Pack: p.slug, FeatureCode: p.featureCode, Amount: int64(p.amount),
		ExpiresAfterDays: p.expiresAfterDays, Currency: p.currency, PriceCents: p.priceCents, Quantity: p.quantity, CreatedAt: now,
	}), "insert purchase")
}

// load returns a purchase, or errNoPurchase.
func (s store) load(ctx context.Context, tenantID, id uuid.UUID) (purchase, error) {
	row, err := s.q(ctx).Purchase(ctx, purchasesql.PurchaseParams{TenantID: tenantID, ID: id})
	return purchaseOf(row), sqldb.WrapAbsent(err, "read purchase", errNoPurchase)
}

// ofSession returns the purchase of a session, or errNoPurchase.
func (s store) ofSession(ctx context.Context, session string) (purchase, error) {
	tenantID, err := distribution.TenantOf(ctx, s.db, session)
	if err != nil {
		return purchase{}, err
	}
	row, err := s.q(ctx).PurchaseOfSession(ctx, purchasesql.PurchaseOfSessionParams{PSPSessionID: &session, TenantID: tenantID})
	return purchaseOf(row), sqldb.WrapAbsent(err, "read purchase of a session", errNoPurchase)
}

func purchaseOf(row purchasesql.PackPurchase) purchase {
	p := purchase{
		id: row.ID, tenantID: row.TenantID, packID: row.PackID, slug: row.Pack, featureCode: row.FeatureCode, amount: money.Quantity(row.Amount),
		expiresAfterDays: row.ExpiresAfterDays, currency: row.Currency, priceCents: row.PriceCents, quantity: row.Quantity,
		createdAt: row.CreatedAt, completed: row.CompletedAt != nil, ended: row.EndedAt != nil, refunded: row.RefundedAt != nil,
	}
	if row.PSPSessionID != nil {
		p.session = *row.PSPSessionID
	}
	return p
}

// lastAnswered returns the tenant's newest purchase of the pack for which the provider has returned
// a session, or errNoPurchase.
func (s store) lastAnswered(ctx context.Context, tenantID, packID uuid.UUID) (uuid.UUID, error) {
	id, err := s.q(ctx).LastAnsweredPurchase(ctx, purchasesql.LastAnsweredPurchaseParams{TenantID: tenantID, PackID: packID})
	return id, sqldb.WrapAbsent(err, "read last answered purchase", errNoPurchase)
}

// setSession stores the session of a purchase. It reports whether the purchase had no session
// before.
func (s store) setSession(ctx context.Context, p purchase, session string, now time.Time) (bool, error) {
	n, err := s.q(ctx).SetSession(ctx, purchasesql.SetSessionParams{TenantID: p.tenantID, ID: p.id, PSPSessionID: &session, UpdatedAt: now})
	if err == nil {
		err = distribution.RememberTenant(ctx, s.db, session, p.tenantID)
	}
	return n == 1, sqldb.Wrap(err, "set session of a purchase")
}

// openOfTenant lists the tenant's newest purchases that were created after since and can still be
// paid or granted.
func (s store) openOfTenant(ctx context.Context, tenantID uuid.UUID, since time.Time) ([]purchase, error) {
	rows, err := s.q(ctx).OpenPurchasesOfTenant(ctx, purchasesql.OpenPurchasesOfTenantParams{TenantID: tenantID, Since: since})
	open := make([]purchase, len(rows))
	for i, row := range rows {
		open[i] = purchase{id: row.ID, tenantID: tenantID, session: *row.PSPSessionID}
	}
	return open, sqldb.Wrap(err, "list open purchases of a tenant")
}

// open lists the purchases that were created after since, can still be paid or granted, and were
// not read back after notSince, oldest first.
func (s store) open(ctx context.Context, since, notSince time.Time, most int32) ([]purchase, error) {
	rows, err := s.q(ctx).OpenPurchases(ctx, purchasesql.OpenPurchasesParams{Since: since, NotSince: &notSince, Most: most})
	open := make([]purchase, len(rows))
	for i, row := range rows {
		open[i] = purchase{id: row.ID, tenantID: row.TenantID, session: *row.PSPSessionID}
	}
	return open, sqldb.Wrap(err, "list open purchases")
}

// claimReadBack claims the read-back of a purchase for the caller. It reports false if the purchase
// was read back after notSince.
func (s store) claimReadBack(ctx context.Context, p purchase, now, notSince time.Time) (bool, error) {
	n, err := s.q(ctx).LookAt(ctx, purchasesql.LookAtParams{TenantID: p.tenantID, ID: p.id, Now: &now, NotSince: &notSince})
	return n == 1, sqldb.Wrap(err, "claim read-back of a purchase")
}

// complete marks a purchase as granted and invoiced. It reports whether it was open before.
func (s store) complete(ctx context.Context, p purchase, now time.Time) (bool, error) {
	n, err := s.q(ctx).Complete(ctx, purchasesql.CompleteParams{TenantID: p.tenantID, ID: p.id, CompletedAt: &now})
	return n == 1, sqldb.Wrap(err, "complete purchase")
}

// end marks a purchase as over without a payment.
func (s store) end(ctx context.Context, p purchase, now time.Time) error {
	_, err := s.q(ctx).End(ctx, purchasesql.EndParams{TenantID: p.tenantID, ID: p.id, EndedAt: &now})
	return sqldb.Wrap(err, "end purchase")
}

// markRefunded marks a purchase as refunded. It reports false if the purchase was marked before.
func (s store) markRefunded(ctx context.Context, p purchase, now time.Time) (bool, error) {
	n, err := s.q(ctx).MarkRefunded(ctx, purchasesql.MarkRefundedParams{TenantID: p.tenantID, ID: p.id, RefundedAt: &now})
	return n == 1, sqldb.Wrap(err, "mark purchase as refunded")
}

func (s store) discard(ctx context.Context, tenantID uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeletePurchases(ctx, tenantID), "delete purchases")
}
