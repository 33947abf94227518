package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

// createTries bounds how often a price is begun anew because what it sells, or
// its product at the provider, changed in between.
const createTries = 4

var (
	errPSPProductUnknown  = fault.OnField("product_id", "validation.exists")
	errPSPProductInactive = fault.OnField("product_id", "validation.psp_inactive")
	errOtherProduct       = fault.OnField("product_id", "validation.plan_product")

	// errChanged says that a price is not what the provider was asked for.
	errChanged = errors.New("the price was changed in between")
	errBusy    = fault.New(fault.Unavailable, "error.unavailable")
)

// CreateParams is how a price is to be made at the provider.
type CreateParams struct {
	// Product is the id of a product at the provider, or that of the plan's
	// product here, whose counterpart is then made if there is none.
	Product  string
	Nickname string // internal name; empty: the plan's slug
}

// Create makes a price at the provider for one that is not linked, and links it.
func (p *PSPPrices) Create(ctx context.Context, planID, priceID uuid.UUID, c CreateParams) (Price, error) {
	return p.create(ctx, planID, priceID, func(ctx context.Context, plan Plan) (priceRequest, bool, error) {
		r := requestOf(plan, c.Nickname)
		id, err := uuid.Parse(c.Product)
		switch {
		case err != nil:
			r.Product, err = p.foreignProduct(ctx, c.Product)
			return r, false, err
		case id != plan.Product.ID:
			return r, false, errOtherProduct
		}
		r.Product, err = p.ensureProduct(ctx, plan.Product)
		return r, true, err
	}, func(open, wanted priceRequest) bool { return open == wanted })
}

// Ensure returns the provider's price of a plan's price. The price and its
// product are made there when nobody did before: at the first checkout.
func (p *PSPPrices) Ensure(ctx context.Context, planID, priceID uuid.UUID) (string, error) {
	price, err := p.create(ctx, planID, priceID, func(ctx context.Context, plan Plan) (priceRequest, bool, error) {
		r := requestOf(plan, "")
		var err error
		r.Product, err = p.ensureProduct(ctx, plan.Product)
		return r, true, err
	}, priceRequest.sells)
	if errors.Is(err, errPSPPriceLinked) {
		return *price.PSPPriceID, nil
	}
	if err != nil {
		return "", err
	}
	return *price.PSPPriceID, nil
}

// foreignProduct checks the id of a product at the provider that a caller names.
func (p *PSPPrices) foreignProduct(ctx context.Context, id string) (string, error) {
	product, err := p.provider.GetProduct(ctx, id)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return "", errPSPProductUnknown
	case err != nil:
		return "", err
	case !product.Active:
		return "", errPSPProductInactive
	}
	return product.ID, nil
}

// priceRequest is what the provider is asked to make. It is stored before, and
// what is stored is what is sent.
type priceRequest struct {
	Product       string `json:"product"` // at the provider
	Nickname      string `json:"nickname"`
	Currency      string `json:"currency"`
	Amount        int64  `json:"amount"` // in minor units
	IntervalUnit  string `json:"interval_unit"`
	IntervalCount int32  `json:"interval_count"`
}

// requestOf begins the request for a price of a plan.
func requestOf(plan Plan, nickname string) priceRequest {
	if nickname == "" {
		nickname = plan.Slug
	}
	return priceRequest{Nickname: nickname, IntervalUnit: plan.Interval.Unit, IntervalCount: plan.Interval.Count}
}

// sells tells whether both requests are for the same at the same price.
func (r priceRequest) sells(other priceRequest) bool {
	r.Product, r.Nickname = other.Product, other.Nickname
	return r == other
}

