package customers

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// All is the collection of all customers.
var All = kernel.Kind[Customer]{Name: "customer", Prefix: "cus", Label: "customer", Path: "/v1/customers"}

// Customer is a payer.
type Customer struct {
	kernel.Header
	Address             *form.Address     `json:"address"`
	Balance             int64             `json:"balance"`
	Currency            *string           `json:"currency"`
	DefaultSource       form.Null         `json:"default_source"`
	Delinquent          bool              `json:"delinquent"`
	Description         *string           `json:"description"`
	Discount            form.Null         `json:"discount"`
	Email               *string           `json:"email"`
	InvoicePrefix       string            `json:"invoice_prefix"`
	InvoiceSettings     invoiceSettings   `json:"invoice_settings"`
	Metadata            map[string]string `json:"metadata"`
	Name                *string           `json:"name"`
	NextInvoiceSequence int64             `json:"next_invoice_sequence"`
	Phone               *string           `json:"phone"`
	PreferredLocales    []string          `json:"preferred_locales"`
	Shipping            form.Null         `json:"shipping"`
	TaxExempt           string            `json:"tax_exempt"`
	TestClock           *string           `json:"test_clock"`
	// Deleted is set only on the record of a deleted customer.
	Deleted bool `json:"deleted,omitempty"`
}

type invoiceSettings struct {
	CustomFields         []customField `json:"custom_fields"` // null if empty
	DefaultPaymentMethod *string       `json:"default_payment_method"`
	Footer               form.Null     `json:"footer"`
	RenderingOptions     form.Null     `json:"rendering_options"`
}

// customField is a line on each invoice of a customer.
type customField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// deletedCustomer replaces a deleted customer.
type deletedCustomer struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Deleted bool   `json:"deleted"`
}

// Head implements kernel.Object.
func (d deletedCustomer) Head() kernel.Header { return kernel.Header{ID: d.ID, Object: d.Object} }

// read reads the parameters that creating and updating have in common. It returns the parameter
// invoice_settings, because an update reads more of its fields. It returns nil if the parameter was
// not given.
func (cu *Customer) read(p *form.Params) (settings *form.Params) {
	form.ReadAddress(p, &cu.Address)
	p.ReadClearable("description", &cu.Description)
	p.Email("email", &cu.Email)
	p.Metadata(&cu.Metadata)
	p.ReadClearable("name", &cu.Name)
	p.ReadClearable("phone", &cu.Phone)
	p.Choice("tax_exempt", &cu.TaxExempt, "none", "exempt", "reverse")
	if p.Has("preferred_locales") {
		cu.PreferredLocales = append([]string{}, p.Texts("preferred_locales")...)
	}
	if settings = p.Hash("invoice_settings"); settings != nil {
		cu.InvoiceSettings.readFields(settings)
	}
	return settings
}

func (i *invoiceSettings) readFields(settings *form.Params) {
	if !settings.Has("custom_fields") {
		return
	}
	i.CustomFields = nil
	for _, given := range settings.List("custom_fields") {
		given.Require("name", "value")
		var f customField
		given.Text("name", &f.Name)
		given.Text("value", &f.Value)
		i.CustomFields = append(i.CustomFields, f)
	}
	if len(i.CustomFields) > maxCustomFields {
		settings.Fail("custom_fields", "", "A customer can have at most %d custom fields.", maxCustomFields)
	}
}

// maxCustomFields is the maximum number of custom fields of a customer.
const maxCustomFields = 4

// createCustomer handles POST /v1/customers.
func createCustomer(ctx context.Context, c *kernel.Call) (any, error) {
	cu := Customer{
		Header: All.Start(c.Now), InvoicePrefix: form.NewInvoicePrefix(), NextInvoiceSequence: 1,
		PreferredLocales: []string{}, TaxExempt: "none",
	}
	cu.read(c.Params)
	c.Params.ReadClearable("test_clock", &cu.TestClock)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if cu.TestClock != nil {
		if _, err := kernel.TestClocks.Get(ctx, c.Q, *cu.TestClock, "test_clock"); err != nil {
			return nil, err
		}
	}
	return cu, c.Create(ctx, "customer.created", cu)
}

// getCustomer handles GET /v1/customers/{id}.
func getCustomer(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	cu, err := All.Get(ctx, c.Q, c.ID, "id")
	if err == nil && cu.Deleted {
		return deletedCustomer{ID: cu.ID, Object: cu.Object, Deleted: true}, nil
	}
	return cu, err
}

// updateCustomer handles POST /v1/customers/{id}.
func updateCustomer(ctx context.Context, c *kernel.Call) (any, error) {
	cu, err := FindLive(ctx, c.Step, c.ID, "id")
	if err != nil {
		return nil, err
	}
	before := *cu
	settings := cu.read(c.Params)
	if settings != nil {
		settings.ReadClearable("default_payment_method", &cu.InvoiceSettings.DefaultPaymentMethod)
	}
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if settings != nil {
		if err := CheckCard(ctx, c.Step, cu.InvoiceSettings.DefaultPaymentMethod, cu.ID, settings.Name("default_payment_method")); err != nil {
			return nil, err
		}
	}
	return cu, c.Change(ctx, "customer.updated", before, cu)
}

// deleteCustomer handles DELETE /v1/customers/{id}. It calls the ending functions to end the customer's
// subscriptions and sessions.
func deleteCustomer(ending ...EndFunc) kernel.Endpoint {
	return func(ctx context.Context, c *kernel.Call) (any, error) {
		if err := c.Params.CheckUnread(); err != nil {
			return nil, err
		}
		cu, err := FindLive(ctx, c.Step, c.ID, "id")
		if err != nil {
			return nil, err
		}
		gone := deletedCustomer{ID: cu.ID, Object: cu.Object, Deleted: true}
		return gone, Remove(ctx, c.Step, cu, ending...)
	}
}

// EndFunc ends one kind of the customer's objects, such as subscriptions.
type EndFunc = func(ctx context.Context, st *kernel.Step, cu *Customer) error

// Remove deletes a customer and calls the ending functions for it.
func Remove(ctx context.Context, st *kernel.Step, cu *Customer, ending ...EndFunc) error {
	for _, end := range ending {
		if err := end(ctx, st, cu); err != nil {
			return err
		}
	}
	if err := kernel.Put(ctx, st.Q, deletedCustomer{ID: cu.ID, Object: cu.Object, Deleted: true}); err != nil {
		return err
	}
	return st.Emit(ctx, "customer.deleted", cu, nil)
}

// listCustomers handles GET /v1/customers.
func listCustomers(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddCondition(`doc ->> '$.deleted' IS NULL`)
	f.AddEqual(c.Params, "email", "$.email")
	f.OnClock(c.Params, true)
	return All.Page(ctx, c, f)
}

// FindLive returns a customer that is not deleted. If the customer does not exist, it returns
// an error for the parameter that contained the id.
func FindLive(ctx context.Context, st *kernel.Step, id, param string) (*Customer, error) {
	cu, err := All.Get(ctx, st.Q, id, param)
	if err == nil && cu.Deleted {
		return nil, form.NewMissing(All.Label, id, param)
	}
	return cu, err
}

// SetDelinquent records whether a customer's latest payment is overdue.
func SetDelinquent(ctx context.Context, st *kernel.Step, customerID string, late bool) error {
	cu, err := All.Get(ctx, st.Q, customerID, "customer")
	if err != nil || cu.Deleted {
		return err
	}
	before := *cu
	cu.Delinquent = late
	return st.Change(ctx, "customer.updated", before, cu)
}
