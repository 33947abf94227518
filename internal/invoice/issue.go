package invoice

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/vat"
)

// IssuingConfig configures the invoices that this service issues (rules: invoices#issuing).
type IssuingConfig struct {
	Numbers NumberFormat
	Tax     tenant.TaxRules
	Seller  Seller
	// TimeZone is the seller's time zone. It decides the dates of invoices and the year of their
	// numbers. Nil means UTC.
	TimeZone *time.Location
	// Render renders the document of an invoice. It also returns the characters that the document
	// cannot show and replaces; usually "".
	Render func(Statement) (file []byte, replaced string, err error)
}

// Seller is the issuer that invoice documents show.
type Seller struct {
	Name      string
	Lines     []string // postal address
	Country   string   // ISO 3166-1 alpha-2; empty if unset
	VATNumber string
	Email     string
	Logo      []byte // in the form that pdf.ParseLogo returns; nil for no logo
	Accent    string // title color as #rrggbb; empty for the default
	// Notes are the document footers by locale. A locale without a note uses the English note.
	Notes map[string]string
}

// TaxCountry returns the country whose taxes the seller owes: Country, or else the country of the
// VAT number.
func (s Seller) TaxCountry() string { return cmp.Or(s.Country, vat.CountryOf(s.VATNumber)) }

// NumberFormat is the format of invoice numbers. {year} stands for the year, {number} for the
// sequence number in that year, and {number:6} for that number, zero-padded to six digits.
type NumberFormat string

// DefaultNumbers produces numbers such as INV-2026-000001.
const DefaultNumbers NumberFormat = "INV-{year}-{number:6}"

// Check returns the reason why the format is invalid, or "" if it is valid. Different sequence
// numbers must produce different invoice numbers.
func (f NumberFormat) Check() string {
	text := string(f)
	switch {
	case len(text) > 64:
		return "is longer than 64 characters"
	case strings.Count(text, "{year}") != 1:
		return "must contain {year} once"
	case strings.Count(text, "{number") != 1:
		return "must contain {number} once"
	}
	for _, c := range f.Format(2026, 1) {
		if c != ' ' && (c < '!' || c > '~' || c == '{' || c == '}') {
			return "can contain ASCII letters, digits and punctuation, {year} and {number:digits}"
		}
	}
	return ""
}

// Format returns the invoice number. If Check rejects the format, it returns the format unchanged.
func (f NumberFormat) Format(year int, number int64) string {
	text := strings.ReplaceAll(string(f), "{year}", strconv.Itoa(year))
	head, tail, ok := strings.Cut(text, "{number")
	spec, tail2, closed := strings.Cut(tail, "}")
	if !ok || !closed {
		return text
	}
	width := 0
	if spec != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(spec, ":"))
		if err != nil || n < 1 || n > 18 {
			return text
		}
		width = n
	}
	return head + fmt.Sprintf("%0*d", width, number) + tail2
}

// storeFromProvider stores the ID of a provider invoice. If this service issues invoices, it also
// issues the invoice or updates its status.
//
// Invariant: a provider invoice that is not a draft is issued exactly once, with the next number of
// its year. This happens under the tenant's lock and in one transaction, so a number is never taken
// without its invoice.
func (s *Service) storeFromProvider(ctx context.Context, tenantID uuid.UUID, state payments.State) error {
	in := state.Invoice
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, tenantID)
		if err != nil {
			return err
		}
		refs, err := s.store.references(ctx, tenantID, in)
		if err != nil {
			return err
		}
		locale, err := s.deps.Tenants.Locale(ctx, t, i18n.Default)
		if err != nil {
			return err
		}
		inv := fromProvider(tenantID, in, refs, locale)
		if err := s.store.storeIDs(ctx, inv); err != nil {
			return err
		}
		if err := s.store.storeLineSources(ctx, tenantID, in, refs, s.deps.Clock.Now()); err != nil {
			return err
		}
		if inv.isRefused(in) {
			return nil
		}
		isCurrent, err := s.deps.Payments.StoreState(ctx, tenantID, inv.ID, inv.IssueDate, state)
		if err != nil {
			return err
		}
		if inv.Status != StatusDraft {
			if inv, err = s.storeFinalized(ctx, t, inv, in, locale); err != nil {
				return err
			}
		}
		if isCurrent {
			if err := s.store.putCopy(ctx, inv, in, s.deps.Issuing != nil); err != nil {
				return err
			}
		}
		if inv.Status == StatusDraft {
			return nil
		}
		isPaid, err := s.publish(ctx, inv)
		if err != nil || !isPaid {
			return err
		}
		return s.mailReceipt(ctx, inv, in.AmountDue)
	})
}

