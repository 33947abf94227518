package psp

import (
	"context"

	"github.com/stripe/stripe-go/v85"
)

// ProductParams describes a product.
type ProductParams struct {
	Key string // idempotency key
	// ID is the ID of the product at the provider, which always rejects a second product with the
	// same ID. If it is empty, the provider generates one.
	ID       string
	Name     string
	Metadata map[string]string
}

// Product is a product at the provider.
type Product struct {
	ID     string
	Active bool
}

// CreateProduct creates a product and returns its ID.
func (c *Client) CreateProduct(ctx context.Context, p ProductParams) (string, error) {
	return writeOnce(ctx, c, "create product", p.Key, func(ctx context.Context) (string, error) {
		created, err := c.api.V1Products.Create(ctx, &stripe.ProductCreateParams{
			Params:   idempotencyParams(p.Key),
			ID:       stringOrNil(p.ID),
			Name:     stripe.String(p.Name),
			Metadata: p.Metadata,
		})
		if err != nil {
			return "", err
		}
		return created.ID, nil
	}, func(ctx context.Context) (string, error) {
		if p.ID == "" {
			return "", ErrNotDone
		}
		made, err := c.GetProduct(ctx, p.ID)
		return made.ID, wrapNotDone(err)
	})
}

// GetProduct returns a product, or ErrNotFound.
func (c *Client) GetProduct(ctx context.Context, id string) (Product, error) {
	return read(ctx, c, "get product", id, func(ctx context.Context) (Product, error) {
		p, err := c.api.V1Products.Retrieve(ctx, id, nil)
		if err != nil {
			return Product{}, err
		}
		return Product{ID: p.ID, Active: p.Active}, nil
	})
}
