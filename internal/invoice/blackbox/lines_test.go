package blackbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Lines keep the description that they were created with, in the tenant's language. Later changes
// of the price, its link or the plan's name do not affect them.
func TestLinesKeepTheirDescription(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		s.Call("PATCH", "/api/v1/tenant", o.Token, map[string]any{"settings": map[string]any{"locale": "fr"}}).Want(200)
		s.BuyPlan(o, "starter")
		starter, team := s.PlanID(o, "starter"), s.PlanID(o, "team")
		first := s.Invoices(o, 1)[0].(map[string]any)
		line := first["lines"].([]any)[0].(map[string]any)
		text := line["description"].(string)
		if text != "Essentiel (Plateforme)" || line["plan_id"] != starter {
			t.Errorf("the first line is %v", line)
		}

		// Rename the plan and unlink its price.
		s.Call("PATCH", "/api/v1/admin/plans/"+starter, s.Admin(), map[string]any{"name": map[string]any{"en": "Renamed", "fr": "Renommé"}}).Want(200)
		apptest.Exec(t, s.DB(), "UPDATE plan_prices SET psp_price_id = NULL WHERE plan_id = $1", starter)
		s.Advance(10 * apptest.Day)
		o.Token = s.LogIn("ada@example.com")
		s.ChangePlan(o, "team", map[string]any{"quantity": 1}).Want(200)
		for _, in := range s.Invoices(o, 2) {
			in := in.(map[string]any)
			lines := in["lines"].([]any)
			if in["id"] == first["id"] {
				if kept := lines[0].(map[string]any); kept["description"] != text || kept["plan_id"] != starter {
					t.Errorf("the first line became %v", kept)
				}
				continue
			}
			for _, line := range lines {
				line := line.(map[string]any)
				credit := line["amount"].(map[string]any)["amount_cents"].(float64) < 0
				want, says := team, "Équipe (Plateforme) – temps restant à partir du "
				if credit {
					want, says = starter, "Essentiel (Plateforme) – temps non utilisé à partir du "
				}
				if line["plan_id"] != want || !strings.HasPrefix(line["description"].(string), says) {
					t.Errorf("after the change: %v, want plan %s", line, want)
				}
			}
		}
	})
}

// A usage line names its meter, translated by the feature with the same code. This holds even if
// the meter has a new price when its old price is billed for the first time.
func TestLinesOfUsageNameTheirMeter(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("lines"), "metered", map[string]int{"EUR": 500}, apptest.Object{"pricing_type": "usage"})
		priced := func(cents string) apptest.Object {
			return apptest.Object{"prices": []any{apptest.Object{
				"currency": "EUR", "unit_price_cents": json.Number(cents), "psp_price_id": s.NewMeteredPrice("EUR", cents),
			}}}
		}
		meter := s.Call("POST", "/api/v1/admin/meters", s.Admin(), apptest.WithChanges(priced("10"), apptest.Object{
			"code": "renders", "name": "Renders", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "soft",
		})).Want(201).Str("data.id")
		k.CreateFeature("renders", apptest.Object{"name": apptest.Object{"en": "Rendering", "fr": "Rendus"}})
		l := s.NewCustomer("renders")
		l.Call("PATCH", "/api/v1/tenant", l.Token, apptest.Object{"settings": apptest.Object{"locale": "fr"}}).Want(200)
		l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		l.Call("POST", l.Path("/usage"), l.Token, apptest.Object{"meter_code": "renders", "quantity": 3}).Want(201)
		s.Advance(time.Minute)
		apptest.Eventually(t, "the report", func() bool { return s.CountRows(`SELECT count(*) FROM usage_reports`) == 0 })
		s.Call("PATCH", "/api/v1/admin/meters/"+meter, s.Admin(), priced("20")).Want(200)
		s.Advance(31*apptest.Day + 2*time.Hour)
		l.LogInAgain()
		var lines []string
		for _, in := range s.Invoices(l.Owner, 2) {
			for _, line := range in.(apptest.Object)["lines"].([]any) {
				if line := line.(apptest.Object); line["meter_id"] != nil {
					lines = append(lines, fmt.Sprint(line["meter_id"], line["plan_id"], line["description"], line["amount"].(apptest.Object)["amount_cents"]))
				}
			}
		}
		if want := []string{meter + "<nil>Rendus30"}; !slices.Equal(lines, want) {
			t.Errorf("lines of meters: %v, want %v", lines, want)
		}
	})
}

