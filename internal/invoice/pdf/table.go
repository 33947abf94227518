package pdf

import (
	"strconv"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
)

// The columns of the table, in millimetres; the first takes what is left.
const (
	quantityWidth = 22.0
	priceWidth    = 34.0
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
		{whatWidth, d.words.What, "L"},
		{quantityWidth, d.words.Quantity, "R"},
		{priceWidth, d.words.UnitPrice, "R"},
		{amountWidth, d.words.Amount, "R"},
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
	d.CellFormat(quantityWidth, leading, strconv.FormatInt(line.Quantity, 10), "", 0, "R", false, 0, "")
	d.CellFormat(priceWidth, leading, d.money(line.UnitPrice), "", 0, "R", false, 0, "")
	d.CellFormat(amountWidth, leading, d.money(line.Amount), "", 0, "R", false, 0, "")
	d.SetDrawColor(221, 224, 228)
	d.Line(margin, y+height, pageWidth-margin, y+height)
	d.SetXY(margin, y+height)
}

func (d *document) period(line invoice.Line) string {
	if line.PeriodStart == nil || line.PeriodEnd == nil || line.PeriodStart.Equal(*line.PeriodEnd) {
		return ""
	}
	return i18n.Fill(d.words.Period, map[string]string{
		"from": d.figures.Date(*line.PeriodStart), "to": d.figures.Date(*line.PeriodEnd),
	})
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
	rows := []total{{d.words.Subtotal, inv.Subtotal, ""}}
	if inv.Tax.AmountCents != 0 || d.of.TaxRate > 0 {
		label := d.words.PlainTax
		if d.of.TaxRate > 0 {
			label = i18n.Fill(d.words.Tax, map[string]string{"rate": d.figures.Millionths(d.of.TaxRate * 100)})
		}
		rows = append(rows, total{label, inv.Tax, ""})
	}
	rows = append(rows, total{d.words.Total, inv.Total, "B"})
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
