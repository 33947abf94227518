package pdf

import (
	"strings"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/vat"
)

// Column widths of the table in millimetres. The first column takes the remaining width. If lines
// include tax, each also shows its net amount.
const (
	quantityWidth = 16.0
	amountWidth   = 31.0
	padding       = 2.0 // above and below a row
	gap           = 4.0 // between columns
)

// columns returns the widths and the headings of the columns.
func (d *document) columns() (widths []float64, heads []string) {
	heads = []string{d.message("what"), d.message("quantity"), d.message("unit_price"), d.message("amount")}
	if d.hasTaxInLines() {
		heads = []string{d.message("what"), d.message("quantity"), d.taxText("unit_price_gross", "unit_price_gross_other"), d.message("amount_net"), d.taxText("amount_gross", "amount_gross_other")}
	}
	widths = []float64{content - quantityWidth, quantityWidth}
	for range heads[2:] {
		widths = append(widths, amountWidth)
		widths[0] -= amountWidth
	}
	return widths, heads
}

// cells draws a row. The first cell is left-aligned, the others are right-aligned.
func (d *document) cells(y float64, widths []float64, cells []string) {
	x := margin
	for i, cell := range cells {
		if i > 0 && cell != "" {
			d.line(x, y, widths[i], leading, "R", cell)
		}
		x += widths[i]
	}
}

// table draws the lines on as many pages as needed. Each page starts with the headings, and a row
// never spans two pages.
func (d *document) table() {
	d.tableHead()
	nets := d.netAmounts()
	for i, line := range d.of.Invoice.Lines {
		d.row(line, nets[i])
	}
}

// netAmounts returns the net amounts of the lines, which add up to the subtotal. The rounding remainder
// goes to the lines that it changes least.
func (d *document) netAmounts() []money.Money {
	gross := make([]int64, len(d.of.Invoice.Lines))
	for i, line := range d.of.Invoice.Lines {
		gross[i] = line.Amount.AmountCents
	}
	out := make([]money.Money, len(gross))
	for i, net := range invoice.SplitAmount(d.of.Invoice.Subtotal.AmountCents, gross) {
		out[i] = money.Money{AmountCents: net, Currency: d.of.Invoice.Total.Currency}
	}
	return out
}

func (d *document) tableHead() {
	widths, heads := d.columns()
	d.setFont("", smallSize)
	d.useFaintColor()
	y, lines := d.GetY(), 1
	wrapped := make([][]string, len(heads))
	for i, head := range heads {
		wrapped[i] = d.wrap(head, widths[i]-gap)
		lines = max(lines, len(wrapped[i]))
	}
	x := margin
	for i, head := range wrapped {
		for n, line := range head {
			align := "R"
			if i == 0 {
				align = "L"
			}
			d.line(x, y+float64(lines-len(head)+n)*leading*.85, widths[i], leading, align, line)
		}
		x += widths[i]
	}
	d.useDarkColor()
	y += float64(lines)*leading*.85 + 1.6
	d.SetDrawColor(147, 146, 138)
	d.SetLineWidth(.3)
	d.Line(margin, y, right, y)
	d.SetXY(margin, y)
}

func (d *document) row(line invoice.Line, net money.Money) {
	widths, _ := d.columns()
	d.setFont("", textSize)
	what := d.wrap(toOneLine(line.Description), widths[0]-gap)
	height := float64(max(len(what), 1))*leading + 2*padding
	period := d.period(line)
	if period != "" {
		height += leading
	}
	if d.GetY()+height > bottom {
		d.nextPage()
		d.tableHead()
		d.setFont("", textSize)
	}
	y := d.GetY() + padding
	cells := []string{"", d.formatter.Total(money.Total{Units: line.Quantity}), d.money(line.UnitPrice)}
	if d.hasTaxInLines() {
		cells = append(cells, d.money(net))
	}
	d.cells(y, widths, append(cells, d.money(line.Amount)))
	for _, text := range what {
		d.line(margin, y, widths[0], leading, "L", text)
		y += leading
	}
	if period != "" {
		d.setFont("", smallSize)
		d.useFaintColor()
		d.line(margin, y, widths[0], leading, "L", period)
		d.useDarkColor()
		y += leading
	}
	y = max(y, d.GetY()+padding+leading) + padding
	d.drawRule(y)
	d.SetXY(margin, y)
}

