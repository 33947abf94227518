package settings

import (
	"os"
	"strings"
	"time"
	_ "time/tzdata" // the machine may have no time zones

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/pdf"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// InvoiceFlags are the flags for the source of invoices and for the invoices that the service
// issues itself.
type InvoiceFlags struct {
	InvoiceMode         string `env:"TENANTRY_INVOICE_MODE" placeholder:"MODE" help:"Issuer of invoices: the payment provider (psp_managed) or this service (platform_managed). Default: psp_managed."`
	InvoiceNumberFormat string `env:"TENANTRY_INVOICE_NUMBER_FORMAT" placeholder:"FORMAT" help:"Number format of invoices issued by this service, with {year} and {number} or {number:6}. Default: INV-{year}-{number:6}."`
	InvoiceLogo         string `env:"TENANTRY_INVOICE_LOGO" placeholder:"FILE" help:"Logo on invoices issued by this service, PNG or JPEG. Default: the product logo if it is a PNG or JPEG file, otherwise the name of the seller."`
	InvoiceNoteEN       string `name:"invoice-note-en" env:"TENANTRY_INVOICE_NOTE_EN" placeholder:"TEXT" help:"Footer of English invoices issued by this service. Separate lines with | or line breaks. Also used for languages without a footer."`
	InvoiceNoteFR       string `name:"invoice-note-fr" env:"TENANTRY_INVOICE_NOTE_FR" placeholder:"TEXT" help:"Footer of French invoices, such as late-payment terms."`
	InvoiceNoteES       string `name:"invoice-note-es" env:"TENANTRY_INVOICE_NOTE_ES" placeholder:"TEXT" help:"Footer of Spanish invoices."`
	InvoiceNoteIT       string `name:"invoice-note-it" env:"TENANTRY_INVOICE_NOTE_IT" placeholder:"TEXT" help:"Footer of Italian invoices, such as a note that the PDF is a courtesy copy."`
	TaxRates            string `env:"TENANTRY_TAX_RATES" placeholder:"RATES" help:"Tax included in prices, in percent by country of the tenant, such as DE=19,FR=20. Default: none."`
	SellerName          string `env:"TENANTRY_SELLER_NAME" placeholder:"NAME" help:"Name of the seller on invoices. Default: the product name."`
	SellerAddress       string `env:"TENANTRY_SELLER_ADDRESS" placeholder:"LINES" help:"Address of the seller. Separate lines with | or line breaks."`
	SellerCountry       string `env:"TENANTRY_SELLER_COUNTRY" placeholder:"CODE" help:"Country of the seller, such as DE. Determines reverse charge. Required for TENANTRY_E_INVOICE. Default: the country of the VAT number."`
	EInvoice            string `name:"e-invoice" env:"TENANTRY_E_INVOICE" placeholder:"FORM" help:"Embed EN 16931 data in invoices issued by this service: factur-x (also known as ZUGFeRD) or off. Default: off."`
	SellerVATNumber     string `name:"seller-vat-number" env:"TENANTRY_SELLER_VAT_NUMBER" placeholder:"NUMBER" help:"VAT number of the seller."`
	SellerTimeZone      string `env:"TENANTRY_SELLER_TIME_ZONE" placeholder:"NAME" help:"Time zone for issue dates, due dates and the year in numbers of invoices issued by this service, such as Europe/Berlin. Default: UTC."`
	SellerEmail         string `env:"TENANTRY_SELLER_EMAIL" placeholder:"ADDRESS" help:"Email address for questions about invoices."`
}

// Invoices holds the settings of invoices that the service issues itself.
type Invoices struct {
	Numbers invoice.NumberFormat
	Taxes   map[string]int64 // by country code, in millionths: 190_000 is 19 %
	// Hybrid embeds the data of an invoice in its document (Factur-X).
	Hybrid bool
	Seller invoice.Seller
	// TimeZone determines the dates of invoices; "" means UTC.
	TimeZone string
}

func (p *parser) invoices(f InvoiceFlags, s *Settings) {
	s.InvoiceMode = parseChoice(p, "TENANTRY_INVOICE_MODE", f.InvoiceMode, InvoicesByPSP, InvoicesByPlatform)
	s.Invoices = Invoices{
		Numbers: invoice.DefaultNumbers, Taxes: p.taxes("TENANTRY_TAX_RATES", f.TaxRates),
		Seller: invoice.Seller{
			Name: s.Brand.App(), VATNumber: strings.TrimSpace(f.SellerVATNumber), Email: strings.TrimSpace(f.SellerEmail),
			Notes: f.notes(), Accent: s.Brand.Accent,
			Lines: strings.FieldsFunc(f.SellerAddress, func(r rune) bool { return r == '|' || r == '\n' }),
		},
	}
	if f.InvoiceNumberFormat != "" {
		s.Invoices.Numbers = invoice.NumberFormat(f.InvoiceNumberFormat)
		if problem := s.Invoices.Numbers.Check(); problem != "" {
			p.fail("TENANTRY_INVOICE_NUMBER_FORMAT", "%s", problem)
		}
	}
	if name := strings.TrimSpace(f.SellerName); name != "" {
		s.Invoices.Seller.Name = name
	}
	s.Invoices.TimeZone = p.timeZone("TENANTRY_SELLER_TIME_ZONE", f.SellerTimeZone)
	p.eInvoice(f, &s.Invoices)
	s.Invoices.Seller.Logo = p.invoiceLogo(f.InvoiceLogo, s.Brand.Logo)
}

// timeZone reads the IANA name of a time zone. It rejects Local, which depends on the machine.
func (p *parser) timeZone(name, text string) string {
	text = strings.TrimSpace(text)
	if _, err := time.LoadLocation(text); err != nil || text == "Local" { // "" means UTC
		p.fail(name, "%q is not a time zone such as Europe/Berlin", text)
	}
	return text
}

// eInvoice reads whether documents contain invoice data, and the seller fields that this requires.
func (p *parser) eInvoice(f InvoiceFlags, s *Invoices) {
	s.Seller.Country = strings.TrimSpace(f.SellerCountry)
	if s.Seller.Country != "" && !shape.IsCountry(s.Seller.Country) {
		p.fail("TENANTRY_SELLER_COUNTRY", "%q is not a country code such as DE", s.Seller.Country)
	}
	switch f.EInvoice {
	case "", "off":
	case "factur-x":
		s.Hybrid = true
		if s.Seller.Country == "" {
			p.fail("TENANTRY_SELLER_COUNTRY", "required for TENANTRY_E_INVOICE")
		}
		if s.Seller.VATNumber == "" {
			p.fail("TENANTRY_SELLER_VAT_NUMBER", "required for TENANTRY_E_INVOICE")
		}
	default:
		p.fail("TENANTRY_E_INVOICE", "%q is neither factur-x nor off", f.EInvoice)
	}
}

// invoiceLogo returns the logo of documents: the logo in the file, or else the product's logo if it
// is a PNG or JPEG. It returns nil if there is none.
func (p *parser) invoiceLogo(file string, own brand.Logo) []byte {
	picture, err := own.Picture, error(nil)
	if file != "" {
		picture, err = os.ReadFile(file)
	} else if own.Type != "image/png" && own.Type != "image/jpeg" {
		return nil
	}
	if err == nil {
		picture, err = pdf.ParseLogo(picture)
	}
	if err != nil {
		p.fail("TENANTRY_INVOICE_LOGO", "%s: %v", file, err)
		return nil
	}
	return picture
}

// notes returns the footer texts by locale, or nil.
func (f InvoiceFlags) notes() map[string]string {
	var notes map[string]string
	for locale, text := range map[string]string{"en": f.InvoiceNoteEN, "fr": f.InvoiceNoteFR, "es": f.InvoiceNoteES, "it": f.InvoiceNoteIT} {
		if text = strings.TrimSpace(text); text != "" {
			if notes == nil {
				notes = map[string]string{}
			}
			notes[locale] = text
		}
	}
	return notes
}

// taxes reads percentages by country, such as DE=19,FR=5.5.
func (p *parser) taxes(name, value string) map[string]int64 {
	rates := map[string]int64{}
	for _, part := range list(value) {
		country, percent, ok := strings.Cut(part, "=")
		rate, err := money.ParseQuantity(percent)
		switch {
		case !ok || err != nil || rate < 0 || rate > 100_000_000 || rate%100 != 0:
			p.fail(name, "%q is not a country and a rate from 0 to 100 percent such as DE=19 or FR=5.5", part)
		case !shape.IsCountry(country):
			p.fail(name, "%q is not a country code such as DE", country)
		default:
			if _, twice := rates[country]; twice {
				p.fail(name, "%q appears twice", country)
			}
			rates[country] = int64(rate) / 100
		}
	}
	return rates
}
