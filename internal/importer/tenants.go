package importer

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/tenant"
)

const kindTenant, kindSlug = "tenant", "slug"

var tenantColumns = []column{
	{"id", true},
	{"name", true},
	{"owner_email", true},
	{"slug", false},
	{"currency", false},
	{"legal_name", false},
	{"address", false},
	{"city", false},
	{"postal_code", false},
	{"country", false},
	{"vat_number", false},
	{"billing_email", false},
}

var slugForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,255}$`)

// tenant decides how to import a line of the tenants file.
func (s *Service) tenant(ctx context.Context, p *pass, r row) (decision, error) {
	billing, err := s.tenantFields(ctx, r)
	if err != nil {
		return decision{}, err
	}
	if err := p.checkUnique("id", kindTenant, r.get("id")); err != nil {
		return decision{}, err
	}
	before, again, err := s.store.findImported(ctx, kindTenant, r.get("id"))
	if err != nil {
		return decision{}, err
	}
	now := importedLine{kind: kindTenant, key: r.get("id"), digest: lineHash(r, tenantColumns), made: true}
	switch {
	case again && before.digest == now.digest:
		return decision{}, nil
	case again:
		now.resourceID = before.resourceID
		return s.updateTenant(ctx, r, now, billing)
	}
	address, owner, err := s.findNewOwner(ctx, p, r)
	if err != nil {
		return decision{}, err
	}
	p.addMembership(address, r.get("id"))
	if slug := r.get("slug"); slug != "" {
		taken, err := s.store.slugTaken(ctx, slug)
		if err == nil && taken {
			err = newProblem("slug", "is used by another organization: %q", slug)
		}
		if err := errors.Join(err, p.checkUnique("slug", kindSlug, slug)); err != nil {
			return decision{}, err
		}
	}
	return decision{action: create, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			id, err := s.makeTenant(ctx, r, owner, billing)
			if err != nil {
				return err
			}
			now.resourceID = id.String()
			return s.finish(ctx, now, nil)
		})
	}}, nil
}

// findNewOwner returns the owner of a new tenant. It returns a problem if the user is already a member
// of a tenant.
func (s *Service) findNewOwner(ctx context.Context, p *pass, r row) (address string, id int64, err error) {
	address, id, err = s.findUser(ctx, p, "owner_email", r.get("owner_email"))
	if err != nil {
		return "", 0, err
	}
	_, placed := p.places[hashParts(address)]
	if !placed {
		_, placed, err = s.deps.Team.FindTenantOf(ctx, address)
	}
	if err == nil && placed {
		err = newProblem("owner_email", "is already a member of another organization: %q", r.get("owner_email"))
	}
	return address, id, err
}

func (s *Service) makeTenant(ctx context.Context, r row, owner int64, billing tenant.BillingDetails) (uuid.UUID, error) {
	currency := r.currency()
	if currency == "" {
		currency = tenant.DefaultCurrency
	}
	id, err := s.deps.Tenants.CreateWith(ctx, owner, tenant.NewTenant{Name: r.get("name"), Currency: currency, Billing: billing})
	if err != nil {
		return id, err
	}
	if slug := r.get("slug"); slug != "" {
		_, err = s.deps.Tenants.Update(ctx, id, func(t *tenant.Tenant) error { t.Slug = slug; return nil })
	}
	if err == nil && billing.Complete() {
		_, err = s.deps.Tenants.CompleteSetup(ctx, id, func(*tenant.BillingDetails) error { return nil })
	}
	return id, err
}

// updateTenant decides how to import a changed line of a tenant that was imported before.
func (s *Service) updateTenant(ctx context.Context, r row, now importedLine, billing tenant.BillingDetails) (decision, error) {
	id, err := uuid.Parse(now.resourceID)
	if err != nil {
		return decision{}, err
	}
	old, err := s.deps.Tenants.GetLive(ctx, id)
	if errors.Is(err, tenant.ErrNotFound) {
		return decision{}, newProblem("id", "this organization was imported and deleted before")
	}
	if err != nil {
		return decision{}, err
	}
	merged := old.Billing
	merge(&merged, billing)
	if err := s.vatNumber(merged, billing.VATNumber); err != nil {
		return decision{}, err
	}
	var notes []string
	if slug := r.get("slug"); slug != "" && slug != old.Slug {
		notes = append(notes, "slug: stays "+old.Slug+", because links contain it")
	}
	if currency := r.currency(); currency != "" && currency != old.PreferredCurrency {
		notes = append(notes, "currency: stays "+old.PreferredCurrency+"; it counts for new organizations alone")
	}
	owner, err := s.ownerOf(ctx, id)
	if err != nil {
		return decision{}, err
	}
	if address, err := mail.NormalizeAddress(r.get("owner_email")); err == nil && address != owner {
		notes = append(notes, "owner_email: the owner stays; they hand an organization over themselves")
	}
	return decision{action: update, notes: notes, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			_, err := s.deps.Tenants.Update(ctx, id, func(t *tenant.Tenant) error {
				t.Name = r.get("name")
				merge(&t.Billing, billing)
				return nil
			})
			if err != nil {
				return err
			}
			return s.finish(ctx, now, nil)
		})
	}}, nil
}

// merge copies the fields of given that are set.
func merge(b *tenant.BillingDetails, given tenant.BillingDetails) {
	for _, f := range []struct {
		to   **string
		from *string
	}{
		{&b.LegalName, given.LegalName},
		{&b.Address, given.Address},
		{&b.City, given.City},
		{&b.PostalCode, given.PostalCode},
		{&b.Country, given.Country},
		{&b.VATNumber, given.VATNumber},
		{&b.BillingEmail, given.BillingEmail},
	} {
		if f.from != nil {
			*f.to = f.from
		}
	}
}

// ownerOf returns the email of the tenant's owner, or "" for a tenant without an owner.
func (s *Service) ownerOf(ctx context.Context, id uuid.UUID) (string, error) {
	members, err := s.deps.Tenants.Members(ctx, id)
	for _, m := range members {
		if m.Role == tenant.BuiltInOwner {
			return m.Email, err
		}
	}
	return "", err
}

// tenantFields validates a line of the tenants file and returns its billing details.
func (s *Service) tenantFields(ctx context.Context, r row) (tenant.BillingDetails, error) {
	b := tenant.BillingDetails{
		LegalName: r.optional("legal_name"), Address: r.optional("address"), City: r.optional("city"), PostalCode: r.optional("postal_code"),
		Country: r.optional("country"), VATNumber: r.optional("vat_number"), BillingEmail: r.optional("billing_email"),
	}
	problems := []error{
		oneLine("id", r.get("id"), 255), oneLine("name", r.get("name"), 255), oneLine("legal_name", r.get("legal_name"), 255),
		oneLine("city", r.get("city"), 255), oneLine("postal_code", r.get("postal_code"), 20), oneLine("vat_number", r.get("vat_number"), 50),
		oneLine("address", strings.NewReplacer("\r\n", " ", "\n", " ").Replace(r.get("address")), 500),
	}
	if b.Country != nil && !shape.IsCountry(*b.Country) {
		problems = append(problems, newProblem("country", "must be an uppercase ISO 3166-1 code, such as FR: %q", *b.Country))
	}
	problems = append(problems, s.vatNumber(b, b.VATNumber))
	if b.BillingEmail != nil {
		address, err := mail.NormalizeAddress(*b.BillingEmail)
		if err != nil {
			problems = append(problems, newProblem("billing_email", "is not an email address: %q", *b.BillingEmail))
		}
		b.BillingEmail = &address
	}
	if slug := r.get("slug"); slug != "" && !slugForm.MatchString(slug) {
		problems = append(problems, newProblem("slug", "must only contain letters, digits, - and _: %q", slug))
	}
	if code := r.currency(); code != "" {
		exists, err := s.deps.Catalog.CurrencyExists(ctx, code)
		if err != nil {
			return b, err
		}
		if !exists {
			problems = append(problems, newProblem("currency", "is not a currency of the catalog: %q", code))
		}
	}
	return b, errors.Join(problems...)
}

// vatNumber returns a problem if the VAT number does not match the format of the country.
func (s *Service) vatNumber(b tenant.BillingDetails, number *string) error {
	if number == nil || s.deps.Tenants.SetVATNumber(&b, shape.Opt[string]{Set: true, Value: *number}) == nil {
		return nil
	}
	return newProblem("vat_number", "is not a valid VAT number for %s, including the prefix: %q", *b.Country, *number)
}

// organization returns the ID of the tenant that has the given ID in the other system. It returns
// uuid.Nil if this import will create the tenant first.
func (s *Service) organization(ctx context.Context, p *pass, id string) (uuid.UUID, error) {
	before, found, err := s.store.findImported(ctx, kindTenant, id)
	switch {
	case err != nil:
		return uuid.Nil, err
	case !found && p.has(kindTenant, id):
		return uuid.Nil, nil
	case !found:
		return uuid.Nil, newProblem("tenant", "no organization with this ID was imported or is in the tenants file: %q", id)
	}
	parsed, err := uuid.Parse(before.resourceID)
	if err != nil {
		return uuid.Nil, err
	}
	_, err = s.deps.Tenants.GetLive(ctx, parsed)
	if errors.Is(err, tenant.ErrNotFound) {
		err = newProblem("tenant", "this organization was imported and deleted before: %q", id)
	}
	return parsed, err
}
