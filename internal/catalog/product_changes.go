package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// CreateProduct adds a product and sets its ID and times. It returns a 422 error on slug if another
// product has the slug.
func (s *Service) CreateProduct(ctx context.Context, p Product) (Product, error) {
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		p.ID, p.CreatedAt, p.UpdatedAt = sqldb.NewID(), now, now
		if err := s.checkProduct(ctx, p); err != nil {
			return err
		}
		if err := s.store.insertProduct(ctx, p); err != nil {
			return err
		}
		return s.Record(ctx, "product", "created", p.ID, nil, recordedProduct(p))
	})
	return p, err
}

// CheckProduct validates the fields of a new product as CreateProduct does.
func (s *Service) CheckProduct(ctx context.Context, p Product) error { return s.checkProduct(ctx, p) }

// CheckProductChange validates a change as UpdateProduct does.
func (s *Service) CheckProductChange(ctx context.Context, id uuid.UUID, change func(*Product)) error {
	p, err := s.store.product(ctx, id)
	if err != nil {
		return err
	}
	change(&p)
	return s.checkProduct(ctx, p)
}

// UpdateProduct changes a product, with the validation of CreateProduct.
func (s *Service) UpdateProduct(ctx context.Context, id uuid.UUID, change func(*Product)) (Product, error) {
	var p Product
	err := s.Change(ctx, func(ctx context.Context, now time.Time) error {
		old, err := s.store.product(ctx, id)
		if err != nil {
			return err
		}
		p = old
		p.UpdatedAt = now
		change(&p)
		if err := s.checkProduct(ctx, p); err != nil {
			return err
		}
		if err := s.store.saveProduct(ctx, p); err != nil {
			return err
		}
		return s.Record(ctx, "product", "updated", id, recordedProduct(old), recordedProduct(p))
	})
	return p, err
}

// DeleteProduct deletes a product and its plans. Their rows remain for the history that refers to
// them, and their slugs become available. It returns errInUse if one of the plans has an active
// subscription.
func (s *Service) DeleteProduct(ctx context.Context, id uuid.UUID) error {
	return s.Change(ctx, func(ctx context.Context, now time.Time) error {
		p, err := s.store.product(ctx, id)
		if err != nil {
			return err
		}
		plans, err := s.store.lockPlansOfProduct(ctx, id)
		if err != nil {
			return err
		}
		if len(plans) > 0 {
			if err := requirePermission(ctx, "plans.delete"); err != nil {
				return err
			}
		}
		if standard, err := s.store.defaultPlan(ctx); err == nil && standard.Product.ID == id {
			return errDefaultPlan
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := s.requireUnused(ctx, plans...); err != nil {
			return err
		}
		if err := s.store.deleteProduct(ctx, id, now); err != nil {
			return err
		}
		return s.Record(ctx, "product", "deleted", id, recordedProduct(p), nil)
	})
}

func (s *Service) checkProduct(ctx context.Context, p Product) error {
	var broken fault.Fields
	checkTexts(&broken, p.Name, p.Description)
	other, err := s.store.productBySlug(ctx, p.Slug)
	switch {
	case err == nil && other.ID != p.ID:
		broken.Add("slug", "validation.taken")
	case err != nil && !errors.Is(err, ErrNotFound):
		return err
	}
	return broken.Err()
}

// recordedProduct returns the product's fields for the audit log, under their API names.
func recordedProduct(p Product) map[string]any {
	return map[string]any{
		"slug": p.Slug, "name": p.Name, "description": p.Description, "is_active": p.IsActive, "metadata": p.Metadata,
	}
}
