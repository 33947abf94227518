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
	Status  string     // one of the statuses in package vat
	Name    *string    // registered name while the number is valid
	ValidAt *time.Time // time of the latest positive answer
}

// vatGrace is how long a valid number stays valid while the registry is unavailable.
const vatGrace = 30 * 24 * time.Hour

// lapsedPerRun limits how many numbers one run of LapseVAT handles, each in its own transaction.
const lapsedPerRun = 500

// SetVATNumber stores the VAT number of a request in billing details that already have the
// request's country. The number must have the right format if numbers of the country are checked.
// For other countries, any text is accepted. If the request omits the number, SetVATNumber does
// nothing.
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

// resetVAT normalizes the VAT number of a changed tenant. If the number or the country has changed,
// it drops the registry's answer about the old number.
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

// CheckableVAT returns the scheme and the normal form of a tenant's VAT number, or vat.NoScheme if
// no registry can check it.
func (s *Service) CheckableVAT(t Tenant) (scheme vat.Scheme, number string) {
	number, ok := vat.Parse(text(t.Billing.VATNumber), text(t.Billing.Country), s.deps.TestVATNumbers)
	if !ok {
		return vat.NoScheme, ""
	}
	return vat.SchemeOf(text(t.Billing.Country)), number
}

// VATAnswered stores the registry's answer about a tenant's current VAT number. It reports whether
// the answer changed anything. The caller must hold the tenant's lock.
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
	if err := s.store.update(ctx, old, t); err != nil {
		return false, err
	}
	if changed {
		if err := s.publish(ctx, hook.TenantUpdated, t.ID); err != nil {
			return false, err
		}
	}
	return changed, s.record(ctx, actionVATChecked, t.ID, vatAuditFields(old), vatAuditFields(t))
}

// vatAuditFields returns the audited fields of a check.
func vatAuditFields(t Tenant) map[string]any {
	return map[string]any{"vat_number": t.Billing.VATNumber, "vat_status": t.VAT.Status, "vat_name": t.VAT.Name}
}

// ReverseCharge reports whether the tenant, and not the seller, owes the tax on a sale at the given
// time. seller is the seller's country. The tenant owes the tax if it is in another member state of
// the EU and the registry has confirmed its VAT number. If the registry is unavailable, a
// confirmation is valid for vatGrace.
func (t Tenant) ReverseCharge(seller string, at time.Time) bool {
	country := text(t.Billing.Country)
	if !vat.IsInEU(seller) || !vat.IsInEU(country) || seller == country {
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

// TaxRules determine the tax that is included in prices.
type TaxRules struct {
	// Seller is the country whose taxes the seller owes (ISO 3166-1 alpha-2), or "".
	Seller string
	// Rates are the tax rates, in millionths, by the tenant's country (ISO 3166-1 alpha-2).
	Rates map[string]int64
}

// IncludedTax returns the tax, in minor units, that is included in a tenant's total, and the tax
// rate, in millionths. at is the time of the sale. With a reverse charge, the tenant owes the tax
// and both are 0.
func (r TaxRules) IncludedTax(t Tenant, total int64, at time.Time) (tax, rate int64, reverseCharge bool) {
	if t.ReverseCharge(r.Seller, at) {
		return 0, 0, true
	}
	rate = r.Rates[text(t.Billing.Country)]
	return vat.IncludedTax(total, rate), rate, false
}

// LapseVAT removes positive answers that have expired because the registry has been unavailable for
// vatGrace, and updates these tenants' customers at the payment provider.
func (s *Service) LapseVAT(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-vatGrace)
	ids, err := s.store.listLapsedVAT(ctx, before, lapsedPerRun)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err = errors.Join(err, s.lapseVAT(ctx, id, before))
	}
	return err
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
		lapsed := t
		lapsed.VAT.ValidAt = nil
		if err := s.store.update(ctx, t, lapsed); err != nil || s.deps.Billing == nil {
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
