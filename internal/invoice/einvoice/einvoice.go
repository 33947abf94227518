// Package einvoice writes electronic invoices as EN 16931 XML, in the Factur-X 1.0 / ZUGFeRD 2
// format (UN/CEFACT Cross Industry Invoice, profile EN 16931), which a PDF can embed
// (rules: invoices#for-programs).
package einvoice

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/invoice"
)

// The profile, and the file name that readers look for in a PDF.
const (
	guideline = "urn:cen.eu:en16931:2017"
	FileName  = "factur-x.xml"
)

// Codes of document types, taxes and tax categories (UNTDID 1001, 5153 and 5305).
const (
	commercialInvoice = "380"
	creditNote        = "381"
	vat               = "VAT"
	standardRate      = "S"
	reverseCharge     = "AE"
	noMeans           = "1" // payment means not defined (UNTDID 4461)
)

// ErrNotRepresentable means that the invoice lacks data that EN 16931 requires. The wrapping error
// gives the reason.
var ErrNotRepresentable = errors.New("cannot be represented as an EN 16931 invoice")

func notRepresentable(why string) error { return fmt.Errorf("%w: %s", ErrNotRepresentable, why) }

// check returns ErrNotRepresentable with the reason if the invoice cannot be written.
func check(s invoice.Statement) error {
	inv := s.Invoice
	switch {
	case len(s.Seller.Country) != 2:
		return notRepresentable("the seller’s country is not known")
	case s.Seller.VATNumber == "":
		return notRepresentable("the VAT number of the seller is missing")
	case inv.Billed.Name == nil || inv.Billed.Address.Country == nil:
		return notRepresentable("the name or the country of the payer is not known")
	case len(inv.Lines) == 0:
		return notRepresentable("the invoice contains no lines")
	case s.MinorUnits > 2:
		return notRepresentable("the currency has more than two decimals")
	case inv.Total.AmountCents < 0:
		return notRepresentable("it is a credit")
	case s.TaxRate == 0 && inv.Tax.AmountCents != 0:
		return notRepresentable("the rate of its tax is not known")
	case s.TaxRate == 0 && !s.ReverseCharge:
		return notRepresentable("the reason for the missing tax is unknown")
	}
	var sum int64
	for _, line := range inv.Lines {
		sum += line.Amount.AmountCents
	}
	if sum != inv.Total.AmountCents {
		return notRepresentable("its lines do not add up to its total")
	}
	return nil
}