// The lines of a discounted invoice have their full amounts, and another line has the discount. The
// lines add up in the resource, the document and the e-invoice.
func TestDiscountLine(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, mode settings.InvoiceMode) {
		o := s.Register("ada@example.com", true)
		for code, percent := range map[string]float64{"third": 33.33, "all": 100} {
			s.CatalogAdmin().AdminCall("POST", "/discounts", apptest.Object{
				"code": code, "name": apptest.Object{"en": "Sale"}, "percent_off": percent, "duration": "once",
			}).Want(201)
		}
		page := s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(o, "starter"), "currency": "EUR", "promotion_code": "third",
		})).Want(200)
		s.Pay(page.Str("data.url"), apptest.CardPays).Want(303)
		s.AwaitNotifications()
		path := o.Path("/invoices/") + s.Invoices(o, 1)[0].(map[string]any)["id"].(string)
		in := s.Call("GET", path, o.Token, nil).Want(200).WantAt("data.total.amount_cents", 1267.0).WantAt("data.lines.0.amount.amount_cents", 1900.0)
		in.WantAt("data.lines.1.type", "adjustment").WantAt("data.lines.1.description", "Discount (third)").WantAt("data.lines.1.quantity", 1.0).
			WantAt("data.lines.1.amount.amount_cents", -633.0).WantAt("data.lines.1.unit_price.amount_cents", -633.0).WantAt("data.lines.1.plan_id", nil)
		if mode == settings.InvoicesByPlatform {
			in.WantAt("data.tax.amount_cents", 211.0).WantAt("data.subtotal.amount_cents", 1056.0)
		}
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", path+"/pdf", o.Token, nil).Status == 200 })
		again := s.Call("GET", path, o.Token, nil).Want(200)
		if again.At("data.lines.1.id") != in.At("data.lines.1.id") {
			t.Error("the ID of the discount's line changes")
		}

		// A fully discounted invoice also has the line with the discount.
		bob := s.Register("bob@example.com", true)
		free := s.Call("POST", bob.Path("/checkout"), bob.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(bob, "starter"), "currency": "EUR", "promotion_code": "all",
		})).Want(200)
		s.Pay(free.Str("data.url"), apptest.CardPays).Want(303)
		s.AwaitNotifications()
		zero := bob.Path("/invoices/") + s.Invoices(bob, 1)[0].(map[string]any)["id"].(string)
		apptest.Eventually(t, "the document", func() bool { return s.Call("GET", zero+"/pdf", bob.Token, nil).Status == 200 })
		s.Call("GET", zero, bob.Token, nil).Want(200).WantAt("data.total.amount_cents", 0.0).WantAt("data.lines.1.amount.amount_cents", -1900.0)
	})
}

// A change that charges unpaid time again names the earlier plan in that line, as in the line of the
// credit. The charge and the credit cancel out.
func TestLineOfUnpaidTimeNamesItsPlan(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, s *apptest.Server, _ settings.InvoiceMode) {
		s.AddPlan("small", "flat", "month", 6000, 0, nil)
		s.AddPlan("big", "flat", "month", 8000, 0, nil)
		c := s.NewCustomer("ada")
		s.Submit(s.Checkout(c.Owner, "small"), apptest.Debit(apptest.DebitPays)).Want(303)
		apptest.Eventually(t, "the activation", func() bool { return s.Subscription(c.Owner).At("data.status") == "active" })
		s.AwaitNotifications()
		s.Advance(apptest.Day)
		c.LogInAgain()
		s.ChangePlan(c.Owner, "big", nil).Want(200)
		small, big := s.PlanID(c.Owner, "small"), s.PlanID(c.Owner, "big")
		for _, in := range s.Invoices(c.Owner, 2) {
			lines := in.(map[string]any)["lines"].([]any)
			if len(lines) == 1 { // the first period
				continue
			}
			sums := map[any]float64{}
			for _, line := range lines {
				line := line.(map[string]any)
				sums[line["plan_id"]] += line["amount"].(map[string]any)["amount_cents"].(float64)
			}
			if sums[small] != 0 || sums[big] < 7000 || len(lines) != 3 {
				t.Errorf("the lines add up to %v: %v", sums, lines)
			}
		}
	})
}
