package pricelink

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// createTries is how often creating a price starts again because what the price
// sells, or its product at the provider, changed in between.
const createTries = 4

// CreateParams is how a price is to be created at the provider.
type CreateParams struct {
	// Product is the id of a product at the provider, or the id of the plan's product
	// here. The latter stands for the plan's own product at the provider, which is created
	// if there is none.
	Product  string
	Nickname string // internal name; empty means the plan's slug
}

// Create creates a price at the provider for a price that is not linked, and links
// it.
func (s *Service) Create(ctx context.Context, planID, priceID uuid.UUID, c CreateParams) (catalog.Price, error) {
	return s.create(ctx, planID, priceID, func(ctx context.Context, plan catalog.Plan) (priceParams, bool, error) {
		params := paramsOf(plan, c.Nickname)
		id, err := uuid.Parse(c.Product)
		switch {
		case err != nil:
			params.Product, err = s.foreignProduct(ctx, c.Product)
			return params, false, err
		case id != plan.Product.ID:
			return params, false, errOtherProduct
		}
		params.Product, err = s.ensureProduct(ctx, plan)
		return params, true, err
	}, func(open, wanted priceParams) bool { return open == wanted })
}

// Ensure returns the provider's price of a plan's price. It creates the price and
// the plan's product at the provider if that has not happened yet, which is at the first
// checkout.
func (s *Service) Ensure(ctx context.Context, planID, priceID uuid.UUID) (string, error) {
	price, err := s.create(ctx, planID, priceID, func(ctx context.Context, plan catalog.Plan) (priceParams, bool, error) {
		params := paramsOf(plan, "")
		var err error
		params.Product, err = s.ensureProduct(ctx, plan)
		return params, true, err
	}, priceParams.hasSameTerms)
	switch {
	case errors.Is(err, errLinked):
		return *price.PSPPriceID, nil
	case errors.Is(err, charge.ErrCurrency):
		return "", errCurrency.Wrap(err)
	case err != nil:
		return "", err
	}
	return *price.PSPPriceID, nil
}

// foreignProduct checks the id of a product at the provider that a caller names.
func (s *Service) foreignProduct(ctx context.Context, id string) (string, error) {
	product, err := s.provider.GetProduct(ctx, id)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return "", errProductUnknown
	case err != nil:
		return "", err
	case !product.Active:
		return "", errProductInactive
	}
	return product.ID, nil
}

// priceParams is what the provider is asked to create. It is stored before it is
// sent, and what is stored is what is sent.
type priceParams struct {
	Product       string `json:"product"` // at the provider
	Nickname      string `json:"nickname"`
	Currency      string `json:"currency"`
	Amount        int64  `json:"amount"` // in minor units
	IntervalUnit  string `json:"interval_unit"`
	IntervalCount int32  `json:"interval_count"`
}

// paramsOf returns the parameters that a plan's prices have in common.
func paramsOf(plan catalog.Plan, nickname string) priceParams {
	if nickname == "" {
		nickname = plan.Slug
	}
	return priceParams{Nickname: nickname, IntervalUnit: plan.Interval.Unit, IntervalCount: plan.Interval.Count}
}

// hasSameTerms reports whether both sell the same for the same amount, whatever their
// product and nickname.
func (p priceParams) hasSameTerms(other priceParams) bool {
	p.Product, p.Nickname = other.Product, other.Nickname
	return p == other
}

// isOf reports whether p sells what a price sells.
func (p priceParams) isOf(plan catalog.Plan, price catalog.Price) bool {
	now := paramsOf(plan, "")
	now.Currency, now.Amount = price.Currency, price.PriceCents
	return p.hasSameTerms(now)
}

