// Package tenant manages the organizations that users belong to: their names, billing details and
// members (rules: tenant#tenants).
package tenant

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// DefaultCurrency is the preferred currency of a new tenant (ISO 4217).
const DefaultCurrency = "EUR"

// BuiltInOwner is the role of a tenant's owner.
const BuiltInOwner = "owner"

// builtInAdmin is the next role below the owner.
const builtInAdmin = "admin"

// Tenant is an organization.
type Tenant struct {
	ID                    uuid.UUID
	Name                  string
	Slug                  string
	ExternalID            *string    // the ID that the operator's backend assigned
	Metadata              sqldb.JSON // an object: the data of the operator's backend
	Settings              sqldb.JSON // an object, or nil
	PreferredCurrency     string     // ISO 4217
	Billing               BillingDetails
	VAT                   VATCheck
	OwnerAssigned         bool // the platform chose the owner
	OnboardingCompletedAt *time.Time
	// FactorFrom is the day, at 00:00 UTC, from which members need a second factor; nil if members
	// do not need one.
	FactorFrom *time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	DeletedAt  *time.Time // nil if the tenant is not deleted
	PurgedAt   *time.Time // when the purge of its data began
}

// BillingDetails are printed on invoices. Each detail can be missing.
type BillingDetails struct {
	LegalName    *string
	Address      *string
	City         *string
	PostalCode   *string
	Country      *string // ISO 3166-1 alpha-2, upper case
	VATNumber    *string
	BillingEmail *string
}

// MissingFields lists the required billing fields that are empty, by their API names and in the
// API's order.
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

// equal reports whether all details are equal. Empty and missing details are equal.
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

// Complete reports whether no required billing field is empty.
func (b BillingDetails) Complete() bool { return len(b.MissingFields()) == 0 }

// Member is a user in a tenant.
type Member struct {
	UserID   int64
	Name     string
	Email    string
	Locale   *string // language of mail to the user; nil if they have not chosen one
	Role     string
	JoinedAt time.Time
}
