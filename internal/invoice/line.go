package invoice

import (
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

func lineFromProvider(l psp.InvoiceLine, refs references, t texts) Line {
	of := refs.of(l)
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
	if !divides && l.UnitAmount != "" {
		line.Description = t.withFigures(line.Description, l)
	}
	if !l.PeriodStart.IsZero() {
		start, end := l.PeriodStart, l.PeriodEnd
		line.PeriodStart, line.PeriodEnd = &start, &end
	}
	return line
}

// units splits a line's amount into a quantity and the price of one, whose product is
// the amount. An amount that its quantity does not divide, such as part of a month, a
// part of a unit, or a price with a fraction of a cent, is one unit; so is one that the
// provider has rounded, as it does where the smallest amounts cannot be charged.
func units(l psp.InvoiceLine) (quantity int64, price money.Money, divides bool) {
	of := func(cents int64) money.Money { return money.Money{AmountCents: cents, Currency: l.Currency} }
	whole := !strings.Contains(l.UnitAmount, ".") && !strings.Contains(l.ExactQuantity, ".")
	if unit, err := strconv.ParseInt(l.UnitAmount, 10, 64); err == nil && !l.Proration && unit*l.Quantity != l.Amount {
		whole = false
	}
	if whole && l.Quantity > 0 && l.Amount%l.Quantity == 0 {
		// Where units of a price were free, a unit price of 0 would be wrong: such a
		// line is one unit.
		if l.Amount != 0 || l.UnitAmount == "" || l.UnitAmount == "0" {
			return l.Quantity, of(l.Amount / l.Quantity), true
		}
	}
	return 1, of(l.Amount), false
}

// texts writes what lines are for.
type texts struct {
	locale     string
	minorUnits int // of the currency
}

// words are the texts of lines by locale.
var words = map[string]struct{ unused, remaining, trial string }{
	"en": {"Unused time of {what} from {date}", "Remaining time of {what} from {date}", "Trial period of {what}"},
	"fr": {"Temps non utilisé de {what} à partir du {date}", "Temps restant de {what} à partir du {date}", "Période d’essai de {what}"},
	"es": {"Tiempo no utilizado de {what} desde el {date}", "Tiempo restante de {what} desde el {date}", "Periodo de prueba de {what}"},
	"it": {"Tempo non utilizzato di {what}, con decorrenza {date}", "Tempo restante di {what}, con decorrenza {date}", "Periodo di prova di {what}"},
}

// describe says what a line is for; of what nobody knows here the provider has a text.
func (t texts) describe(l psp.InvoiceLine, of billed) string {
	what := i18n.Pick(of.name, t.locale)
	if what == "" {
		return l.Description
	}
	w, ok := words[t.locale]
	if !ok {
		w = words[i18n.Default]
	}
	text := "{what}"
	switch {
	case l.Proration && l.Amount < 0:
		text = w.unused
	case l.Proration:
		text = w.remaining
	case of.planID != nil && l.Amount == 0 && l.Quantity > 0 && l.UnitAmount != "" && l.UnitAmount != "0":
		text = w.trial
	}
	return i18n.Fill(text, map[string]string{"what": what, "date": i18n.FiguresOf(t.locale).Date(l.PeriodStart)})
}

// withFigures adds the quantity and the price of one to a text, where the line cannot
// show them.
func (t texts) withFigures(text string, l psp.InvoiceLine) string {
	figures := i18n.FiguresOf(t.locale)
	quantity := l.ExactQuantity
	if quantity == "" {
		quantity = strconv.FormatInt(l.Quantity, 10)
	}
	return text + " (" + figures.Decimal(quantity) + " × " + figures.UnitPrice(l.UnitAmount, l.Currency, t.minorUnits) + ")"
}
