// Package pdf makes the document of an invoice: one or more A4 pages in the
// tenant's language, with fonts of their own for Latin, Greek and Cyrillic. The
// same invoice always gives the same bytes.
package pdf

import (
	"bytes"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
)

//go:embed locales/*.json
var localeFiles embed.FS

// Renderer makes documents. It is safe for concurrent use.
type Renderer struct {
	words *i18n.Catalog
	maker string
}

// New reads the texts. maker is the product that documents name as the one that made them.
func New(maker string) (*Renderer, error) {
	words, err := i18n.Read(localeFiles)
	return &Renderer{words, maker}, err
}

// The page in millimetres.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	margin     = 20.0
	bottom     = pageHeight - 25 // where the lines end; the footer is below
	content    = pageWidth - 2*margin
	logoWidth  = 45.0
	logoHeight = 18.0
	rightHalf  = pageWidth / 2

	font     = "go"
	textSize = 9.5
	leading  = 4.6 // from line to line of text
)

// Render makes a document.
func (r *Renderer) Render(s invoice.Statement) ([]byte, error) {
	d := &document{Fpdf: fpdf.New("P", "mm", "A4", ""), words: r.words, maker: r.maker, figures: i18n.FiguresOf(s.Locale), of: s}
	d.begin()
	if err := d.head(); err != nil {
		return nil, err
	}
	d.parties()
	d.table()
	d.totals()
	d.notes()
	var out bytes.Buffer
	if err := d.Output(&out); err != nil {
		return nil, fmt.Errorf("pdf: %w", err)
	}
	return out.Bytes(), nil
}

// document is one that is being made.
type document struct {
	*fpdf.Fpdf
	words   *i18n.Catalog
	maker   string
	figures i18n.Figures
	of      invoice.Statement
}

// say returns a text of the document; values has names and values in turn.
func (d *document) say(key string, values ...string) string {
	args := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		args[values[i]] = values[i+1]
	}
	return printable(d.words.Text(d.of.Locale, key, args))
}

// printable replaces what the fonts lack: the narrow space that does not break.
func printable(text string) string { return strings.ReplaceAll(text, "\u202f", "\u00a0") }

// gross reports whether the lines are with tax: it was taken out of the total here.
func (d *document) gross() bool { return d.of.TaxRate > 0 }

// priced says one text where the amounts are without tax, another where they are with it.
func (d *document) priced(net, gross string) string {
	if d.gross() {
		return d.say(gross)
	}
	return d.say(net)
}

// vat names a VAT number. In Spain the country's own numbers, which may lack the country,
// have a name of their own; and only those of the union are intra-community numbers.
func (d *document) vat(number string) string {
	key := "vat_abroad"
	switch country := home(number); {
	case strings.EqualFold(country, d.of.Locale), strings.ContainsAny(country, "0123456789"):
		key = "vat_home"
	case member(country):
		key = "vat"
	}
	return d.say(key, "number", number)
}

func (d *document) begin() {
	// Whatever would differ from one time to the next is fixed.
	issued := d.of.Invoice.IssueDate.UTC()
	d.SetCreationDate(issued)
	d.SetModificationDate(issued)
	d.SetCatalogSort(true)
	d.SetProducer(d.maker, true)
	d.SetTitle(d.say("invoice")+" "+d.of.Invoice.Number, true)
	d.SetAuthor(d.of.Seller.Name, true)
	d.SetLang(d.of.Locale)
	d.AddUTF8FontFromBytes(font, "", goregular.TTF)
	d.AddUTF8FontFromBytes(font, "B", gobold.TTF)
	d.SetMargins(margin, margin, margin)
	d.SetAutoPageBreak(false, 0)
	d.AliasNbPages("{pages}")
	d.SetFooterFunc(d.footer)
	d.AddPage()
}

func (d *document) footer() {
	d.SetFont(font, "", 7.5)
	d.SetTextColor(110, 110, 110)
	d.SetXY(margin, pageHeight-15)
	about := []string{d.of.Seller.Name}
	if d.of.Seller.VATNumber != "" {
		about = append(about, d.vat(d.of.Seller.VATNumber))
	}
	if d.of.Seller.Email != "" {
		about = append(about, d.of.Seller.Email)
	}
	d.CellFormat(content*3/4, leading, d.fit(strings.Join(about, " · "), content*3/4), "", 0, "L", false, 0, "")
	page := d.say("page", "page", strconv.Itoa(d.PageNo()), "pages", "{pages}")
	d.CellFormat(content/4, leading, page, "", 0, "R", false, 0, "")
	d.SetTextColor(0, 0, 0)
}

// head has the logo, or the seller's name, and what the document is.
func (d *document) head() error {
	if logo := d.of.Seller.Logo; logo != nil {
		if err := d.logo(logo); err != nil {
			return err
		}
	} else {
		d.SetFont(font, "B", 14)
		d.SetXY(margin, margin)
		d.MultiCell(rightHalf-margin-5, 6, clean(d.of.Seller.Name), "", "L", false)
	}
	d.SetFont(font, "B", 18)
	d.SetXY(rightHalf, margin)
	d.CellFormat(rightHalf-margin, 8, d.say("invoice"), "", 2, "R", false, 0, "")
	inv := d.of.Invoice
	facts := []string{d.say("number", "number", inv.Number), d.say("issued", "date", d.figures.Date(inv.IssueDate))}
	if inv.DueDate != nil {
		facts = append(facts, d.say("due", "date", d.figures.Date(*inv.DueDate)))
	}
	for _, fact := range facts {
		d.SetFont(font, "", textSize)
		d.SetX(rightHalf)
		d.CellFormat(rightHalf-margin, leading+.4, fact, "", 2, "R", false, 0, "")
	}
	return nil
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

// parties are the seller and who pays, side by side.
func (d *document) parties() {
	y := max(d.GetY(), margin+logoHeight) + 10
	seller := append([]string{d.of.Seller.Name}, d.of.Seller.Lines...)
	if d.of.Seller.VATNumber != "" {
		seller = append(seller, d.vat(d.of.Seller.VATNumber))
	}
	left := d.block(margin, y, "", seller)
	b := d.of.Invoice.Billed
	a := b.Address
	payer := []string{text(b.Name), text(a.Line1), text(a.Line2), strings.TrimSpace(text(a.PostalCode) + " " + text(a.City)), text(a.State), d.figures.Country(text(a.Country))}
	if d.of.VATNumber != "" {
		payer = append(payer, d.vat(d.of.VATNumber))
	}
	right := d.block(rightHalf, y, d.say("billed_to"), append(payer, text(b.Email)))
	d.SetXY(margin, max(left, right)+8)
}

// block writes lines below each other and returns where they end; empty ones are
// left out.
func (d *document) block(x, y float64, title string, lines []string) float64 {
	width := rightHalf - margin - 5
	d.SetXY(x, y)
	if title != "" {
		d.SetFont(font, "B", textSize)
		d.CellFormat(width, leading+1, title, "", 2, "L", false, 0, "")
	}
	d.SetFont(font, "", textSize)
	for _, line := range lines {
		if line = clean(line); line != "" {
			d.SetX(x)
			d.MultiCell(width, leading, line, "", "L", false)
		}
	}
	return d.GetY()
}

func (d *document) money(m money.Money) string { return printable(d.figures.Money(m, d.of.MinorUnits)) }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// clean makes one line of a text that somebody has typed.
func clean(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }

// fit cuts a text to a width.
func (d *document) fit(s string, width float64) string {
	for s != "" && d.GetStringWidth(s) > width-2 {
		runes := []rune(s)
		s = string(runes[:len(runes)-1])
	}
	return s
}
