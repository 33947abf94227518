package pricelink

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
)

// productParams is what the provider is asked to create.
type productParams struct {
	Name string `json:"name"`
}

// ensureProduct returns the provider's product of a product, and creates it if there
// is none, in the three steps of create and with the same invariant. The id of the
// new product is chosen here, so that the provider never creates a second one,
// however late the operation is repeated.
func (s *Service) ensureProduct(ctx context.Context, product catalog.Product) (string, error) {
	if product.PSPProductID != nil {
		return *product.PSPProductID, nil
	}
	linked := ""
	var op operation[productParams]
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if linked, err = s.store.linkOfProduct(ctx, product.ID); err != nil || linked != "" {
			return err
		}
		// An open operation always fits: the name is only for people.
		wanted := productParams{Name: product.Name.In(i18n.Default)}
		op, err = begin(ctx, s.store, now, product.ID, wanted, func(_, _ productParams) bool { return true })
		return err
	})
	if err != nil || linked != "" {
		return linked, err
	}
	id, err := s.performProduct(ctx, product.ID, op)
	if err != nil {
		return "", err
	}
	return s.settleProduct(ctx, product.ID, op.Key, id)
}

func (s *Service) performProduct(ctx context.Context, productID uuid.UUID, op operation[productParams]) (string, error) {
	id := "prod_" + hex.EncodeToString(op.Key[:])
	if op.Repeated {
		created, err := s.provider.GetProduct(ctx, id)
		if !errors.Is(err, psp.ErrNotFound) {
			return created.ID, err
		}
	}
	created, err := s.provider.CreateProduct(ctx, psp.ProductParams{
		Key: op.Key.String(), ID: id, Name: op.Params.Name, Metadata: map[string]string{"product_id": productID.String()},
	})
	if errors.Is(err, psp.ErrRefused) {
		err = errors.Join(err, s.store.endOperation(ctx, productID, op.Key))
	}
	return created, err
}

// settleProduct links the product to what the provider created, unless it was linked
// to another one in the meantime. It returns the provider's product that is linked.
func (s *Service) settleProduct(ctx context.Context, productID, key uuid.UUID, pspProductID string) (linked string, err error) {
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if linked, err = s.store.linkOfProduct(ctx, productID); err != nil {
			return err
		}
		if err := s.store.endOperation(ctx, productID, key); err != nil || linked != "" {
			return err
		}
		linked = pspProductID
		if err := s.store.linkProduct(ctx, productID, pspProductID, now); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "product", "psp_created", productID, nil, productTrail(pspProductID))
	})
	return linked, err
}

// forgetProduct removes the link to a product that the provider does not have.
func (s *Service) forgetProduct(ctx context.Context, product catalog.Product, pspProductID string) error {
	return s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		removed, err := s.store.unlinkProduct(ctx, product.ID, pspProductID, now)
		if err != nil || !removed {
			return err
		}
		return s.catalog.Record(ctx, "product", "psp_unlinked", product.ID, productTrail(pspProductID), nil)
	})
}

// productTrail is what the audit trail keeps of a product's link.
func productTrail(pspProductID string) any { return map[string]any{"psp_product_id": pspProductID} }
