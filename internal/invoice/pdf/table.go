package pdf

import (
	"strings"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
)

// The columns of the table, in millimetres; the first takes what is left.
const (
	quantityWidth = 20.0
	priceWidth    = 44.0
	amountWidth   = 36.0
	whatWidth     = content - quantityWidth - priceWidth - amountWidth
	padding       = 1.6 // above and below a row
)

// table has the lines, on as many pages as they need; each page begins with the
// heads of the columns, and no line is torn apart.
func (d *document) table() {
	d.tableHead()
	for _, line := range d.of.Invoice.Lines {
		d.row(line)
	}
}

func (d *document) tableHead() {
	d.SetFont(font, "B", 8.5)
	d.SetFillColor(238, 240, 243)
	d.SetX(margin)
	for _, column := range []struct {
		width float64
		head  string
		align string
	}{
		{whatWidth, d.say("what"), "L"},
		{quantityWidth, d.say("quantity"), "R"},
		{priceWidth, d.priced("unit_price", "unit_price_gross"), "R"},
		{amountWidth, d.priced("amount", "amount_gross"), "R"},
	} {
		d.CellFormat(column.width, 7, column.head, "", 0, column.align, true, 0, "")
	}
	d.SetXY(margin, d.GetY()+7)
}

func (d *document) row(line invoice.Line) {
	d.SetFont(font, "", textSize)
	what := d.SplitText(clean(line.Description), whatWidth-2)
	height := float64(max(len(what), 1))*leading + 2*padding
	period := d.period(line)
	if period != "" {
		height += leading
	}
	if d.GetY()+height > bottom {
		d.nextPage()
		d.tableHead()
		d.SetFont(font, "", textSize)
	}
	y := d.GetY()
	d.SetY(y + padding)
	for _, text := range what {
		d.SetX(margin)
		d.CellFormat(whatWidth, leading, text, "", 2, "L", false, 0, "")
	}
	if period != "" {
		d.SetFont(font, "", 8)
		d.SetTextColor(110, 110, 110)
		d.SetX(margin)
		d.CellFormat(whatWidth, leading, period, "", 2, "L", false, 0, "")
		d.SetTextColor(0, 0, 0)
	}
	d.SetFont(font, "", textSize)
	d.SetXY(margin+whatWidth, y+padding)
	d.CellFormat(quantityWidth, leading, printable(d.figures.Total(money.Total{Units: line.Quantity})), "", 0, "R", false, 0, "")
	d.CellFormat(priceWidth, leading, d.money(line.UnitPrice), "", 0, "R", false, 0, "")
	d.CellFormat(amountWidth, leading, d.money(line.Amount), "", 0, "R", false, 0, "")
	d.SetDrawColor(221, 224, 228)
	d.Line(margin, y+height, pageWidth-margin, y+height)
	d.SetXY(margin, y+height)
}

// period is the days of a line, the last one included: the next period begins on the
// day after it.
func (d *document) period(line invoice.Line) string {
	if line.PeriodStart == nil || line.PeriodEnd == nil || line.PeriodStart.Equal(*line.PeriodEnd) {
		return ""
	}
	from, to := d.figures.Date(*line.PeriodStart), d.figures.Date(line.PeriodEnd.AddDate(0, 0, -1))
	if from == to || line.PeriodEnd.AddDate(0, 0, -1).Before(*line.PeriodStart) {
		return from
	}
	return d.say("period", "from", from, "to", to)
}

func (d *document) nextPage() {
	d.AddPage()
	d.SetXY(margin, margin)
}

// total is one of the figures at the end.
type total struct {
	label  string
	amount money.Money
	style  string
}

// totals stand together below the last line.
func (d *document) totals() {
	const height = 6.2
	inv := d.of.Invoice
	rows := []total{{d.priced("subtotal", "subtotal_gross"), inv.Subtotal, ""}}
	if inv.Tax.AmountCents != 0 || d.gross() {
		label := d.say("plain_tax")
		if d.gross() {
			label = d.say(d.taxKey(), "rate", d.figures.Rate(d.of.TaxRate))
		}
		rows = append(rows, total{label, inv.Tax, ""})
	}
	rows = append(rows, total{d.priced("total", "total_gross"), inv.Total, "B"})
	if d.GetY()+float64(len(rows))*height+6 > bottom {
		d.nextPage()
	}
	d.SetY(d.GetY() + 4)
	for _, row := range rows {
		d.SetFont(font, row.style, textSize+.5)
		d.SetX(margin + whatWidth - 20)
		d.CellFormat(quantityWidth+priceWidth+20, height, row.label, "", 0, "R", false, 0, "")
		d.CellFormat(amountWidth, height, d.money(row.amount), "", 1, "R", false, 0, "")
	}
}

// notes are the reason for a missing tax and the seller's own text.
func (d *document) notes() {
	var notes []string
	if d.reverseCharge() {
		notes = append(notes, d.say("reverse_charge"))
	}
	if note := i18n.Pick(d.of.Seller.Notes, d.of.Locale); note != "" {
		notes = append(notes, strings.FieldsFunc(note, func(r rune) bool { return r == '|' || r == '\n' })...)
	}
	d.SetFont(font, "", 8.5)
	d.SetY(d.GetY() + 8)
	for _, note := range notes {
		for _, line := range d.SplitText(clean(note), content) {
			if d.GetY()+leading > bottom {
				d.nextPage()
				d.SetFont(font, "", 8.5)
			}
			d.SetX(margin)
			d.CellFormat(content, leading, line, "", 1, "L", false, 0, "")
		}
	}
}

// union are the countries that have the common VAT, by what their VAT numbers begin with.
const union = " AT BE BG CY CZ DE DK EE EL GR ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

func member(country string) bool { return strings.Contains(union, " "+country+" ") }

// reverseCharge reports whether the payer owes the tax: both have VAT numbers of
// different members of the union, and the invoice has no tax.
func (d *document) reverseCharge() bool {
	seller, payer := home(d.of.Seller.VATNumber), home(d.of.VATNumber)
	return member(seller) && member(payer) && seller != payer && d.of.Invoice.Tax.AmountCents == 0 && d.of.Invoice.Total.AmountCents != 0
}

// home returns the country that a VAT number begins with.
func home(number string) string {
	number = strings.ToUpper(strings.TrimSpace(number))
	return number[:min(2, len(number))]
}

// taxKey names the tax by the payer's country: only the union and Great Britain call it
// VAT.
func (d *document) taxKey() string {
	country := text(d.of.Invoice.Billed.Address.Country)
	if country == "" || country == "GB" || member(country) {
		return "tax"
	}
	return "other_tax"
}
