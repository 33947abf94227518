// Package pdf renders the document of an invoice: A4 pages in the tenant's language, with embedded
// fonts for Latin, Greek, Cyrillic, Arabic, Hebrew, Thai, Devanagari, Georgian, Armenian, Chinese,
// Japanese and Korean. The same invoice always produces the same bytes.
package pdf

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/einvoice"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/vat"
)

//go:embed locales/*.json
var localeFiles embed.FS

// Config configures a Renderer.
type Config struct {
	Maker string // the product name in the PDF's producer field
	// Hybrid embeds the e-invoice (Factur-X, ZUGFeRD) in each document if possible. Such a document
	// is PDF/A-3.
	Hybrid bool
	// Practice marks each page as practice, because a sandbox simulates the payments.
	Practice bool
	Log      *slog.Logger // logs why a document has no e-invoice; can be nil
}

// Renderer renders documents. It is safe for concurrent use.
type Renderer struct {
	config Config
	words  *i18n.Catalog
}

// New loads the texts and returns a Renderer.
func New(c Config) (*Renderer, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	words, err := i18n.Read(localeFiles)
	return &Renderer{c, words}, err
}

// Page layout in millimetres.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	margin     = 20.0
	bottom     = pageHeight - 28 // end of the lines; the footer is below
	content    = pageWidth - 2*margin
	right      = pageWidth - margin
	logoWidth  = 45.0
	logoHeight = 18.0
	half       = pageWidth/2 + 5 // left edge of the right column

	textSize  = 9.5
	smallSize = 8.0
	leading   = 4.8 // line height of text
)

// Render renders a document, whatever characters its texts contain. It also returns the characters
// that no font has and that the document replaces; usually "".
func (r *Renderer) Render(s invoice.Statement) (file []byte, replaced string, err error) {
	d := &document{
		Fpdf: newPage(), words: r.words, maker: r.config.Maker, formatter: i18n.NewFormatter(s.Locale), of: s,
		faces: map[string]*loadedFont{}, missing: map[rune]bool{},
	}
	d.begin()
	if err := d.head(); err != nil {
		return nil, "", err
	}
	d.drawParties()
	d.table()
	d.totals()
	d.notes()
	d.footers()
	if r.config.Practice {
		d.markPractice()
	}
	data, err := r.renderHybrid(s)
	hybrid := err == nil
	switch {
	case hybrid:
		err = d.describe(d.title())
	case errors.Is(err, einvoice.ErrNotRepresentable):
		err = nil
	}
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	if err := d.Output(&out); err != nil {
		return nil, "", fmt.Errorf("pdf: %w", err)
	}
	file = out.Bytes()
	if hybrid {
		if file, err = attach(file, data, s.Invoice.IssueDate); err != nil {
			return nil, "", err
		}
	}
	if replaced = d.missingCharacters(); replaced != "" {
		r.config.Log.Warn("invoice PDF: characters replaced", "invoice", s.Invoice.Number, "characters", replaced)
	}
	return file, replaced, nil
}

// renderHybrid returns the e-invoice to embed. It returns einvoice.ErrNotRepresentable if the
// document cannot have one.
func (r *Renderer) renderHybrid(s invoice.Statement) ([]byte, error) {
	if !r.config.Hybrid {
		return nil, einvoice.ErrNotRepresentable
	}
	data, err := einvoice.Write(s)
	if errors.Is(err, einvoice.ErrNotRepresentable) {
		r.config.Log.Warn("invoice PDF: electronic invoice data omitted", "invoice", s.Invoice.Number, "reason", err)
	}
	return data, err
}

func newPage() *fpdf.Fpdf { return fpdf.New("P", "mm", "A4", "") }

// document is a document during rendering.
type document struct {
	*fpdf.Fpdf
	words     *i18n.Catalog
	maker     string
	formatter i18n.Formatter
	of        invoice.Statement

	faces   map[string]*loadedFont // by family and style
	missing map[rune]bool          // characters that no font has
	style   string                 // current style: B or empty
	size    float64                // current size in points
}

// message returns a localized text. values alternates between names and values.
func (d *document) message(key string, values ...string) string {
	args := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		args[values[i]] = values[i+1]
	}
	return d.words.Text(d.of.Locale, key, args)
}

// hasTaxInLines reports whether line amounts include tax, which this service extracted from the total.
func (d *document) hasTaxInLines() bool { return d.of.TaxRate > 0 }