// Write returns the invoice as XML. It returns ErrNotRepresentable if EN 16931 cannot represent the
// invoice.
func Write(s invoice.Statement) ([]byte, error) {
	if err := check(s); err != nil {
		return nil, err
	}
	w := writer{s}
	doc := document{
		RSM:       "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
		RAM:       "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
		UDT:       "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
		Guideline: guideline, ID: s.Invoice.Number, Type: commercialInvoice, Issued: day(s.Invoice.IssueDate),
	}
	if s.CreditOf != "" {
		doc.Type = creditNote
	}
	doc.Trade.Lines = w.lines()
	doc.Trade.Agreement.Seller, doc.Trade.Agreement.Buyer = w.seller(), w.buyer()
	doc.Trade.Settlement = w.settlement()
	var out bytes.Buffer
	out.WriteString(xml.Header)
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(doc); err != nil {
		return nil, fmt.Errorf("e-invoice: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// writer builds the parts of a document.
type writer struct{ of invoice.Statement }

// amount formats minor units with the currency's decimals.
func (w writer) amount(cents int64) string {
	text := strconv.FormatInt(max(cents, -cents), 10)
	for len(text) <= w.of.MinorUnits {
		text = "0" + text
	}
	if at := len(text) - w.of.MinorUnits; w.of.MinorUnits > 0 {
		text = text[:at] + "." + text[at:]
	}
	if cents < 0 {
		return "-" + text
	}
	return text
}

// percent formats the tax rate.
func (w writer) percent() string {
	whole, rest := w.of.TaxRate/10_000, w.of.TaxRate%10_000
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%04d", whole, rest), "0"), ".")
}

func (w writer) tax() tax {
	if w.of.TaxRate == 0 {
		return tax{Type: vat, Category: reverseCharge, Rate: "0"}
	}
	return tax{Type: vat, Category: standardRate, Rate: w.percent()}
}

// lines returns the lines without tax. Each price is the line's net total, with the line's quantity
// as its base quantity, so that nothing is rounded twice.
func (w writer) lines() []line {
	gross := make([]int64, len(w.of.Invoice.Lines))
	for i, l := range w.of.Invoice.Lines {
		gross[i] = l.Amount.AmountCents
	}
	var out []line
	for i, net := range invoice.SplitAmount(w.of.Invoice.Subtotal.AmountCents, gross) {
		l := w.of.Invoice.Lines[i]
		quantity := max(l.Quantity, 1)
		if net < 0 { // prices cannot be negative, but quantities can
			quantity = -quantity
		}
		made := line{ID: strconv.Itoa(i + 1), Name: toOneLine(l.Description), Total: w.amount(net), Tax: w.tax()}
		made.Price.Amount = w.amount(max(net, -net))
		made.Price.Per = units{"C62", strconv.FormatInt(max(quantity, -quantity), 10)}
		made.Quantity = units{"C62", strconv.FormatInt(quantity, 10)}
		if l.PeriodStart != nil && l.PeriodEnd != nil {
			last := l.PeriodEnd.AddDate(0, 0, -1) // PeriodEnd is exclusive
			if last.Before(*l.PeriodStart) {
				last = *l.PeriodStart
			}
			made.Period = &period{day(*l.PeriodStart), day(last)}
		}
		out = append(out, made)
	}
	return out
}

func (w writer) seller() party {
	s := w.of.Seller
	p := party{Name: toOneLine(s.Name), VAT: &registration{id{"VA", withCountry(s.VATNumber, s.Country)}}, Address: address{Country: s.Country}}
	for i, at := range []*string{&p.Address.One, &p.Address.Two, &p.Address.Three} {
		if i < len(s.Lines) {
			*at = toOneLine(s.Lines[i])
		}
	}
	if len(s.Lines) > 3 {
		p.Address.Three = toOneLine(strings.Join(s.Lines[2:], ", "))
	}
	return p
}

func (w writer) buyer() party {
	b := w.of.Invoice.Billed
	a := b.Address
	p := party{Name: toOneLine(*b.Name), Address: address{
		Postcode: toOneLine(text(a.PostalCode)), One: toOneLine(text(a.Line1)), Two: toOneLine(text(a.Line2)), City: toOneLine(text(a.City)),
		Country: *a.Country, Region: toOneLine(text(a.State)),
	}}
	if w.of.VATNumber != "" {
		p.VAT = &registration{id{"VA", withCountry(w.of.VATNumber, *a.Country)}}
	}
	return p
}

func (w writer) settlement() settlement {
	inv := w.of.Invoice
	s := settlement{Currency: inv.Total.Currency, Means: noMeans, Tax: w.tax()}
	s.Tax.Amount, s.Tax.Basis = w.amount(inv.Tax.AmountCents), w.amount(inv.Subtotal.AmountCents)
	if s.Tax.Category == reverseCharge {
		s.Tax.Reason, s.Tax.ReasonCode = "Reverse charge", "VATEX-EU-AE"
	}
	due := inv.ChargedAmount().AmountCents
	if inv.Status == invoice.StatusPaid {
		due = 0
	}
	if due > 0 { // BR-CO-25: an amount due needs a due date
		at := inv.IssueDate
		if inv.DueDate != nil {
			at = *inv.DueDate
		}
		s.Terms = &terms{day(at)}
	}
	if w.of.CreditOf != "" {
		s.Credited = &reference{w.of.CreditOf}
	}
	s.Sums = sums{
		Lines: w.amount(inv.Subtotal.AmountCents), Basis: w.amount(inv.Subtotal.AmountCents),
		Tax:   money{inv.Total.Currency, w.amount(inv.Tax.AmountCents)},
		Total: w.amount(inv.Total.AmountCents), Paid: w.amount(inv.Total.AmountCents - due), Due: w.amount(due),
	}
	return s
}

// withCountry prefixes a VAT number with its country if it lacks one (BR-CO-09).
func withCountry(number, country string) string {
	number = strings.ToUpper(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" .-", r) {
			return -1
		}
		return r
	}, number))
	if len(number) > 2 && strings.IndexFunc(number[:2], func(r rune) bool { return r < 'A' || r > 'Z' }) < 0 {
		return number
	}
	if country == "GR" {
		country = "EL"
	}
	return country + number
}

func day(t time.Time) date { return date{"102", t.UTC().Format("20060102")} }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toOneLine collapses user input to a single line.
func toOneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }
