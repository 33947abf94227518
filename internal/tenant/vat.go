package tenant

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/vat"
)

// VATCheck is the registry's answer about a tenant's VAT number.
type VATCheck struct {
	Status  string     // one of package vat
	Name    *string    // the registered name, while the number is valid
	ValidAt *time.Time // the latest positive answer
}

// vatGrace is how long a valid number counts after the registry became unavailable.
const vatGrace = 30 * 24 * time.Hour

// lapsedPerRun limits the numbers that one run of LapseVAT handles in a transaction each.
const lapsedPerRun = 500

// SetVATNumber stores the VAT number of a request in billing details that already have the
// request's country. A number of a country whose numbers are checked must have its form;
// elsewhere any text is a number. Without a number in the request it does nothing.
func (s *Service) SetVATNumber(b *BillingDetails, number shape.Opt[string]) error {
	if !number.Set {
		return nil
	}
	b.VATNumber = number.Or(nil)
	if text(b.VATNumber) == "" || vat.SchemeOf(text(b.Country)) == vat.NoScheme {
		return nil
	}
	if _, ok := vat.Parse(*b.VATNumber, *b.Country, s.deps.TestVATNumbers); !ok {
		return errVATNumber
	}
	return nil
}

// resetVAT normalizes the number of a changed tenant. If number or country differ from the
// old ones, the answer about the old number no longer counts.
func (s *Service) resetVAT(t *Tenant, old Tenant) {
	number, country := text(t.Billing.VATNumber), text(t.Billing.Country)
	normal, ok := vat.Parse(number, country, s.deps.TestVATNumbers)
	if ok {
		number, t.Billing.VATNumber = normal, &normal
	}
	if number == text(old.Billing.VATNumber) && country == text(old.Billing.Country) {
		return
	}
	t.VAT = VATCheck{Status: vat.StatusUnknown}
	switch {
	case number == "":
		t.VAT.Status = vat.StatusNone
	case ok, country == "":
		t.VAT.Status = vat.StatusPending
	case vat.SchemeOf(country) != vat.NoScheme, vat.IsForeign(number, country):
		t.VAT.Status = vat.StatusInvalid
	}
}

// CheckableVAT returns the scheme and the normal form of a tenant's VAT number, vat.NoScheme
// if there is no number that a registry can check.
func (s *Service) CheckableVAT(t Tenant) (scheme vat.Scheme, number string) {
	number, ok := vat.Parse(text(t.Billing.VATNumber), text(t.Billing.Country), s.deps.TestVATNumbers)
	if !ok {
		return vat.NoScheme, ""
	}
	return vat.SchemeOf(text(t.Billing.Country)), number
}

// VATAnswered stores the registry's answer about a tenant's present VAT number and reports
// whether the answer changed anything. The caller has locked the tenant.
func (s *Service) VATAnswered(ctx context.Context, old Tenant, status string, name *string) (bool, error) {
	t := old
	now := s.deps.Clock.Now()
	t.VAT = VATCheck{Status: status}
	switch status {
	case vat.StatusValid:
		t.VAT.Name, t.VAT.ValidAt = name, &now
	case vat.StatusUnknown:
		t.VAT.ValidAt = old.VAT.ValidAt
	}
	changed := status != old.VAT.Status || text(t.VAT.Name) != text(old.VAT.Name)
	if changed {
		t.UpdatedAt = now
	}
	if err := s.store.update(ctx, t); err != nil {
		return false, err
	}
	if changed {
		if err := s.publish(ctx, hook.TenantUpdated, t.ID); err != nil {
			return false, err
		}
	}
	return changed, s.record(ctx, actionVATChecked, t.ID, vatAuditFields(old), vatAuditFields(t))
}

// vatAuditFields returns the fields of a check for the trail.
func vatAuditFields(t Tenant) map[string]any {
	return map[string]any{"vat_number": t.Billing.VATNumber, "vat_status": t.VAT.Status, "vat_name": t.VAT.Name}
}

// ReverseCharge reports whether the tenant owes the tax on what a seller in a country sells
// at a time: the tenant is in another member of the union, and the registry knows its VAT
// number, or knew it at most vatGrace ago and cannot answer now.
func (t Tenant) ReverseCharge(seller string, at time.Time) bool {
	country := text(t.Billing.Country)
	if !vat.IsInUnion(seller) || !vat.IsInUnion(country) || seller == country {
		return false
	}
	switch t.VAT.Status {
	case vat.StatusValid:
		return true
	case vat.StatusUnknown:
		return t.VAT.ValidAt != nil && !at.After(t.VAT.ValidAt.Add(vatGrace))
	}
	return false
}

// LapseVAT forgets positive answers that no longer count because the registry has been
// unavailable for vatGrace, and updates the provider's customers of these tenants.
func (s *Service) LapseVAT(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-vatGrace)
	ids, err := s.store.listLapsedVAT(ctx, before, lapsedPerRun)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.lapseVAT(ctx, id, before); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) lapseVAT(ctx context.Context, id uuid.UUID, before time.Time) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.Lock(ctx, id)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || t.VAT.Status != vat.StatusUnknown || t.VAT.ValidAt == nil || t.VAT.ValidAt.After(before) {
			return err
		}
		t.VAT.ValidAt = nil
		if err := s.store.update(ctx, t); err != nil || s.deps.Billing == nil {
			return err
		}
		return s.deps.Billing.BillingChanged(ctx, id)
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