// vat labels a VAT number. In Spain, domestic numbers, which can lack the country prefix, have
// their own label, and only numbers of EU countries are intra-community numbers.
func (d *document) vat(number string) string {
	key := "vat_abroad"
	country := vat.CountryOf(number)
	switch {
	case strings.EqualFold(country, d.of.Locale), strings.ContainsAny(number[:min(2, len(number))], "0123456789"):
		key = "vat_home"
	case vat.IsInEU(country):
		key = "vat"
	}
	return d.message(key, "number", number)
}

func (d *document) title() string { return d.kind() + " " + d.of.Invoice.Number }

// kind returns the name of the document.
func (d *document) kind() string {
	if d.of.CreditOf != "" {
		return d.message("credit_note")
	}
	return d.message("invoice")
}

func (d *document) begin() {
	// Fix everything that would differ between two renderings.
	issued := d.of.Invoice.IssueDate.UTC()
	d.SetCreationDate(issued)
	d.SetModificationDate(issued)
	d.SetCatalogSort(true)
	d.SetProducer(d.maker, true)
	d.SetTitle(basicPlane(d.title()), true)
	d.SetAuthor(basicPlane(toOneLine(d.of.Seller.Name)), true)
	d.SetLang(d.of.Locale)
	d.SetMargins(margin, margin, margin)
	d.SetAutoPageBreak(false, 0)
	d.AddPage()
}

// footers adds the footers to all pages, once the number of pages is known.
func (d *document) footers() {
	const y, pageNumber = pageHeight - 18, 30.0
	about := []string{toOneLine(d.of.Seller.Name)}
	if d.of.Seller.VATNumber != "" {
		about = append(about, d.vat(d.of.Seller.VATNumber))
	}
	if d.of.Seller.Email != "" {
		about = append(about, d.of.Seller.Email)
	}
	pages := d.PageCount()
	d.setFont("", 7.5)
	for n := 1; n <= pages; n++ {
		d.SetPage(n)
		d.drawRule(y - 2)
		d.useFaintColor()
		d.line(margin, y, content-pageNumber, leading, "L", d.truncate(strings.Join(about, " · "), content-pageNumber))
		d.line(right-pageNumber, y, pageNumber, leading, "R", d.message("page", "page", strconv.Itoa(n), "pages", strconv.Itoa(pages)))
		d.useDarkColor()
	}
}

// markPractice writes at the top of all pages that no money was transferred.
func (d *document) markPractice() {
	d.setFont("B", smallSize)
	for n := 1; n <= d.PageCount(); n++ {
		d.SetPage(n)
		d.SetTextColor(133, 82, 0)
		d.line(margin, margin/2, content, leading, "L", d.message("practice"))
		d.useDarkColor()
	}
}

func (d *document) useDarkColor()  { d.SetTextColor(26, 27, 25) }
func (d *document) useFaintColor() { d.SetTextColor(103, 104, 97) }

// useAccentColor selects the seller's accent color.
func (d *document) useAccentColor() {
	if n, err := strconv.ParseUint(strings.TrimPrefix(d.of.Seller.Accent, "#"), 16, 24); err == nil && d.of.Seller.Accent != "" {
		d.SetTextColor(int(n>>16), int(n>>8&0xff), int(n&0xff))
	}
}

// drawRule draws a horizontal line across the page.
func (d *document) drawRule(y float64) {
	d.SetDrawColor(221, 220, 214)
	d.SetLineWidth(.2)
	d.Line(margin, y, right, y)
}

// head draws the logo or the seller's name, and the title.
func (d *document) head() error {
	d.useDarkColor()
	if logo := d.of.Seller.Logo; logo != nil {
		if err := d.logo(logo); err != nil {
			return err
		}
	} else {
		d.setFont("B", 14)
		y := margin
		for _, line := range d.wrap(toOneLine(d.of.Seller.Name), half-margin-8) {
			d.line(margin, y, content, 6.5, "L", line)
			y += 6.5
		}
		d.SetY(y)
	}
	top := max(d.GetY(), margin+logoHeight) + 8
	d.setFont("B", 20)
	d.useAccentColor()
	d.line(margin, top, content, 9, "L", d.kind())
	d.useDarkColor()
	if d.of.Invoice.Status == invoice.StatusPaid {
		d.drawPaidMark(top)
	}
	d.drawFacts(top + 14)
	return nil
}

