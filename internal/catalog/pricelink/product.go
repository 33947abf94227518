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

// productParams are the parameters of a create request to the provider.
type productParams struct {
	Name string `json:"name"`
}

// EnsureProduct returns the provider's product of a plan, for a price that belongs to one
// subscription only. It creates the product if necessary.
func (s *Service) EnsureProduct(ctx context.Context, plan catalog.Plan) (string, error) {
	return s.ensureProduct(ctx, plan)
}

// ensureProduct returns the provider's product of a plan and creates it if necessary, with the same
// three steps and the same invariant as create. The ID of the new product is derived from the
// operation's key, so a repeated operation never creates a second product, however late it runs.
func (s *Service) ensureProduct(ctx context.Context, plan catalog.Plan) (string, error) {
	linked := ""
	var op operation[productParams]
	err := s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if linked, err = s.store.linkOfPlan(ctx, plan.ID); err != nil || linked != "" {
			return err
		}
		// An open operation always matches, because the name is only for display.
		wanted := productParams{Name: productName(plan)}
		op, err = openOperation(ctx, s.store, now, plan.ID, wanted, func(_, _ productParams) bool { return true })
		return err
	})
	if err != nil || linked != "" {
		return linked, err
	}
	id, err := s.performProduct(ctx, plan, op)
	if err != nil {
		return "", err
	}
	return s.settleProduct(ctx, plan.ID, op.Key, id)
}

func (s *Service) performProduct(ctx context.Context, plan catalog.Plan, op operation[productParams]) (string, error) {
	id := "prod_" + hex.EncodeToString(op.Key[:])
	if op.Repeated {
		created, err := s.provider.GetProduct(ctx, id)
		if !errors.Is(err, psp.ErrNotFound) {
			return created.ID, err
		}
	}
	created, err := s.provider.CreateProduct(ctx, psp.ProductParams{
		Key: op.Key.String(), ID: id, Name: op.Params.Name,
		Metadata: map[string]string{"product_id": plan.Product.ID.String(), "plan_id": plan.ID.String()},
	})
	if errors.Is(err, psp.ErrRefused) {
		err = errors.Join(err, s.store.endOperation(ctx, plan.ID, op.Key))
	}
	return created, err
}

// settleProduct links the plan to the created product, unless a concurrent request has linked it to
// another product. It returns the linked product.
func (s *Service) settleProduct(ctx context.Context, planID, key uuid.UUID, pspProductID string) (linked string, err error) {
	err = s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if linked, err = s.store.linkOfPlan(ctx, planID); err != nil {
			return err
		}
		if err := s.store.endOperation(ctx, planID, key); err != nil || linked != "" {
			return err
		}
		linked = pspProductID
		if err := s.store.linkPlan(ctx, planID, pspProductID, now); err != nil {
			return err
		}
		return s.catalog.Record(ctx, "plan", "psp_created", planID, nil, productTrail(pspProductID))
	})
	return linked, err
}

// forgetProduct removes the link to a product that does not exist at the provider.
func (s *Service) forgetProduct(ctx context.Context, plan catalog.Plan, pspProductID string) error {
	return s.catalog.Change(ctx, func(ctx context.Context, now time.Time) error {
		removed, err := s.store.unlinkPlan(ctx, plan.ID, pspProductID, now)
		if err != nil || !removed {
			return err
		}
		return s.catalog.Record(ctx, "plan", "psp_unlinked", plan.ID, productTrail(pspProductID), nil)
	})
}

// productName returns the name of a plan, with its product, on the provider's pages and invoices.
// The provider has one name for all languages.
func productName(plan catalog.Plan) string {
	name, product := plan.Name.Localize(i18n.Default), plan.Product.Name.Localize(i18n.Default)
	if product == "" || product == name {
		return name
	}
	return name + " (" + product + ")"
}

// productTrail returns the link of a plan for the audit log.
func productTrail(pspProductID string) any { return map[string]any{"psp_product_id": pspProductID} }
