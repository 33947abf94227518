package invoice

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

func TestNumberFormat(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		format NumberFormat
		want   string // "" if the format is invalid
	}{
		{DefaultNumbers, "INV-2026-000042"},
		{"{year}/{number}", "2026/42"},
		{"{number:1}.{year}", "42.2026"},
		{"A {number:10} B {year}", "A 0000000042 B 2026"},
		{"INV-{number}", ""},
		{"INV-{year}", ""},
		{"{year}{year}{number}", ""},
		{"{year}{number}{number:2}", ""},
		{"{year}{number:0}", ""},
		{"{year}{number:99}", ""},
		{"{year}{number:x}", ""},
		{"{year}{number", ""},
		{"{year}{number}é", ""},
		{"{year}{number}\n", ""},
		{"", ""},
	} {
		problem := test.format.Check()
		if (problem == "") != (test.want != "") {
			t.Errorf("%q: problem %q", test.format, problem)
		}
		if test.want != "" && test.format.Format(2026, 42) != test.want {
			t.Errorf("%q: %q, want %q", test.format, test.format.Format(2026, 42), test.want)
		}
	}
}

// A line's amount is its quantity times its unit price, even if the provider rounds.
func TestUnitsMultiplyToTheAmount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line     psp.InvoiceLine
		quantity int64
		price    int64
	}{
		{psp.InvoiceLine{Amount: 2700, Quantity: 3, UnitAmount: "900"}, 3, 900},
		{psp.InvoiceLine{Amount: -450, Quantity: 3, UnitAmount: "900", Proration: true}, 3, -150},
		{psp.InvoiceLine{Amount: -451, Quantity: 3, UnitAmount: "900", Proration: true}, 1, -451},
		{psp.InvoiceLine{Amount: 12, Quantity: 1234, UnitAmount: "0.01"}, 1, 12},
		{psp.InvoiceLine{Amount: 0, Quantity: 5, UnitAmount: "0"}, 5, 0},
		{psp.InvoiceLine{Amount: 0, Quantity: 5, UnitAmount: "900"}, 1, 0}, // a trial
		{psp.InvoiceLine{Amount: 700}, 1, 700},
		{psp.InvoiceLine{Amount: 6, Quantity: 3, ExactQuantity: "2.5", UnitAmount: "2"}, 1, 6}, // a fractional quantity
		{psp.InvoiceLine{Amount: 5, Quantity: 5, UnitAmount: "1.000000000001"}, 1, 5},          // a price with twelve decimals
	} {
		quantity, price, divides := units(test.line)
		if quantity != test.quantity || price.AmountCents != test.price || divides && quantity != test.line.Quantity {
			t.Errorf("%+v: %d × %d", test.line, quantity, price.AmountCents)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		line := psp.InvoiceLine{
			Amount: rapid.Int64Range(-1e12, 1e12).Draw(t, "amount"), Quantity: rapid.Int64Range(0, 1e6).Draw(t, "quantity"),
			UnitAmount: rapid.SampledFrom([]string{"", "0", "900", "0.001", "1.5"}).Draw(t, "unit"),
		}
		quantity, price, _ := units(line)
		if quantity < 1 || quantity*price.AmountCents != line.Amount {
			t.Fatalf("%d × %d is not %d", quantity, price.AmountCents, line.Amount)
		}
	})
}

func TestStableID(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	seen := map[uuid.UUID]string{}
	for i := range 10_000 {
		name := fmt.Sprintf("in_%d", i)
		id := stableID(name, created)
		if id != stableID(name, created) {
			t.Fatal("one name, two ids")
		}
		if other, taken := seen[id]; taken {
			t.Fatalf("%s and %s are the same", name, other)
		}
		seen[id] = name
		if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%s is of version %d", id, id.Version())
		}
		if seconds, _ := id.Time().UnixTime(); seconds != created.Unix() {
			t.Fatalf("%s is of %d", id, seconds)
		}
	}
}

