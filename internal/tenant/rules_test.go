package tenant

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// billed returns details with every field that billing requires.
func billed() BillingDetails {
	return BillingDetails{
		LegalName: new("Analytical Engines Ltd"), Address: new("12 St James Square"), City: new("London"),
		PostalCode: new("SW1Y 4JH"), Country: new("GB"),
	}
}

func TestMissingBillingDetails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*BillingDetails)
		want   []string
	}{
		"all there":        {func(*BillingDetails) {}, []string{}},
		"VAT and email":    {func(b *BillingDetails) { b.VATNumber, b.BillingEmail = new("GB1"), new("a@example.com") }, []string{}},
		"no legal name":    {func(b *BillingDetails) { b.LegalName = nil }, []string{"legal_name"}},
		"empty address":    {func(b *BillingDetails) { b.Address = new("") }, []string{"address"}},
		"no city":          {func(b *BillingDetails) { b.City = nil }, []string{"city"}},
		"empty postcode":   {func(b *BillingDetails) { b.PostalCode = new("") }, []string{"postal_code"}},
		"no postal codes":  {func(b *BillingDetails) { b.PostalCode, b.Country = nil, new("IE") }, []string{}},
		"postal codes":     {func(b *BillingDetails) { b.PostalCode, b.Country = nil, new("DE") }, []string{"postal_code"}},
		"empty country":    {func(b *BillingDetails) { b.PostalCode, b.Country = nil, new("") }, []string{"postal_code", "country"}},
		"no country":       {func(b *BillingDetails) { b.Country = nil }, []string{"country"}},
		"two in API order": {func(b *BillingDetails) { b.Country, b.Address = nil, nil }, []string{"address", "country"}},
		"nothing at all": {
			func(b *BillingDetails) {
				*b = BillingDetails{VATNumber: new("GB1"), BillingEmail: new("a@example.com")}
			},
			[]string{"legal_name", "address", "city", "postal_code", "country"},
		},
	} {
		b := billed()
		tt.change(&b)
		if diff := cmp.Diff(tt.want, b.MissingFields()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got, want := b.Complete(), len(tt.want) == 0; got != want {
			t.Errorf("%s: complete is %v, want %v", name, got, want)
		}
	}
}

// Two sets of billing details are equal only if all fields are equal. The payment provider is
// notified of every difference.
func TestEqualBillingDetails(t *testing.T) {
	t.Parallel()
	full := billed()
	full.VATNumber, full.BillingEmail = new("GB1"), new("a@example.com")
	fields := map[string]func(*BillingDetails) **string{
		"legal_name":    func(b *BillingDetails) **string { return &b.LegalName },
		"address":       func(b *BillingDetails) **string { return &b.Address },
		"city":          func(b *BillingDetails) **string { return &b.City },
		"postal_code":   func(b *BillingDetails) **string { return &b.PostalCode },
		"country":       func(b *BillingDetails) **string { return &b.Country },
		"vat_number":    func(b *BillingDetails) **string { return &b.VATNumber },
		"billing_email": func(b *BillingDetails) **string { return &b.BillingEmail },
	}
	for name, field := range fields {
		same, other, without, empty := full, full, full, full
		*field(&same) = new(**field(&full))
		*field(&other) = new("other")
		*field(&without) = nil
		*field(&empty) = new("")
		if !full.equal(same) {
			t.Errorf("%s: equal texts at different addresses differ", name)
		}
		if full.equal(other) || other.equal(full) || full.equal(without) || without.equal(full) {
			t.Errorf("%s: a change is not detected", name)
		}
		if !empty.equal(without) || !without.equal(empty) {
			t.Errorf("%s: empty and missing differ", name)
		}
	}
	swapped := full
	swapped.City, swapped.PostalCode = full.PostalCode, full.City
	if full.equal(swapped) {
		t.Error("swapped values are not detected")
	}
}

func TestLocaleOfTenant(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		``: "en", `null`: "en", `{}`: "en", `{"locale":"fr"}`: "fr", `{"locale":"ES"}`: "es", `{"locale":"It","theme":"dark"}`: "it",
		`{"locale":"de"}`: "en", `{"locale":""}`: "en", `{"locale":null}`: "en", `{"locale":5}`: "en", `{"locale":["fr"]}`: "en",
		`{"locale":"fr-CA"}`: "en", `{"language":"fr"}`: "en", `{"LOCALE":"fr"}`: "en", `{`: "en",
	} {
		if got := (Tenant{Settings: sqldb.JSON(settings)}).LocaleFor(nil, "en"); got != want {
			t.Errorf("settings %s: locale %q, want %q", settings, got, want)
		}
	}
}

func TestPermissionsOf(t *testing.T) {
	t.Parallel()
	clerk := &authz.Caller{Tenant: &authz.Membership{Role: "clerk", Permissions: []string{authz.TeamInvite}}}
	for name, tt := range map[string]struct {
		caller *authz.Caller
		role   string
		want   []string
	}{
		"a member has the permissions of their role": {clerk, "clerk", []string{authz.TeamInvite}},
		"the caller's tenant wins over the name":     {clerk, BuiltInOwner, []string{authz.TeamInvite}},
		"the creator of a tenant has all":            {&authz.Caller{}, BuiltInOwner, authz.TenantPermissions()},
		"a user without a tenant lacks all":          {&authz.Caller{}, "admin", nil},
	} {
		if got := permissionsOf(tt.caller, tt.role); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestSeparateBillingEmail(t *testing.T) {
	t.Parallel()
	tenant := Tenant{Billing: BillingDetails{BillingEmail: new("bills@example.com")}}
	got, err := (&Service{}).BillingEmail(t.Context(), tenant)
	if err != nil || got == nil || *got != "bills@example.com" {
		t.Errorf("billing email %v, %v", got, err)
	}
}

func TestLockOutsideOfATransaction(t *testing.T) {
	t.Parallel()
	if _, err := (&Service{}).Lock(t.Context(), sqldb.NewID()); !errors.Is(err, errNotLocked) {
		t.Errorf("Lock outside of a transaction: %v", err)
	}
}

// The audit trail contains every field that can be changed, under its API name.
func TestRecorded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tenant := Tenant{
		ID: sqldb.NewID(), Name: "Acme", Slug: "acme", ExternalID: new("cus-1"), Metadata: sqldb.JSON(`{"b":2}`), Settings: sqldb.JSON(`{"a":1}`), PreferredCurrency: "EUR",
		Billing: billed(), OnboardingCompletedAt: &at, CreatedAt: at, UpdatedAt: at,
	}
	want := map[string]any{
		"name": "Acme", "slug": "acme", "external_id": tenant.ExternalID, "metadata": tenant.Metadata, "settings": tenant.Settings, "legal_name": tenant.Billing.LegalName,
		"address": tenant.Billing.Address, "city": tenant.Billing.City, "postal_code": tenant.Billing.PostalCode,
		"country": tenant.Billing.Country, "vat_number": (*string)(nil), "billing_email": (*string)(nil),
		"onboarding_completed_at": &at, "preferred_currency": "EUR", "require_mfa": false, "require_mfa_from": (*string)(nil),
	}
	if diff := cmp.Diff(want, auditFields(tenant)); diff != "" {
		t.Error(diff)
	}
}