// create creates a price at the provider in three steps: it stores the operation,
// calls the provider, and stores the result. params returns the parameters besides
// currency and amount, and whether their product was made for the plan. When somebody
// else links the price before the end, create returns errLinked with the price.
//
// Invariant: a price has at most one open operation. Everybody whose parameters fit
// repeats it with its idempotency key, however old it is and whoever began it, until
// its result is known. So a lost answer, a crash and two callers at once all end in
// one price at the provider. An operation with other parameters replaces it.
func (s *Service) create(
	ctx context.Context, planID, priceID uuid.UUID,
	params func(ctx context.Context, plan catalog.Plan) (p priceParams, ownProduct bool, err error),
	fits func(open, wanted priceParams) bool,
) (catalog.Price, error) {
	for range createTries {
		plan, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return catalog.Price{}, err
		}
		if price.PSPPriceID != nil {
			return price, errLinked
		}
		if err := s.checkChargeable(ctx, price.Currency, price.PriceCents); err != nil {
			return catalog.Price{}, err
		}
		wanted, ownProduct, err := params(ctx, plan)
		if err != nil {
			return catalog.Price{}, err
		}
		wanted.Currency, wanted.Amount = price.Currency, price.PriceCents
		op, err := s.beginPrice(ctx, planID, priceID, wanted, fits)
		if errors.Is(err, errChanged) {
			continue
		}
		if err != nil {
			return catalog.Price{}, err
		}
		remote, err := s.performPrice(ctx, price, op)
		if ownProduct && errors.Is(err, psp.ErrNotFound) {
			// Our product is gone there: another account, or deleted by hand.
			err = errors.Join(errChanged, s.forgetProduct(ctx, plan, op.Params.Product))
		}
		if err == nil {
			price, err = s.settlePrice(ctx, planID, priceID, op, remote)
		}
		if !errors.Is(err, errChanged) {
			return price, err
		}
	}
	return catalog.Price{}, errBusy
}

// beginPrice stores the operation, unless an open one fits.
func (s *Service) beginPrice(
	ctx context.Context, planID, priceID uuid.UUID, wanted priceParams, fits func(open, wanted priceParams) bool,
) (op operation[priceParams], err error) {
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		if price.PSPPriceID != nil || !wanted.isOf(plan, price) {
			return errChanged
		}
		op, err = openOperation(ctx, s.store, now, priceID, wanted, fits)
		return err
	})
	return op, err
}

// performPrice calls the provider. If the operation was begun before, the provider
// may have created the price: performPrice looks for it first, because the provider
// remembers idempotency keys for one day only.
func (s *Service) performPrice(ctx context.Context, price catalog.Price, op operation[priceParams]) (psp.Price, error) {
	if op.Repeated {
		remote, err := s.provider.FindPrice(ctx, op.Key.String())
		switch {
		case err == nil && remote.Active:
			return remote, nil
		case err == nil:
			return psp.Price{}, errors.Join(errChanged, s.store.endOperation(ctx, price.ID, op.Key)) // deactivated since
		case !errors.Is(err, psp.ErrNotFound):
			return psp.Price{}, err
		}
	}
	p := op.Params
	remote, err := s.provider.CreatePrice(ctx, psp.PriceParams{
		Key: op.Key.String(), LookupKey: op.Key.String(), ProductID: p.Product, Nickname: p.Nickname,
		Currency: p.Currency, UnitAmount: p.Amount, IntervalUnit: p.IntervalUnit, IntervalCount: int(p.IntervalCount),
		Metadata: map[string]string{"plan_id": price.PlanID.String(), "price_id": price.ID.String()},
	})
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		// The provider understood and did nothing: the next try is a new operation.
		err = errors.Join(err, s.store.endOperation(ctx, price.ID, op.Key))
	}
	if errors.Is(err, psp.ErrCurrency) { // which depends on the account's country
		err = charge.ErrCurrency.Wrap(err)
	}
	return remote, err
}

// settlePrice stores the link and closes the operation.
func (s *Service) settlePrice(
	ctx context.Context, planID, priceID uuid.UUID, op operation[priceParams], remote psp.Price,
) (settled catalog.Price, err error) {
	overtaken := error(nil)
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		settled, overtaken = price, nil
		switch {
		case price.PSPPriceID == nil && op.Params.isOf(plan, price):
			settled, err = s.link(ctx, now, "psp_created", plan, price, remote)
		case price.PSPPriceID == nil:
			overtaken = errChanged
		case *price.PSPPriceID != remote.ID:
			overtaken = errLinked
		}
		if err != nil {
			return err
		}
		return s.store.endOperation(ctx, priceID, op.Key)
	})
	if err == nil && overtaken != nil {
		s.log.InfoContext(ctx, "a price that was created at the payment provider is no longer needed",
			"price_id", priceID, "psp_price_id", remote.ID)
	}
	return settled, errors.Join(err, overtaken)
}