// create makes a price at the provider in three steps: the request is stored, the
// provider is asked, the answer is stored. It returns errPSPPriceLinked together
// with the price if that is linked before the end.
//
// Invariant: a price has one open request. It is repeated, with its key, by all
// that it fits, however long ago it was begun and whoever began it, until it is
// settled; so a lost answer, a crash and two callers at once all end in one price
// at the provider. A request for something else takes its place.
func (p *PSPPrices) create(
	ctx context.Context, planID, priceID uuid.UUID,
	request func(ctx context.Context, plan Plan) (r priceRequest, ownProduct bool, err error),
	fits func(open, wanted priceRequest) bool,
) (Price, error) {
	for range createTries {
		plan, price, err := p.Find(ctx, planID, priceID)
		if err != nil {
			return Price{}, err
		}
		if price.PSPPriceID != nil {
			return price, errPSPPriceLinked
		}
		if err := p.chargeable(ctx, price.Currency, price.PriceCents); err != nil {
			return Price{}, err
		}
		wanted, ownProduct, err := request(ctx, plan)
		if err != nil {
			return Price{}, err
		}
		wanted.Currency, wanted.Amount = price.Currency, price.PriceCents
		op, err := p.beginPrice(ctx, planID, priceID, wanted, fits)
		if errors.Is(err, errChanged) {
			continue
		}
		if err != nil {
			return Price{}, err
		}
		remote, err := p.performPrice(ctx, price, op)
		if ownProduct && errors.Is(err, psp.ErrNotFound) {
			// Our product is not there any more: another account, or deleted by hand.
			err = errors.Join(errChanged, p.forgetProduct(ctx, plan.Product, op.Request.Product))
		}
		if err == nil {
			price, err = p.settlePrice(ctx, planID, priceID, op, remote)
		}
		if !errors.Is(err, errChanged) {
			return price, err
		}
	}
	return Price{}, errBusy
}

// beginPrice stores the request, unless an open one fits.
func (p *PSPPrices) beginPrice(
	ctx context.Context, planID, priceID uuid.UUID, wanted priceRequest, fits func(open, wanted priceRequest) bool,
) (op operation[priceRequest], err error) {
	err = p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := p.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		if price.PSPPriceID != nil || !wanted.isOf(plan, price) {
			return errChanged
		}
		op, err = begin(ctx, p.catalog.store, now, priceID, wanted, fits)
		return err
	})
	return op, err
}

// isOf tells whether the request is for what a price sells.
func (r priceRequest) isOf(plan Plan, price Price) bool {
	now := requestOf(plan, "")
	now.Currency, now.Amount = price.Currency, price.PriceCents
	return r.sells(now)
}

// performPrice asks the provider. A request that was begun before may have been
// heard: it is looked for first, because the provider keeps keys for a day only.
func (p *PSPPrices) performPrice(ctx context.Context, price Price, op operation[priceRequest]) (psp.Price, error) {
	if op.Repeated {
		remote, err := p.provider.FindPrice(ctx, op.Key.String())
		switch {
		case err == nil && remote.Active:
			return remote, nil
		case err == nil:
			return psp.Price{}, errors.Join(errChanged, p.catalog.store.endOperation(ctx, price.ID, op.Key)) // deactivated since
		case !errors.Is(err, psp.ErrNotFound):
			return psp.Price{}, err
		}
	}
	r := op.Request
	remote, err := p.provider.CreatePrice(ctx, psp.PriceParams{
		Key: op.Key.String(), LookupKey: op.Key.String(), ProductID: r.Product, Nickname: r.Nickname,
		Currency: r.Currency, UnitAmount: r.Amount, IntervalUnit: r.IntervalUnit, IntervalCount: int(r.IntervalCount),
		Metadata: map[string]string{"plan_id": price.PlanID.String(), "price_id": price.ID.String()},
	})
	if errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound) {
		// It was understood and not done: the next try is another request.
		err = errors.Join(err, p.catalog.store.endOperation(ctx, price.ID, op.Key))
	}
	return remote, err
}

// settlePrice stores the link and closes the request.
func (p *PSPPrices) settlePrice(
	ctx context.Context, planID, priceID uuid.UUID, op operation[priceRequest], remote psp.Price,
) (settled Price, err error) {
	overtaken := error(nil)
	err = p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		plan, price, err := p.Find(ctx, planID, priceID)
		if err != nil {
			return err
		}
		settled, overtaken = price, nil
		switch {
		case price.PSPPriceID == nil && op.Request.isOf(plan, price):
			settled, err = p.link(ctx, now, "psp_created", plan, price, remote)
		case price.PSPPriceID == nil:
			overtaken = errChanged
		case *price.PSPPriceID != remote.ID:
			overtaken = errPSPPriceLinked
		}
		if err != nil {
			return err
		}
		return p.catalog.store.endOperation(ctx, priceID, op.Key)
	})
	if err == nil && overtaken != nil {
		p.log.InfoContext(ctx, "a price that was made at the payment provider is not needed any more",
			"price_id", priceID, "psp_price_id", remote.ID)
	}
	return settled, errors.Join(err, overtaken)
}
