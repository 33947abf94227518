package catalog

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
)

// productRequest is what the provider is asked to make.
type productRequest struct {
	Name string `json:"name"`
}

// ensureProduct returns the provider's product of a product, made if there is
// none, in the three steps of create and with its invariant. The provider is told
// the id: it never makes a second product of that id, however late a repetition
// comes.
func (p *PSPPrices) ensureProduct(ctx context.Context, product Product) (string, error) {
	if product.PSPProductID != nil {
		return *product.PSPProductID, nil
	}
	linked := ""
	var op operation[productRequest]
	err := p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		current, err := p.catalog.store.product(ctx, product.ID)
		if err != nil {
			return err
		}
		if linked = ""; current.PSPProductID != nil {
			linked = *current.PSPProductID
			return nil
		}
		// The name that it was begun with will do: it is only for people.
		wanted := productRequest{Name: product.Name.In(i18n.Default)}
		op, err = begin(ctx, p.catalog.store, now, product.ID, wanted, func(_, _ productRequest) bool { return true })
		return err
	})
	if err != nil || linked != "" {
		return linked, err
	}
	id, err := p.performProduct(ctx, product.ID, op)
	if err != nil {
		return "", err
	}
	return p.settleProduct(ctx, product.ID, op.Key, id)
}

func (p *PSPPrices) performProduct(ctx context.Context, productID uuid.UUID, op operation[productRequest]) (string, error) {
	id := "prod_" + hex.EncodeToString(op.Key[:])
	if op.Repeated {
		made, err := p.provider.GetProduct(ctx, id)
		if !errors.Is(err, psp.ErrNotFound) {
			return made.ID, err
		}
	}
	made, err := p.provider.CreateProduct(ctx, psp.ProductParams{
		Key: op.Key.String(), ID: id, Name: op.Request.Name, Metadata: map[string]string{"product_id": productID.String()},
	})
	if errors.Is(err, psp.ErrRefused) {
		err = errors.Join(err, p.catalog.store.endOperation(ctx, productID, op.Key))
	}
	return made, err
}

// settleProduct stores which product the provider made, unless another one was
// linked meanwhile, and returns the one that is linked.
func (p *PSPPrices) settleProduct(ctx context.Context, productID, key uuid.UUID, pspProductID string) (linked string, err error) {
	err = p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		current, err := p.catalog.store.product(ctx, productID)
		if err != nil {
			return err
		}
		if err := p.catalog.store.endOperation(ctx, productID, key); err != nil {
			return err
		}
		if current.PSPProductID != nil {
			linked = *current.PSPProductID
			return nil
		}
		linked = pspProductID
		_, err = p.catalog.store.q(ctx).LinkProduct(ctx, catalogsql.LinkProductParams{
			ID: productID, PSPProductID: &pspProductID, UpdatedAt: now,
		})
		if err != nil {
			return err
		}
		return p.catalog.Record(ctx, "product", "psp_created", productID, nil, productTrail(pspProductID))
	})
	return linked, err
}

// forgetProduct removes a link to a product that the provider does not have.
func (p *PSPPrices) forgetProduct(ctx context.Context, product Product, pspProductID string) error {
	return p.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		n, err := p.catalog.store.q(ctx).UnlinkProduct(ctx, catalogsql.UnlinkProductParams{
			ID: product.ID, PSPProductID: &pspProductID, Now: now,
		})
		if err != nil || n == 0 {
			return err
		}
		return p.catalog.Record(ctx, "product", "psp_unlinked", product.ID, productTrail(pspProductID), nil)
	})
}

func productTrail(pspProductID string) any { return map[string]any{"psp_product_id": pspProductID} }
