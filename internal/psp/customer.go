package psp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/stripe/stripe-go/v85"
)

// CustomerParams describes a customer: a tenant and its billing details. Empty fields are omitted.
type CustomerParams struct {
	Key        string // idempotency key
	TenantID   string // stored as metadata "tenant_id"
	Name       string
	Email      string
	Address    string // one line
	City       string
	PostalCode string
	Country    string // ISO 3166-1, two letters
	VATNumber  string // printed on a separate line; empty if the number is a tax ID
	TaxExempt  string // TaxExemptNone or TaxExemptReverse; empty leaves it unchanged
	Locale     string // preferred language of invoices and mails
}

// Tax exemptions of a customer. The provider has a third value, exempt.
const (
	TaxExemptNone    = string(stripe.CustomerTaxExemptNone)
	TaxExemptReverse = string(stripe.CustomerTaxExemptReverse)
)

// CreateCustomer creates a customer and returns its ID.
//
// For a day, the provider rejects a key that is reused with other details, and a tenant may correct
// its address after an attempt with an unknown outcome. So the key that is sent includes the
// details: the same details give the same customer, other details a new one. A leftover customer
// without a subscription is harmless.
func (c *Client) CreateCustomer(ctx context.Context, p CustomerParams) (string, error) {
	return writeOnce(ctx, c, "create customer", p.Key, func(ctx context.Context) (string, error) {
		params := &stripe.CustomerCreateParams{
			Params: idempotencyParams(p.Key + "-" + p.fingerprint()),
			Name:   stringOrNil(p.Name),
			Email:  stringOrNil(p.Email),
			Address: &stripe.AddressParams{
				Line1:      stringOrNil(p.Address),
				City:       stringOrNil(p.City),
				PostalCode: stringOrNil(p.PostalCode),
				Country:    stringOrNil(p.Country),
			},
			Metadata: map[string]string{metaTenant: p.TenantID},
		}
		if p.Locale != "" {
			params.PreferredLocales = []*string{stripe.String(p.Locale)}
		}
		if p.VATNumber != "" {
			// The number is a line on invoices, not a tax ID: the provider would validate the
			// format of a tax ID and reject the whole customer because of a typo.
			params.InvoiceSettings = &stripe.CustomerCreateInvoiceSettingsParams{
				CustomFields: []*stripe.CustomerCreateInvoiceSettingsCustomFieldParams{
					{Name: stripe.String(vatLine), Value: stripe.String(p.VATNumber)},
				},
			}
		}
		customer, err := c.api.V1Customers.Create(ctx, params)
		if err != nil {
			return "", err
		}
		return customer.ID, nil
	}, func(ctx context.Context) (string, error) { return c.findCustomer(ctx, p.TenantID) })
}

// recentCustomers is the number of newest customers that findCustomer searches.
const recentCustomers = 1000

// findCustomer returns the newest customer that was recently created for a tenant, or ErrNotDone.
func (c *Client) findCustomer(ctx context.Context, tenantID string) (string, error) {
	seen := 0
	id := func(customer *stripe.Customer) string { return customer.ID }
	for customer, err := range walk("", id, func(cursor string) (page[*stripe.Customer], error) {
		return call(ctx, c, "find customer", func(ctx context.Context) (page[*stripe.Customer], error) {
			list := c.api.V1Customers.List(ctx, &stripe.CustomerListParams{
				ListParams: stripe.ListParams{Limit: stripe.Int64(listPage), StartingAfter: stringOrNil(cursor)},
			})
			if err := list.Err(); err != nil {
				return page[*stripe.Customer]{}, err
			}
			return page[*stripe.Customer]{list.Data(), list.Meta().HasMore}, nil
		})
	}) {
		if err != nil {
			return "", err
		}
		if customer.Metadata[metaTenant] == tenantID {
			return customer.ID, nil
		}
		if seen++; seen == recentCustomers {
			break
		}
	}
	return "", ErrNotDone
}

// metaTenant is the metadata key of a customer's tenant.
const metaTenant = "tenant_id"

// CustomerDeleted reports whether a customer was deleted or never existed.
func (c *Client) CustomerDeleted(ctx context.Context, id string) (bool, error) {
	deleted, err := read(ctx, c, "get customer", id, func(ctx context.Context) (bool, error) {
		customer, err := c.api.V1Customers.Retrieve(ctx, id, nil)
		if err != nil {
			return false, err
		}
		return customer.Deleted, nil
	})
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return deleted, err
}

// UpdateCustomer replaces the details of a customer. Empty details are erased. As in
// CreateCustomer, the details become part of the key.
func (c *Client) UpdateCustomer(ctx context.Context, id string, p CustomerParams) error {
	if id == "" {
		return c.failure(ctx, "update customer", errNoID)
	}
	params := &stripe.CustomerUpdateParams{
		Params: idempotencyParams(p.Key + "-" + p.fingerprint()),
		Name:   stripe.String(p.Name),
		Email:  stripe.String(p.Email),
		Address: &stripe.AddressParams{
			Line1:      stripe.String(p.Address),
			City:       stripe.String(p.City),
			PostalCode: stripe.String(p.PostalCode),
			Country:    stripe.String(p.Country),
		},
		InvoiceSettings: &stripe.CustomerUpdateInvoiceSettingsParams{},
		TaxExempt:       stringOrNil(p.TaxExempt),
	}
	if p.VATNumber == "" {
		params.InvoiceSettings.AddUnsetField(stripe.CustomerUpdateInvoiceSettingsParamsUnsetFieldCustomFields)
	} else {
		params.InvoiceSettings.CustomFields = []*stripe.CustomerUpdateInvoiceSettingsCustomFieldParams{
			{Name: stripe.String(vatLine), Value: stripe.String(p.VATNumber)},
		}
	}
	if p.Locale != "" {
		params.PreferredLocales = []*string{stripe.String(p.Locale)}
	}
	_, err := write(ctx, c, "update customer", p.Key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Customers.Update(ctx, id, params)
		return struct{}{}, err
	})
	return err
}

// vatLine is the label of the tenant's VAT number on invoices.
const vatLine = "VAT number"

func (p CustomerParams) fingerprint() string {
	p.Key = ""
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", p))
	return hex.EncodeToString(sum[:8])
}