// drawPaidMark draws the mark of an invoice that was paid before its document was rendered.
func (d *document) drawPaidMark(top float64) {
	text := d.message("paid")
	if at := d.of.Invoice.PaidAt; at != nil {
		text = d.message("paid_on", "date", d.formatter.Date(*at))
	}
	d.setFont("B", 9)
	width := d.width(text) + 8
	d.SetDrawColor(44, 107, 64)
	d.SetTextColor(44, 107, 64)
	d.SetLineWidth(.35)
	d.RoundedRect(right-width, top+.6, width, 7.4, 1.6, "1234", "D")
	d.line(right-width+4, top+.6, width, 7.4, "L", text)
	d.useDarkColor()
}

// drawFacts draws the key facts of the invoice side by side.
func (d *document) drawFacts(y float64) {
	inv := d.of.Invoice
	number := d.message("number")
	if d.of.CreditOf != "" {
		number = d.message("credit_note_number")
	}
	facts := [][2]string{{number, inv.Number}, {d.message("issued"), d.formatter.Date(inv.IssueDate)}}
	if d.of.CreditOf != "" {
		facts = append(facts, [2]string{d.message("credited_invoice"), d.of.CreditOf})
	}
	if inv.DueDate != nil {
		facts = append(facts, [2]string{d.message("due"), d.formatter.Date(*inv.DueDate)})
	}
	if inv.PurchaseOrder != "" {
		facts = append(facts, [2]string{d.message("purchase_order"), toOneLine(inv.PurchaseOrder)})
	}
	width := content / float64(max(3, len(facts)))
	for i, fact := range facts {
		x := margin + float64(i)*width
		d.setFont("", smallSize)
		d.useFaintColor()
		d.line(x, y, width, leading, "L", fact[0])
		d.useDarkColor()
		d.setFont("B", textSize)
		d.line(x, y+leading, width, leading, "L", d.truncate(fact[1], width-2))
	}
	d.SetY(y + 2*leading)
}

func (d *document) logo(picture []byte) error {
	options := fpdf.ImageOptions{ImageType: "PNG"}
	info := d.RegisterImageOptionsReader("logo", options, bytes.NewReader(picture))
	if err := d.Error(); err != nil {
		return fmt.Errorf("pdf: logo: %w", err)
	}
	scale := min(logoWidth/info.Width(), logoHeight/info.Height())
	d.ImageOptions("logo", margin, margin, info.Width()*scale, info.Height()*scale, false, options, 0, "")
	return nil
}

// drawParties draws the seller and the payer side by side.
func (d *document) drawParties() {
	y := d.GetY() + 6
	d.drawRule(y)
	y += 5
	seller := append([]string{d.of.Seller.Name}, d.of.Seller.Lines...)
	if d.of.Seller.VATNumber != "" {
		seller = append(seller, d.vat(d.of.Seller.VATNumber))
	}
	first := d.block(margin, y, d.message("seller"), append(seller, d.of.Seller.Email))
	b := d.of.Invoice.Billed
	a := b.Address
	payer := []string{text(b.Name), text(a.Line1), text(a.Line2), strings.TrimSpace(text(a.PostalCode) + " " + text(a.City)), text(a.State), d.formatter.Country(text(a.Country))}
	if d.of.VATNumber != "" {
		payer = append(payer, d.vat(d.of.VATNumber))
	}
	second := d.block(half, y, d.message("billed_to"), append(payer, text(b.Email)))
	d.SetXY(margin, max(first, second)+9)
}

// block draws non-empty lines below each other and returns the y coordinate of their end. The first
// line is the name.
func (d *document) block(x, y float64, title string, lines []string) float64 {
	width := right - half
	d.setFont("", smallSize)
	d.useFaintColor()
	d.line(x, y, width, leading, "L", title)
	d.useDarkColor()
	y += leading + .6
	d.setFont("B", textSize)
	for _, text := range lines {
		for _, line := range d.wrap(toOneLine(text), width) {
			d.line(x, y, width, leading, "L", line)
			y += leading
		}
		d.setFont("", textSize)
	}
	return y
}

func (d *document) money(m money.Money) string { return d.formatter.Money(m, d.of.MinorUnits) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// toOneLine collapses user input to a single line in NFC, because fonts have é but few combine an
// accent with a letter.
func toOneLine(s string) string {
	return strings.Join(strings.Fields(norm.NFC.String(strings.ToValidUTF8(s, ""))), " ")
}

// basicPlane replaces characters outside the Basic Multilingual Plane, which the PDF library cannot
// write to metadata.
func basicPlane(s string) string {
	return strings.Map(func(r rune) rune {
		if r > 0xFFFF {
			return replacement
		}
		return r
	}, s)
}
