package invoice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
)

// Creditable is an invoice with everything that a credit note depends on.
type Creditable struct {
	Invoice Invoice
	Remote  psp.Invoice // the provider's current state
	// TaxRate is the rate of the tax that the total includes, in millionths. It is 0 if the provider
	// computed the tax, or if the total includes no tax.
	TaxRate int64
	Locale  string // the language of its document
}

// RemoteLine returns the provider's line for a line of the invoice. ok is false for lines that the
// provider does not have, such as the discount.
func (c Creditable) RemoteLine(id uuid.UUID) (line psp.InvoiceLine, ok bool) {
	for i, l := range c.Remote.Lines {
		if lineID(c.Remote, i) == id {
			return l, true
		}
	}
	return psp.InvoiceLine{}, false
}

// LineOf returns the ID of the invoice line for a line of the provider.
func (c Creditable) LineOf(pspLineID string) (uuid.UUID, bool) {
	for i, l := range c.Remote.Lines {
		if l.ID == pspLineID {
			return lineID(c.Remote, i), true
		}
	}
	return uuid.Nil, false
}

// lineID returns the ID of line i of a provider invoice.
func lineID(in psp.Invoice, i int) uuid.UUID {
	return stableID(fmt.Sprintf("%s/%d/%s", in.ID, i, in.Lines[i].ID), in.CreatedAt)
}

// Find returns the tenant and the ID of a provider's invoice. Both are Nil if it is unknown.
func (s *Service) Find(ctx context.Context, pspID string) (tenantID, id uuid.UUID, _ error) {
	tenantID, id, err := s.store.find(ctx, pspID)
	if errors.Is(err, errNotStored) {
		err = nil
	}
	return tenantID, id, err
}

// ProviderID returns the provider's ID of a tenant's invoice, or a 404 error.
func (s *Service) ProviderID(ctx context.Context, tenantID, id uuid.UUID) (string, error) {
	return s.store.pspInvoice(ctx, tenantID, id)
}

// WallTime returns the time in the seller's time zone as if it were UTC.
func (s *Service) WallTime(t time.Time) time.Time { return s.deps.Issuing.wallTime(t) }

// IsIssuing reports whether this service issues the documents, with their numbers.
func (s *Service) IsIssuing() bool { return s.deps.Issuing != nil }

// Creditable reads an invoice of a tenant from the provider. It returns a 404 error if the tenant does
// not have it.
func (s *Service) Creditable(ctx context.Context, tenantID, id uuid.UUID) (Creditable, error) {
	pspID, err := s.store.pspInvoice(ctx, tenantID, id)
	if err != nil {
		return Creditable{}, err
	}
	in, err := s.deps.Provider.GetInvoice(ctx, pspID)
	if errors.Is(err, psp.ErrNotFound) {
		return Creditable{}, errNotFound
	}
	if err != nil {
		return Creditable{}, err
	}
	c := Creditable{Remote: in}
	if c.Invoice, err = s.translate(ctx, tenantID, in); err != nil {
		return c, err
	}
	c.Invoice.Status = Status(in.Status)
	if s.deps.Issuing != nil {
		details, err := s.store.documentDetails(ctx, tenantID, id)
		if err == nil || !errors.Is(err, errNotFound) {
			c.TaxRate, c.Locale = details.taxRate, details.locale
			return c, err
		}
	}
	c.Locale, err = s.locale(ctx, tenantID)
	return c, err
}

// locale returns the language of a tenant's documents.
func (s *Service) locale(ctx context.Context, tenantID uuid.UUID) (string, error) {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return "", err
	}
	return s.deps.Tenants.Locale(ctx, t, i18n.Default)
}

// CreditText describes the line of a credit note that credits an amount without naming lines of the
// invoice.
func CreditText(locale, number string) string {
	return lineTexts.Text(locale, "line.credit", map[string]any{"number": number})
}

// CreditNote is a credit note as its document shows it.
type CreditNote struct {
	Invoice   Invoice // with the number, the date, the amounts and the lines of the credit note
	InvoiceID uuid.UUID
	Of        string // the invoice's number
	Memo      string // or empty
}

// RenderCreditNote renders the document of a credit note. replaced has the characters that the document
// cannot show.
func (s *Service) RenderCreditNote(ctx context.Context, n CreditNote) (file []byte, replaced string, err error) {
	st, err := s.statement(ctx, n.Invoice, n.InvoiceID)
	if err != nil {
		return nil, "", err
	}
	st.CreditOf, st.Memo = n.Of, n.Memo
	file, replaced, err = s.deps.Issuing.Render(st)
	if err != nil {
		err = fmt.Errorf("document of credit note %s: %w", n.Invoice.Number, err)
	}
	return file, replaced, err
}
