package pricelink

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink/pricelinksql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the package's queries in the transaction of the context, or else directly on the
// database.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *pricelinksql.Queries { return pricelinksql.New(s.conn(ctx)) }

// linkPrice links a price to a provider price.
func (s store) linkPrice(ctx context.Context, id uuid.UUID, pspPriceID string, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).LinkPrice(ctx, pricelinksql.LinkPriceParams{
		ID: id, PSPPriceID: &pspPriceID, UpdatedAt: now,
	}), "link price")
}

// unlinkPrice removes the link and reports whether it did. It returns false if the price is no
// longer linked to pspPriceID.
func (s store) unlinkPrice(ctx context.Context, id uuid.UUID, pspPriceID string, now time.Time) (bool, error) {
	n, err := s.q(ctx).UnlinkPrice(ctx, pricelinksql.UnlinkPriceParams{ID: id, PSPPriceID: &pspPriceID, Now: now})
	return n > 0, sqldb.Wrap(err, "unlink price")
}

// insertPrice stores a linked price.
func (s store) insertPrice(ctx context.Context, p catalog.Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).ImportPrice(ctx, pricelinksql.ImportPriceParams{
		ID: p.ID, PlanID: p.PlanID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, CreatedAt: now,
	}), "insert price")
}

// linkOfPlan returns the provider product that a plan is linked to, or "". It returns
// catalog.ErrNotFound if the plan does not exist or is deleted.
func (s store) linkOfPlan(ctx context.Context, id uuid.UUID) (string, error) {
	linked, err := s.q(ctx).LinkOfPlan(ctx, id)
	if err != nil || linked == nil {
		return "", sqldb.WrapAbsent(err, "read the link of a plan", catalog.ErrNotFound)
	}
	return *linked, nil
}

// linkPlan links a plan to a provider product, unless it is linked already.
func (s store) linkPlan(ctx context.Context, id uuid.UUID, pspProductID string, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).LinkPlan(ctx, pricelinksql.LinkPlanParams{
		ID: id, PSPProductID: &pspProductID, UpdatedAt: now,
	}), "link plan")
}

// unlinkPlan removes the link and reports whether it did. It returns false if the plan is no longer
// linked to pspProductID.
func (s store) unlinkPlan(ctx context.Context, id uuid.UUID, pspProductID string, now time.Time) (bool, error) {
	n, err := s.q(ctx).UnlinkPlan(ctx, pricelinksql.UnlinkPlanParams{ID: id, PSPProductID: &pspProductID, Now: now})
	return n > 0, sqldb.Wrap(err, "unlink plan")
}

// operation returns the key and the JSON parameters of the open operation on a price or product, or
// errNoOperation.
func (s store) operation(ctx context.Context, target uuid.UUID) (key uuid.UUID, params []byte, err error) {
	row, err := s.q(ctx).Operation(ctx, target)
	return row.Key, row.Request, sqldb.WrapAbsent(err, "read operation", errNoOperation)
}

// beginOperation opens an operation and replaces the open one, if any.
func (s store) beginOperation(ctx context.Context, target, key uuid.UUID, params []byte, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).BeginOperation(ctx, pricelinksql.BeginOperationParams{
		TargetID: target, Key: key, Request: params, CreatedAt: now,
	}), "begin operation")
}

// endOperation closes an operation, unless it has been replaced.
func (s store) endOperation(ctx context.Context, target, key uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).EndOperation(ctx, pricelinksql.EndOperationParams{TargetID: target, Key: key}), "end operation")
}
