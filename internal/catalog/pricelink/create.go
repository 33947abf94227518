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

// createTries is the maximum number of attempts to create a price. An attempt restarts if the terms
// of the price, or its product at the provider, change concurrently.
const createTries = 4

// CreateParams are the parameters for creating a price at the provider.
type CreateParams struct {
	// Product is the ID of a product at the provider, or the ID of the plan's local product. The
	// local ID stands for the plan's own product at the provider, which is created if necessary.
	Product  string
	Nickname string // internal name; empty for the plan's slug
}

// Create creates a price at the provider for an unlinked price and links it.
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

// Ensure returns the provider's price ID for a plan's price. If necessary, as at the first
// checkout, it creates the price and the plan's product at the provider.
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

// foreignProduct checks a provider product ID that a caller passed.
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

// priceParams are the parameters of a create request to the provider. They are stored first, and
// the stored parameters are sent.
type priceParams struct {
	Product       string `json:"product"` // the provider's product ID
	Nickname      string `json:"nickname"`
	Currency      string `json:"currency"`
	Amount        int64  `json:"amount"` // in minor units
	IntervalUnit  string `json:"interval_unit"`
	IntervalCount int32  `json:"interval_count"`
}

// paramsOf returns the parameters that all prices of a plan share.
func paramsOf(plan catalog.Plan, nickname string) priceParams {
	if nickname == "" {
		nickname = plan.Slug
	}
	return priceParams{Nickname: nickname, IntervalUnit: plan.Interval.Unit, IntervalCount: plan.Interval.Count}
}

// hasSameTerms reports whether both have the same amount and interval, ignoring product and
// nickname.
func (p priceParams) hasSameTerms(other priceParams) bool {
	p.Product, p.Nickname = other.Product, other.Nickname
	return p == other
}

// matches reports whether p has the current terms of price.
func (p priceParams) matches(plan catalog.Plan, price catalog.Price) bool {
	now := paramsOf(plan, "")
	now.Currency, now.Amount = price.Currency, price.PriceCents
	return p.hasSameTerms(now)
}

// create creates a price at the provider in three steps: it stores the operation, calls the
// provider, and stores the result. params returns the parameters except currency and amount, and
// whether their product was created for the plan. If the price is linked concurrently, create
// returns errLinked with the price.
//
// Invariant: a price has at most one open operation. All callers with matching parameters repeat
// the operation with its idempotency key until its result is known, regardless of its age and of
// the caller that started it. A lost response, a crash and concurrent calls therefore all result in
// one price at the provider. A call with other parameters replaces the operation.
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
			// The plan's product does not exist at the provider: the account differs, or the
			// product was deleted manually.
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

// beginPrice stores the operation, unless an open one matches.
func (s *Service) beginPrice(
	ctx context.Context, planID, priceID uuid.UUID, wanted priceParams, fits func(open, wanted priceParams) bool,
) (op operation[priceParams], err error) {
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := s.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		if price.PSPPriceID != nil || !wanted.matches(plan, price) {
			return errChanged
		}
		op, err = openOperation(ctx, s.store, now, priceID, wanted, fits)
		return err
	})
	return op, err
}

// performPrice calls the provider. If the operation is repeated, it first looks for an existing
// price, because the provider stores idempotency keys for only one day.
func (s *Service) performPrice(ctx context.Context, price catalog.Price, op operation[priceParams]) (psp.Price, error) {
	if op.Repeated {
		remote, err := s.provider.FindPrice(ctx, op.Key.String())
		switch {
		case err == nil && remote.Active:
			return remote, nil
		case err == nil:
			return psp.Price{}, errors.Join(errChanged, s.store.endOperation(ctx, price.ID, op.Key)) // the price was deactivated since
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
		// The provider rejected the request, so the next attempt is a new operation.
		err = errors.Join(err, s.store.endOperation(ctx, price.ID, op.Key))
	}
	if errors.Is(err, psp.ErrCurrency) { // depends on the account's country
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
		case price.PSPPriceID == nil && op.Params.matches(plan, price):
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
		s.log.InfoContext(ctx, "created price at the payment provider is not used",
			"price_id", priceID, "psp_price_id", remote.ID)
	}
	return settled, errors.Join(err, overtaken)
}
