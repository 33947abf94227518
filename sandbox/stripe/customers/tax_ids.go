package customers

import (
	"context"
	"regexp"
	"strings"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// taxIDKind are the tax IDs of customers.
var taxIDKind = kernel.Kind[TaxID]{Name: "tax_id", Prefix: "txi", Label: "tax ID"}

// TimerRegistryAnswers fires when the registry answers for a tax ID.
const TimerRegistryAnswers = "tax_id.answer"

// maxTaxIDs is the maximum number of tax IDs of a customer.
const maxTaxIDs = 5

// The verification statuses of a tax ID.
const (
	verified    = "verified"
	unverified  = "unverified"
	pending     = "pending"
	unavailable = "unavailable"
)

// TaxID is a tax ID of a customer.
type TaxID struct {
	kernel.Header
	Country         *string       `json:"country"`
	Customer        string        `json:"customer"`
	CustomerAccount form.Null     `json:"customer_account"`
	Owner           taxIDOwner    `json:"owner"`
	Type            string        `json:"type"`
	Value           string        `json:"value"`
	Verification    *verification `json:"verification"`
}

type taxIDOwner struct {
	Customer        string    `json:"customer"`
	CustomerAccount form.Null `json:"customer_account"`
	Type            string    `json:"type"`
}

type verification struct {
	Status          string    `json:"status"`
	VerifiedAddress form.Null `json:"verified_address"`
	VerifiedName    *string   `json:"verified_name"`
}

// TaxIDLine is a tax ID on an invoice.
type TaxIDLine struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// taxIDForms are the formats of the supported types, without spaces, dots and dashes
// (https://docs.stripe.com/billing/customer/tax-ids, "Supported tax ID types").
var taxIDForms = map[string]*regexp.Regexp{
	"eu_vat": regexp.MustCompile(`^(ATU\d{8}|BE[01]\d{9}|BG\d{9,10}|CY\d{8}[A-Z]|CZ\d{8,10}|DE\d{9}|DK\d{8}|EE\d{9}|EL\d{9}|` +
		`ES([A-Z]\d{7}[A-Z\d]|\d{8}[A-Z])|FI\d{8}|FR[A-Z\d]{2}\d{9}|HR\d{11}|HU\d{8}|IE(\d{7}[A-Z]{1,2}|\d[A-Z]\d{5}[A-Z])|IT\d{11}|` +
		`LT(\d{9}|\d{12})|LU\d{8}|LV\d{11}|MT\d{8}|NL\d{9}B\d{2}|PL\d{10}|PT\d{9}|RO\d{2,10}|SE\d{12}|SI\d{8}|SK\d{10}|XI(\d{9}|\d{12}))$`),
	"gb_vat": regexp.MustCompile(`^GB(\d{9}|\d{12})$`),
	"ch_vat": regexp.MustCompile(`^CHE\d{9}(MWST|TVA|IVA)?$`),
}

// testTaxIDs are Stripe's documented test values and their verification statuses
// (https://docs.stripe.com/billing/customer/tax-ids, "Test tax IDs").
var testTaxIDs = map[string]string{"000000000": verified, "111111111": unverified, "222222222": pending}

// createTaxID handles POST /v1/customers/{id}/tax_ids. The registry answers later.
func createTaxID(ctx context.Context, c *kernel.Call) (any, error) {
	id := TaxID{Header: taxIDKind.Start(c.Now), Customer: c.ID, Verification: &verification{Status: pending}}
	id.Owner.Type, id.Owner.Customer = "customer", c.ID
	c.Params.Require("type", "value")
	c.Params.Choice("type", &id.Type, "eu_vat", "gb_vat", "ch_vat")
	c.Params.Text("value", &id.Value)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	if _, err := FindLive(ctx, c.Step, c.ID, "id"); err != nil {
		return nil, err
	}
	plain := plainTaxID(id.Value)
	_, test := testTaxIDs[plain]
	if !taxIDForms[id.Type].MatchString(plain) && (!test || id.Type == "ch_vat") {
		return nil, form.Refuse("value", "tax_id_invalid", "Invalid value for %s.", id.Type)
	}
	if !test {
		country := strings.Replace(plain[:2], "EL", "GR", 1)
		id.Country = &country
	}
	others, err := taxIDsOf(ctx, c.Q, c.ID)
	if err != nil {
		return nil, err
	}
	if len(others) >= maxTaxIDs {
		return nil, form.Refuse("", "", "A customer can have at most %d tax IDs.", maxTaxIDs)
	}
	if err := c.SetTimer(ctx, TimerRegistryAnswers, id.ID, c.Now); err != nil {
		return nil, err
	}
	return id, c.Create(ctx, "customer.tax_id.created", id)
}

// plainTaxID normalizes a value: upper case, without spaces, dots and dashes.
func plainTaxID(value string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", ".", "", "-", "").Replace(value))
}

// getTaxID handles GET /v1/customers/{id}/tax_ids/{child}.
func getTaxID(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	return findTaxID(ctx, c)
}

// findTaxID returns the tax ID in the path.
func findTaxID(ctx context.Context, c *kernel.Call) (*TaxID, error) {
	if _, err := FindLive(ctx, c.Step, c.ID, "id"); err != nil {
		return nil, err
	}
	id, err := taxIDKind.Get(ctx, c.Q, c.Child, "id")
	if err == nil && id.Customer != c.ID {
		return nil, form.NewMissing(taxIDKind.Label, c.Child, "id")
	}
	return id, err
}

// deleteTaxID handles DELETE /v1/customers/{id}/tax_ids/{child}.
func deleteTaxID(ctx context.Context, c *kernel.Call) (any, error) {
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	id, err := findTaxID(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := c.StopTimer(ctx, TimerRegistryAnswers, id.ID); err != nil {
		return nil, err
	}
	if err := taxIDKind.Remove(ctx, c.Q, id.ID); err != nil {
		return nil, err
	}
	gone := deletedCustomer{ID: id.ID, Object: id.Object, Deleted: true}
	return gone, c.Emit(ctx, "customer.tax_id.deleted", id, nil)
}

// listTaxIDs handles GET /v1/customers/{id}/tax_ids.
func listTaxIDs(ctx context.Context, c *kernel.Call) (any, error) {
	if _, err := FindLive(ctx, c.Step, c.ID, "id"); err != nil {
		return nil, err
	}
	var f kernel.Filter
	f.AddCondition(`doc ->> '$.customer' = ?`, c.ID)
	k := taxIDKind
	k.Path = All.Path + "/" + c.ID + "/tax_ids"
	return k.Page(ctx, c, f)
}

func taxIDsOf(ctx context.Context, q kernel.Querier, customerID string) ([]*TaxID, error) {
	return taxIDKind.FindWhere(ctx, q, `doc ->> '$.customer' = ?`, customerID)
}

// TaxIDsOf returns the tax IDs of a customer, as in customer.tax_ids.
func TaxIDsOf(ctx context.Context, q kernel.Querier, customerID string) (any, error) {
	ids, err := taxIDsOf(ctx, q, customerID)
	return form.NewList(All.Path+"/"+customerID+"/tax_ids", ids), err
}

// TaxIDLines returns the tax IDs of a customer, as invoices show them.
func TaxIDLines(ctx context.Context, q kernel.Querier, customerID string) ([]TaxIDLine, error) {
	ids, err := taxIDsOf(ctx, q, customerID)
	lines := make([]TaxIDLine, len(ids))
	for i, id := range ids {
		lines[i] = TaxIDLine{Type: id.Type, Value: id.Value}
	}
	return lines, err
}
