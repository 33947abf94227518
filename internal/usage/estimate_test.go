package usage

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// anyCurrency knows every currency.
type anyCurrency struct{}

func (anyCurrency) CurrencyExists(context.Context, string) (bool, error) { return true, nil }

// sell gives a meter a linked price in euros for each unit, in cents.
func (w *world) sell(t *testing.T, m Meter, cents string) {
	t.Helper()
	price, err := money.ParseUnitPrice(cents)
	if err != nil {
		t.Fatal(err)
	}
	linked := "price_" + m.Code
	_, err = w.CreateMeter(t.Context(), MeterEntry{Meter: m, Prices: []MeterPrice{{Currency: "EUR", UnitPrice: price, PSPPriceID: &linked}}})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) estimate(t *testing.T, tenantID uuid.UUID) (lines []string, total money.Money) {
	t.Helper()
	e, err := w.Estimate(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range e.Lines {
		lines = append(lines, fmt.Sprintf("%s %s × %s = %d %s", l.Meter.Code, l.Quantity, l.UnitPrice, l.Amount.AmountCents, l.Amount.Currency))
	}
	return lines, e.Total
}

// The estimate is about the billing period, whenever a meter resets.
func TestEstimate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := newWorld(t, db, "2026-11-21 12:00")
		w.sell(t, meter("a-month", Sum, Monthly, Hard), "0.5")
		w.sell(t, meter("b-day", Sum, Daily, Hard), "100")
		w.sell(t, meter("c-ever", Count, Never, Hard), "1.499999999999")
		w.sell(t, meter("d-level", LastValue, Weekly, Hard), "3")
		w.sell(t, meter("e-peak", Max, Daily, Hard), "0.000000000001")
		w.sell(t, meter("f-off", Sum, Monthly, Hard), "7")
		w.sell(t, meter("g-unused-off", Sum, Monthly, Hard), "7")
		w.apply(t, meter("free", Sum, Monthly, Hard))
		tenantID := w.newTenant(t)
		w.plans.grant(tenantID, Allowance{Billing: billing("2026-11-10", Month, 1, "2026-11-10", "2026-12-10")})
		var events []Recording
		for _, code := range []string{"a-month", "b-day", "c-ever", "d-level", "e-peak", "f-off", "free"} {
			events = append(events,
				recording(code, "1000").on("2026-11-09 23:59:59.999999"), recording(code, "7").on("2026-11-10"),
				recording(code, "2").on("2026-11-20"), recording(code, "4").on("2026-11-21"))
		}
		w.recordAll(t, tenantID, events, true)
		off := []Meter{meter("f-off", Sum, Monthly, Hard), meter("g-unused-off", Sum, Monthly, Hard)}
		for i := range off {
			off[i].Active = false
		}
		w.apply(t, off...)

		lines, total := w.estimate(t, tenantID)
		want := []string{
			"a-month 13 × 0.5 = 7 EUR", // 6.5 rounds up
			"b-day 13 × 100 = 1300 EUR",
			"c-ever 3 × 1.499999999999 = 4 EUR", // rounded once, not for each event
			"d-level 4 × 3 = 12 EUR",
			"e-peak 7 × 0.000000000001 = 0 EUR",
			"f-off 13 × 7 = 91 EUR",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("lines (-want +got)\n%s", diff)
		}
		if total != (money.Money{AmountCents: 1414, Currency: "EUR"}) {
			t.Errorf("total %v", total)
		}
		w.plans.grant(tenantID, Allowance{})
		if lines, total := w.estimate(t, tenantID); len(lines) != 0 || total != (money.Money{Currency: "USD"}) {
			t.Errorf("without a subscription: %v %v", lines, total)
		}
	})
}

// Amounts that fit nothing stay at the largest.
func TestEstimateOfTooMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00")
	w.sell(t, meter("a", Sum, Monthly, Hard), "1000000000000")
	w.sell(t, meter("b", Sum, Monthly, Hard), "1")
	tenantID := w.newTenant(t)
	w.plans.grant(tenantID, Allowance{Billing: billing("2026-11-10", Month, 1)})
	w.recordAll(t, tenantID, []Recording{recording("a", "1e12"), recording("b", "1")}, true)
	lines, total := w.estimate(t, tenantID)
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "a 1000000000000 × 1000000000000 = 9223372036854775807") || total.AmountCents != math.MaxInt64 {
		t.Errorf("%v %v", lines, total)
	}
}