func TestFromProvider(t *testing.T) {
	t.Parallel()
	tenantID, subID, planID, meterID := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	name := func(text string) map[string]string { return map[string]string{"en": text} }
	plan, meter := lineSource{planID: &planID, name: name("Team (Cloud)")}, lineSource{meterID: &meterID, name: name("Calls")}
	refs := references{
		subscriptions: map[string]subscriptionRef{"sub_1": {subID, lineSource{planID: &subID, name: name("Now (Cloud)")}}},
		lines:         map[string]lineSource{"il_5": plan},
		linked:        map[string]lineSource{"price_plan": plan, "price_meter": meter, "price_moved": meter},
		former:        map[string]lineSource{"price_gone": plan, "price_plan": meter},
		minorUnits:    map[string]int{"JPY": 0},
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	inv := fromProvider(tenantID, psp.Invoice{
		ID: "in_1", Status: "open", Currency: "JPY", Total: 1200, Tax: 200, SubscriptionID: "sub_1", CreatedAt: at,
		Lines: []psp.InvoiceLine{
			{ID: "il_1", PriceID: "price_plan", SubscriptionID: "sub_1", Amount: 900, Quantity: 1, Currency: "JPY", PeriodStart: at, PeriodEnd: at.AddDate(0, 1, 0)},
			{ID: "il_2", PriceID: "price_meter", SubscriptionID: "sub_1", Amount: 200, Quantity: 20, Currency: "JPY"},
			{ID: "il_3", PriceID: "price_gone", SubscriptionID: "sub_1", Proration: true, Amount: -100, Quantity: 1, Currency: "JPY", PeriodStart: at},
			{ID: "il_4", Amount: 200, Quantity: 1, Currency: "JPY", Description: "By hand"},
			{ID: "il_5", PriceID: "price_moved", SubscriptionID: "sub_1", Amount: 0, Quantity: 2, UnitAmount: "900", Currency: "JPY"},
			{ID: "il_6", PriceID: "price_never", SubscriptionID: "sub_1", Proration: true, Amount: 100, Quantity: 1, Currency: "JPY", PeriodStart: at},
			{ID: "il_7", PriceID: "price_meter", SubscriptionID: "sub_1", Amount: 6, Quantity: 1235, ExactQuantity: "1234.5", UnitAmount: "0.005", Currency: "JPY"},
			{ID: "il_9", PriceID: "price_plan", SubscriptionID: "sub_1", Proration: true, Amount: -957, Quantity: 81, UnitAmount: "-11.814814814815", Currency: "JPY", PeriodStart: at},
			{ID: "il_10", PriceID: "price_meter", SubscriptionID: "sub_1", Amount: 1, Quantity: 3, UnitAmount: "0.33333333333333331", Currency: "JPY"},
			{ID: "il_8", PriceID: "price_meter", SubscriptionID: "sub_1", Amount: 10, Quantity: 2, UnitAmount: "7", Currency: "JPY"}, // rounded to the smallest chargeable amount
		},
	}, refs, "fr")
	if inv.Number != "Brouillon" || *inv.SubscriptionID != subID || inv.Total != (money.Money{AmountCents: 1200, Currency: "JPY"}) || inv.Subtotal.AmountCents != 1000 {
		t.Errorf("invoice %+v", inv)
	}
	for i, want := range []struct {
		kind        LineType
		plan, meter *uuid.UUID
		text        string
	}{
		{SubscriptionLine, &planID, nil, "Team (Cloud)"},
		{SubscriptionLine, nil, &meterID, "Calls"},
		{ProrationLine, &planID, nil, "Team (Cloud) – temps non utilisé à partir du 1er mars 2026"},
		{AdjustmentLine, nil, nil, "By hand"},
		{SubscriptionLine, &planID, nil, "Team (Cloud), 2 sièges – période d’essai (2 × 900\u00a0JPY)"}, // as recorded when the line was first seen
		{ProrationLine, &subID, nil, "Now (Cloud) – temps restant à partir du 1er mars 2026"},
		{SubscriptionLine, nil, &meterID, "Calls (1\u202f234,5 × 0,005\u00a0JPY)"},
		{ProrationLine, &planID, nil, "Team (Cloud), 81 sièges – temps non utilisé à partir du 1er mars 2026"},
		{SubscriptionLine, nil, &meterID, "Calls"},
		{SubscriptionLine, nil, &meterID, "Calls (2 × 7\u00a0JPY)"},
	} {
		line := inv.Lines[i]
		same := func(a, b *uuid.UUID) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
		if line.Type != want.kind || !same(line.PlanID, want.plan) || !same(line.MeterID, want.meter) || line.Description != want.text {
			t.Errorf("line %d: %+v", i, line)
		}
	}
	if rounded := inv.Lines[7]; rounded.Quantity != 1 || rounded.UnitPrice != rounded.Amount {
		t.Errorf("a rounded line is %+v", rounded)
	}
	if inv.Lines[0].PeriodStart == nil || inv.Lines[3].PeriodStart != nil {
		t.Error("periods")
	}
}
