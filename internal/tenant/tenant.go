// Package tenant has the organizations that users belong to: their names,
// billing details and members (rules: tenant#tenants).
package tenant

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// DefaultCurrency is the preferred currency of a new tenant (ISO 4217).
const DefaultCurrency = "EUR"

// BuiltInOwner is the role of the user who made the tenant.
const BuiltInOwner = "owner"

// builtInAdmin is the role below it.
const builtInAdmin = "admin"

// Tenant is an organization.
type Tenant struct {
	ID                    uuid.UUID
	Name                  string
	Slug                  string
	Settings              sqldb.JSON // an object, or nil
	PreferredCurrency     string     // ISO 4217
	Billing               BillingDetails
	VAT                   VATCheck
	OnboardingCompletedAt *time.Time
	CreatedAt             time.Time
	UpdatedAt             time.Time
	DeletedAt             *time.Time // nil for a tenant that lives
	PurgedAt              *time.Time // when its data began to go for good
}

// BillingDetails are printed on invoices; all may be missing.
type BillingDetails struct {
	LegalName    *string
	Address      *string
	City         *string
	PostalCode   *string
	Country      *string // ISO 3166-1 alpha-2, upper case
	VATNumber    *string
	BillingEmail *string
}

// MissingFields lists the fields that billing requires and that are empty, by their names in
// the API and in the API's order.
func (b BillingDetails) MissingFields() []string {
	missing := []string{}
	for _, field := range []struct {
		name  string
		value *string
	}{
		{"legal_name", b.LegalName},
		{"address", b.Address},
		{"city", b.City},
		{"postal_code", b.PostalCode},
		{"country", b.Country},
	} {
		switch {
		case field.value != nil && *field.value != "":
		case field.name == "postal_code" && b.Country != nil && *b.Country != "" && !hasPostalCodes(*b.Country):
		default:
			missing = append(missing, field.name)
		}
	}
	return missing
}

// equal reports whether all details are the same. Empty and missing ones are the
// same.
func (b BillingDetails) equal(other BillingDetails) bool {
	fields := func(d BillingDetails) [7]string {
		var values [7]string
		for i, field := range [7]*string{d.LegalName, d.Address, d.City, d.PostalCode, d.Country, d.VATNumber, d.BillingEmail} {
			if field != nil {
				values[i] = *field
			}
		}
		return values
	}
	return fields(b) == fields(other)
}

// Complete reports whether no field that billing requires is empty.
func (b BillingDetails) Complete() bool { return len(b.MissingFields()) == 0 }

// Member is a user in a tenant.
type Member struct {
	UserID   int64
	Name     string
	Email    string
	Locale   *string // the language of mail to the user; nil where none was chosen
	Role     string
	JoinedAt time.Time
}
