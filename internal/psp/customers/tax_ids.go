package customers

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// The types of tax IDs.
const (
	Union         = string(stripe.TaxIDTypeEUVAT)
	UnitedKingdom = string(stripe.TaxIDTypeGBVAT)
	Switzerland   = string(stripe.TaxIDTypeCHVAT)
)

// The verification statuses of a tax ID.
const (
	StatusPending     = string(stripe.TaxIDVerificationStatusPending)
	StatusVerified    = string(stripe.TaxIDVerificationStatusVerified)
	StatusUnverified  = string(stripe.TaxIDVerificationStatusUnverified)
	StatusUnavailable = string(stripe.TaxIDVerificationStatusUnavailable)
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

// TaxIDs registers the VAT numbers of customers as tax IDs.
type TaxIDs struct{ *psp.Client }

// CreateTaxID registers a tax ID of a customer. If the provider rejects its format, the result has
// an empty ID and the status StatusUnverified.
func (r TaxIDs) CreateTaxID(ctx context.Context, p TaxIDParams) (TaxID, error) {
	return psp.Write(ctx, r.Client, "create tax ID", p.Key, func(ctx context.Context, api *calls.API) (TaxID, error) {
		id, err := api.V1TaxIDs.Create(ctx, &stripe.TaxIDCreateParams{
			Params: stripe.Params{IdempotencyKey: stripe.String(p.Key)}, Customer: stripe.String(p.CustomerID),
			Type: stripe.String(p.Type), Value: stripe.String(p.Value),
		})
		if e, ok := errors.AsType[*stripe.Error](err); ok && e.Code == stripe.ErrorCodeTaxIDInvalid {
			return TaxID{Status: StatusUnverified}, nil
		}
		if err != nil {
			return TaxID{}, err
		}
		return newTaxID(id), nil
	}, func(ctx context.Context) (TaxID, error) { return r.findTaxID(ctx, p) })
}

// findTaxID returns the customer's tax ID with the type and value, or psp.ErrNotDone.
func (r TaxIDs) findTaxID(ctx context.Context, p TaxIDParams) (TaxID, error) {
	found, _, err := psp.Call(ctx, r.Client, "find tax ID", func(ctx context.Context, api *calls.API) (*stripe.TaxID, error) {
		for id, err := range api.V1TaxIDs.List(ctx, &stripe.TaxIDListParams{Customer: stripe.String(p.CustomerID)}).All(ctx) {
			if err != nil || string(id.Type) == p.Type && id.Value == p.Value {
				return id, err
			}
		}
		return nil, nil
	})
	if err != nil {
		return TaxID{}, err
	}
	if found == nil {
		return TaxID{}, psp.ErrNotDone
	}
	return newTaxID(found), nil
}

// GetTaxID returns a tax ID of a customer, or psp.ErrNotFound.
func (r TaxIDs) GetTaxID(ctx context.Context, customerID, id string) (TaxID, error) {
	found, _, err := psp.Call(ctx, r.Client, "get tax ID", func(ctx context.Context, api *calls.API) (*stripe.TaxID, error) {
		return api.V1TaxIDs.Retrieve(ctx, id, &stripe.TaxIDRetrieveParams{Customer: stripe.String(customerID)})
	})
	if err != nil {
		return TaxID{}, err
	}
	return newTaxID(found), nil
}

// DeleteTaxID deletes a tax ID of a customer if it exists. The provider accepts no idempotency key
// for deletions: a second deletion finds nothing.
func (r TaxIDs) DeleteTaxID(ctx context.Context, customerID, id string) error {
	_, _, err := psp.Call(ctx, r.Client, "delete tax ID", func(ctx context.Context, api *calls.API) (*stripe.TaxID, error) {
		return api.V1TaxIDs.Delete(ctx, id, &stripe.TaxIDDeleteParams{Customer: stripe.String(customerID)})
	})
	if errors.Is(err, psp.ErrNotFound) {
		return nil
	}
	return err
}

// CustomerTaxExempt returns the tax exemption status of a customer.
func (r TaxIDs) CustomerTaxExempt(ctx context.Context, id string) (string, error) {
	customer, _, err := psp.Call(ctx, r.Client, "get customer", func(ctx context.Context, api *calls.API) (*stripe.Customer, error) {
		return api.V1Customers.Retrieve(ctx, id, nil)
	})
	if err != nil {
		return "", err
	}
	return string(customer.TaxExempt), nil
}

func newTaxID(id *stripe.TaxID) TaxID {
	t := TaxID{ID: id.ID, Status: StatusUnavailable}
	if v := id.Verification; v != nil {
		t.Status, t.Name = string(v.Status), v.VerifiedName
	}
	return t
}
