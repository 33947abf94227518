package pricelink

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink/pricelinksql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the package's queries in the transaction of the context, or on the
// database when there is none.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *pricelinksql.Queries { return pricelinksql.New(s.conn(ctx)) }

// linkPrice links a price to one of the provider.
func (s store) linkPrice(ctx context.Context, id uuid.UUID, pspPriceID string, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).LinkPrice(ctx, pricelinksql.LinkPriceParams{
		ID: id, PSPPriceID: &pspPriceID, UpdatedAt: now,
	}), "link price")
}

// unlinkPrice reports whether it removed the link: false if the price is not linked
// to pspPriceID any more.
func (s store) unlinkPrice(ctx context.Context, id uuid.UUID, pspPriceID string, now time.Time) (bool, error) {
	n, err := s.q(ctx).UnlinkPrice(ctx, pricelinksql.UnlinkPriceParams{ID: id, PSPPriceID: &pspPriceID, Now: now})
	return n > 0, sqldb.Wrap(err, "unlink price")
}

// insertPrice stores a price that is linked already.
func (s store) insertPrice(ctx context.Context, p catalog.Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).ImportPrice(ctx, pricelinksql.ImportPriceParams{
		ID: p.ID, PlanID: p.PlanID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID, CreatedAt: now,
	}), "insert price")
}

// linkOfPlan returns the provider's product that a plan is linked to, "" when it is not
// linked. It is catalog.ErrNotFound for a plan that does not exist or is deleted.
func (s store) linkOfPlan(ctx context.Context, id uuid.UUID) (string, error) {
	linked, err := s.q(ctx).LinkOfPlan(ctx, id)
	if err != nil || linked == nil {
		return "", sqldb.WrapAbsent(err, "read the link of a plan", catalog.ErrNotFound)
	}
	return *linked, nil
}

// linkPlan links a plan to a product of the provider, unless it is linked already.
func (s store) linkPlan(ctx context.Context, id uuid.UUID, pspProductID string, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).LinkPlan(ctx, pricelinksql.LinkPlanParams{
		ID: id, PSPProductID: &pspProductID, UpdatedAt: now,
	}), "link plan")
}

// unlinkPlan reports whether it removed the link: false if the plan is not
// linked to pspProductID any more.
func (s store) unlinkPlan(ctx context.Context, id uuid.UUID, pspProductID string, now time.Time) (bool, error) {
	n, err := s.q(ctx).UnlinkPlan(ctx, pricelinksql.UnlinkPlanParams{ID: id, PSPProductID: &pspProductID, Now: now})
	return n > 0, sqldb.Wrap(err, "unlink plan")
}

// operation returns the key and the parameters, as JSON, of the open operation on a
// price or product, else errNoOperation.
func (s store) operation(ctx context.Context, target uuid.UUID) (key uuid.UUID, params []byte, err error) {
	row, err := s.q(ctx).Operation(ctx, target)
	return row.Key, row.Request, sqldb.WrapAbsent(err, "read operation", errNoOperation)
}

// beginOperation opens an operation, in place of the one that may be open.
func (s store) beginOperation(ctx context.Context, target, key uuid.UUID, params []byte, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).BeginOperation(ctx, pricelinksql.BeginOperationParams{
		TargetID: target, Key: key, Request: params, CreatedAt: now,
	}), "begin operation")
}

// endOperation closes an operation, unless another one has taken its place.
func (s store) endOperation(ctx context.Context, target, key uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).EndOperation(ctx, pricelinksql.EndOperationParams{TargetID: target, Key: key}), "end operation")
}