// period returns the period of a line. PeriodEnd is exclusive, so the last day shown is the day
// before.
func (d *document) period(line invoice.Line) string {
	if line.PeriodStart == nil || line.PeriodEnd == nil || line.PeriodStart.Equal(*line.PeriodEnd) {
		return ""
	}
	from, to := d.formatter.Date(*line.PeriodStart), d.formatter.Date(line.PeriodEnd.AddDate(0, 0, -1))
	if from == to || line.PeriodEnd.AddDate(0, 0, -1).Before(*line.PeriodStart) {
		return from
	}
	return d.message("period", "from", from, "to", to)
}

func (d *document) nextPage() {
	d.AddPage()
	d.SetXY(margin, margin)
}

// total is a row of the totals.
type total struct {
	label  string
	amount money.Money
	style  string
}

// totals draws the totals on one page below the last line, followed by a note on whether prices
// include tax. Bold rows have a rule above them.
func (d *document) totals() {
	const height = 6.6
	inv := d.of.Invoice
	subtotal, all := d.message("subtotal"), d.message("total")
	if d.hasTaxInLines() {
		subtotal, all = d.message("subtotal_gross"), d.taxText("total_gross", "total_gross_other")
	}
	rows := []total{{subtotal, inv.Subtotal, ""}}
	if inv.Tax.AmountCents != 0 || d.hasTaxInLines() {
		label := d.message("plain_tax")
		if d.hasTaxInLines() {
			label = d.taxText("tax", "other_tax", "rate", d.formatter.Rate(d.of.TaxRate))
		}
		rows = append(rows, total{label, inv.Tax, ""})
	}
	rows = append(append(rows, total{all, inv.Total, "B"}), d.balanceRows()...)
	if d.GetY()+float64(len(rows))*height+14 > bottom {
		d.nextPage()
	}
	y := d.GetY() + 4
	for _, row := range rows {
		if row.style == "B" {
			d.SetDrawColor(147, 146, 138)
			d.SetLineWidth(.3)
			d.Line(half, y+.4, right, y+.4)
			y++
		}
		d.setFont(row.style, textSize+.5)
		d.line(half, y, right-half-amountWidth, height, "L", row.label)
		d.line(right-amountWidth-10, y, amountWidth+10, height, "R", d.money(row.amount))
		y += height
	}
	if d.hasTaxInLines() {
		d.setFont("", smallSize)
		d.useFaintColor()
		d.line(half, y, right-half, leading, "L", d.taxText("included_tax", "included_other_tax"))
		d.useDarkColor()
		y += leading
	}
	d.SetXY(margin, y)
}

// balanceRows returns the rows for the part of the total that the customer's credit paid, and for the
// rest.
func (d *document) balanceRows() []total {
	inv := d.of.Invoice
	if inv.BalanceApplied.AmountCents <= 0 {
		return nil
	}
	applied, rest, label := inv.BalanceApplied, inv.ChargedAmount(), "amount_due"
	applied.AmountCents = -applied.AmountCents
	if inv.Status == invoice.StatusPaid && rest.AmountCents > 0 {
		label = "amount_paid"
	}
	return []total{{d.message("paid_from_balance"), applied, ""}, {d.message(label), rest, "B"}}
}

// notes draws the memo of a credit note, the reason for a missing tax, and the seller's note.
func (d *document) notes() {
	var notes []string
	if d.of.Memo != "" {
		notes = append(notes, strings.Split(d.of.Memo, "\n")...)
	}
	if d.of.ReverseCharge {
		notes = append(notes, d.message("reverse_charge"))
	}
	if note := i18n.Pick(d.of.Seller.Notes, d.of.Locale); note != "" {
		notes = append(notes, strings.FieldsFunc(note, func(r rune) bool { return r == '|' || r == '\n' })...)
	}
	d.SetY(d.GetY() + 8)
	for _, note := range notes {
		d.setFont("", 8.5)
		for _, line := range d.wrap(toOneLine(note), content) {
			if d.GetY()+leading > bottom {
				d.nextPage()
			}
			d.line(margin, d.GetY(), content, leading, "L", line)
			d.SetY(d.GetY() + leading)
		}
	}
}

// taxText returns the text with the key asVAT if the payer's country calls the tax VAT (the EU and
// Great Britain), and otherwise the text with the key other.
func (d *document) taxText(asVAT, other string, values ...string) string {
	country := text(d.of.Invoice.Billed.Address.Country)
	if country == "" || country == "GB" || vat.IsInEU(country) {
		return d.message(asVAT, values...)
	}
	return d.message(other, values...)
}
