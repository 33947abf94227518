package invoice

import (
	"embed"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

func lineFromProvider(l psp.InvoiceLine, refs references, t texts) Line {
	of := refs.sourceOf(l)
	line := Line{
		Type: AdjustmentLine, Amount: money.Money{AmountCents: l.Amount, Currency: l.Currency},
		PlanID: of.planID, MeterID: of.meterID,
	}
	switch {
	case l.Proration:
		line.Type = ProrationLine
	case l.SubscriptionID != "" || l.SubscriptionItemID != "":
		line.Type = SubscriptionLine
	}
	var divides bool
	line.Quantity, line.UnitPrice, divides = units(l)
	line.Description = t.describe(l, of)
	if !divides && hasUnitPrice(l) {
		line.Description = t.withQuantity(line.Description, l)
	}
	if !l.PeriodStart.IsZero() {
		start, end := l.PeriodStart, l.PeriodEnd
		line.PeriodStart, line.PeriodEnd = &start, &end
	}
	return line
}

// units splits a line's amount into a quantity and a unit price whose product is the amount. The
// result is a single unit if the amount is not divisible by the quantity (part of a month, a
// fractional quantity, or a price with a fraction of a cent), or if the provider rounded the amount
// to the smallest chargeable one.
func units(l psp.InvoiceLine) (quantity int64, price money.Money, divides bool) {
	of := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: l.Currency} }
	whole := !strings.Contains(l.UnitAmount, ".") && !strings.Contains(l.ExactQuantity, ".")
	if unit, err := strconv.ParseInt(l.UnitAmount, 10, 64); err == nil && !l.Proration && unit*l.Quantity != l.Amount {
		whole = false
	}
	if whole && l.Quantity > 0 && l.Amount%l.Quantity == 0 {
		// If some units were free, a unit price of 0 would be wrong, so such a line is a single
		// unit.
		if l.Amount != 0 || l.UnitAmount == "" || l.UnitAmount == "0" {
			return l.Quantity, of(l.Amount / l.Quantity), true
		}
	}
	return 1, of(l.Amount), false
}

// texts formats the descriptions of lines.
type texts struct {
	locale     string
	minorUnits int // of the currency
}

//go:embed locales/*.json
var localeFiles embed.FS

// lineTexts has the localized texts of lines.
var lineTexts = i18n.Must(i18n.Read(localeFiles))

// describe returns the description of a line. If the source of the line is unknown, it returns the
// provider's description.
func (t texts) describe(l psp.InvoiceLine, of lineSource) string {
	what := i18n.Pick(of.name, t.locale)
	if what == "" {
		return l.Description
	}
	if of.planID != nil && l.Quantity > 1 { // only plans billed per seat have a quantity above 1
		what = lineTexts.Text(t.locale, "line.seats", map[string]any{"what": what, "seats": l.Quantity})
	}
	var key string
	switch {
	case l.Proration && l.Amount < 0:
		key = "line.unused"
	case l.Proration:
		key = "line.remaining"
	case of.planID != nil && l.Amount == 0 && l.Quantity > 0 && l.UnitAmount != "" && l.UnitAmount != "0":
		key = "line.trial"
	default:
		return what
	}
	return lineTexts.Text(t.locale, key, map[string]any{"what": what, "date": i18n.NewFormatter(t.locale).Date(l.PeriodStart)})
}

// hasUnitPrice reports whether a line has a unit price. For a proration, the provider reports the
// amount divided by the quantity, which is not a price and often has infinitely many decimals. Such
// a line shows only its total. A price has at most twelve decimals.
func hasUnitPrice(l psp.InvoiceLine) bool {
	_, decimals, _ := strings.Cut(l.UnitAmount, ".")
	return l.UnitAmount != "" && !l.Proration && len(decimals) <= 12
}

// withQuantity appends the quantity and the unit price to the description of a line that cannot
// show them separately.
func (t texts) withQuantity(text string, l psp.InvoiceLine) string {
	figures := i18n.NewFormatter(t.locale)
	quantity := l.ExactQuantity
	if quantity == "" {
		quantity = strconv.FormatInt(l.Quantity, 10)
	}
	return text + " (" + figures.Decimal(quantity) + " × " + figures.UnitPrice(l.UnitAmount, l.Currency, t.minorUnits) + ")"
}
