package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// The types of tax IDs that are registered.
const (
	TaxIDUnion         = string(stripe.TaxIDTypeEUVAT)
	TaxIDUnitedKingdom = string(stripe.TaxIDTypeGBVAT)
	TaxIDSwitzerland   = string(stripe.TaxIDTypeCHVAT)
)

// The verification of a tax ID.
const (
	TaxIDPending     = string(stripe.TaxIDVerificationStatusPending)
	TaxIDVerified    = string(stripe.TaxIDVerificationStatusVerified)
	TaxIDUnverified  = string(stripe.TaxIDVerificationStatusUnverified)
	TaxIDUnavailable = string(stripe.TaxIDVerificationStatusUnavailable)
)

// TaxID is a customer's tax ID.
type TaxID struct {
	ID     string
	Status string
	Name   string // the registered name; empty if the registry returns none
}

// TaxIDParams describes a tax ID to register.
type TaxIDParams struct {
	Key        string // idempotency key
	CustomerID string
	Type       string
	Value      string
}

// CreateTaxID registers a tax ID of a customer. If the provider does not accept its form, the
// tax ID has no ID and is unverified.
func (c *Client) CreateTaxID(ctx context.Context, p TaxIDParams) (TaxID, error) {
	params := &stripe.TaxIDCreateParams{
		Params: keyed(p.Key), Customer: stripe.String(p.CustomerID), Type: stripe.String(p.Type), Value: stripe.String(p.Value),
	}
	return writeOnce(ctx, c, "create tax ID", p.Key, func(ctx context.Context) (TaxID, error) {
		id, err := c.api.V1TaxIDs.Create(ctx, params)
		if e, ok := errors.AsType[*stripe.Error](err); ok && e.Code == stripe.ErrorCodeTaxIDInvalid {
			return TaxID{Status: TaxIDUnverified}, nil
		}
		if err != nil {
			return TaxID{}, err
		}
		return newTaxID(id), nil
	}, func(ctx context.Context) (TaxID, error) { return c.findTaxID(ctx, p) })
}

// findTaxID returns the tax ID of a customer with a type and a value, else ErrNotDone. A
// customer has at most five tax IDs, so one page lists them all.
func (c *Client) findTaxID(ctx context.Context, p TaxIDParams) (TaxID, error) {
	all, err := call(ctx, c, "find tax ID", func(ctx context.Context) ([]*stripe.TaxID, error) {
		list := c.api.V1TaxIDs.List(ctx, &stripe.TaxIDListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, Customer: stripe.String(p.CustomerID),
		})
		return list.Data(), list.Err()
	})
	if err != nil {
		return TaxID{}, err
	}
	for _, id := range all {
		if string(id.Type) == p.Type && id.Value == p.Value {
			return newTaxID(id), nil
		}
	}
	return TaxID{}, ErrNotDone
}

// GetTaxID reads a tax ID of a customer; ErrNotFound if there is no such tax ID.
func (c *Client) GetTaxID(ctx context.Context, customerID, id string) (TaxID, error) {
	return read(ctx, c, "get tax ID", id, func(ctx context.Context) (TaxID, error) {
		found, err := c.api.V1TaxIDs.Retrieve(ctx, id, &stripe.TaxIDRetrieveParams{Customer: stripe.String(customerID)})
		if err != nil {
			return TaxID{}, err
		}
		return newTaxID(found), nil
	})
}

// DeleteTaxID deletes a tax ID of a customer, if it exists. The provider takes no idempotency
// key for deletions: the second one finds nothing.
func (c *Client) DeleteTaxID(ctx context.Context, customerID, id string) error {
	_, err := write(ctx, c, "delete tax ID", "delete-"+id, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1TaxIDs.Delete(ctx, id, &stripe.TaxIDDeleteParams{Customer: stripe.String(customerID)})
		return struct{}{}, err
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// CustomerTaxExempt returns whether a customer is exempt from tax.
func (c *Client) CustomerTaxExempt(ctx context.Context, id string) (string, error) {
	return read(ctx, c, "get customer", id, func(ctx context.Context) (string, error) {
		customer, err := c.api.V1Customers.Retrieve(ctx, id, nil)
		if err != nil {
			return "", err
		}
		return string(customer.TaxExempt), nil
	})
}

func newTaxID(id *stripe.TaxID) TaxID {
	t := TaxID{ID: id.ID, Status: TaxIDUnavailable}
	if v := id.Verification; v != nil {
		t.Status, t.Name = string(v.Status), v.VerifiedName
	}
	return t
}