// storeFinalized stores an invoice that is not a draft, with its payment and its mail, and returns
// the invoice to publish.
func (s *Service) storeFinalized(ctx context.Context, t tenant.Tenant, inv Invoice, in psp.Invoice, locale string) (Invoice, error) {
	inv, err := s.completeMarking(ctx, inv, in)
	if err != nil {
		return inv, err
	}
	if err := s.recordPayment(ctx, inv, in); err != nil {
		return inv, err
	}
	if s.deps.Issuing == nil {
		one := []Invoice{inv}
		if err := s.store.addStored(ctx, t.ID, one, []psp.Invoice{in}); err != nil {
			return inv, err
		}
		inv.Refunded = one[0].Refunded
		return inv, s.enqueueMail(ctx, t.ID, inv.ID)
	}
	exists, err := s.store.isIssued(ctx, t.ID, in.ID)
	if err != nil {
		return inv, err
	}
	if exists {
		err = s.store.move(ctx, inv, s.deps.Clock.Now())
	} else {
		err = s.issue(ctx, t, inv, locale)
	}
	return inv, err
}

// recordPayment records the payment of an invoice above 0 that bills a subscription.
func (s *Service) recordPayment(ctx context.Context, inv Invoice, in psp.Invoice) error {
	if inv.Status != StatusPaid || in.SubscriptionID == "" || inv.Total.AmountCents <= 0 {
		return nil
	}
	var plans []uuid.UUID
	for _, line := range inv.Lines {
		if line.PlanID != nil && line.Amount.AmountCents > 0 && !slices.Contains(plans, *line.PlanID) {
			plans = append(plans, *line.PlanID)
		}
	}
	at := s.deps.Clock.Now()
	if in.PaidAt != nil {
		at = *in.PaidAt
	}
	return s.deps.Subscriptions.RecordPayment(ctx, inv.TenantID, in.SubscriptionID, plans, at)
}

// issue assigns the next number to an invoice, addresses it to the tenant's current billing
// details, stores it and enqueues the rendering of its document. locale is the language of its
// texts.
func (s *Service) issue(ctx context.Context, t tenant.Tenant, inv Invoice, locale string) error {
	now := s.deps.Clock.Now()
	inv.IssueDate = s.deps.Issuing.wallTime(inv.IssueDate)
	if inv.DueDate != nil {
		due := s.deps.Issuing.wallTime(*inv.DueDate)
		inv.DueDate = &due
	}
	n := issuedInvoice{
		Invoice: inv, year: inv.IssueDate.UTC().Year(), vatNumber: t.Billing.VATNumber, locale: locale,
	}
	var err error
	if n.Billed, err = s.loadBilledParty(ctx, t); err != nil {
		return err
	}
	if n.Tax.AmountCents == 0 {
		n.Tax.AmountCents, n.taxRate, n.reverseCharge = s.deps.Issuing.Tax.IncludedTax(t, n.Total.AmountCents, now)
		n.Subtotal.AmountCents = n.Total.AmountCents - n.Tax.AmountCents
	}
	if n.sequence, err = s.store.nextNumber(ctx, n.year); err != nil {
		return err
	}
	n.Number = s.deps.Issuing.Numbers.Format(n.year, n.sequence)
	n.CreatedAt = now
	if err := s.store.insert(ctx, n); err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, JobDocument, documentPayload{TenantID: t.ID, InvoiceID: n.ID})
}

// wallTime returns the seller's wall-clock time as if it were UTC. Invoice dates are stored and
// displayed in this form, so that readers do not need the time zone, which can change later.
func (i *IssuingConfig) wallTime(t time.Time) time.Time {
	if i.TimeZone == nil {
		return t
	}
	_, offset := t.In(i.TimeZone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// loadBilledParty returns the tenant as the recipient of an invoice.
func (s *Service) loadBilledParty(ctx context.Context, t tenant.Tenant) (BilledParty, error) {
	b := t.Billing
	billed := BilledParty{Name: b.LegalName, Address: BilledAddress{
		Line1: b.Address, City: b.City, PostalCode: b.PostalCode, Country: b.Country,
	}}
	if billed.Name == nil {
		billed.Name = &t.Name
	}
	var err error
	billed.Email, err = s.deps.Tenants.BillingEmail(ctx, t)
	return billed, err
}

// dateOf returns the UTC date of t.
func dateOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }
