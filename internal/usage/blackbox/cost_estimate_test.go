package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestCostEstimate(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan := sellMetered(s, "z-sold", "sum", "0.025", apptest.Object{"unit_label": "units", "name": "Name of z-sold"})
		s.Call("POST", adminMeters, s.Admin(), apptest.Object{
			"code": "given-away", "name": "Free", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
		}).Want(201)
		o := s.NewCustomer("estimate")
		path := o.Path("/usage")
		none := s.Call("GET", path+"/cost-estimate", o.Token, nil).Want(200)
		if lines, ok := none.At("data.lines").([]any); !ok || len(lines) != 0 || none.At("data.total_amount_cents") != 0.0 ||
			none.At("data.currency") != "EUR" || none.At("data.is_estimate") != true || none.At("data.tenant_id") != o.Tenant {
			t.Errorf("without a subscription: %s", none.Text)
		}

		o.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		for _, code := range []string{"z-sold", "given-away"} {
			s.Call("POST", path, o.Token, `{"meter_code":"`+code+`","quantity":100.000001}`).Want(201)
		}
		got := s.Call("GET", path+"/cost-estimate", o.Token, nil).Want(200)
		summary := s.Call("GET", path, o.Token, nil).Want(200)
		want := `{"data":{"tenant_id":"` + o.Tenant + `","period_start":"` + summary.Str("data.period_start") + `","period_end":"` +
			summary.Str("data.period_end") + `","total_amount_cents":3,"discount_cents":0,"currency":"EUR","is_estimate":true,"lines":[` +
			`{"meter_code":"z-sold","meter_name":"Name of z-sold","quantity":100.000001,"unit_price_cents":0.025,"amount_cents":3,"currency":"EUR","unit_label":"units"}]}}`
		if strings.TrimSpace(got.Text) != want {
			t.Errorf("got  %s\nwant %s", got.Text, want)
		}
	})
}

// In a currency whose smallest chargeable amount is several minor units, a line of the estimate
// equals the line of the provider's invoice.
func TestCostEstimateOfThreeDecimals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call("POST", "/api/v1/admin/currencies/bulk", s.Admin(), apptest.Object{"codes": []string{"KWD"}}).Want(200)
		s.Call("POST", adminMeters, s.Admin(), apptest.Object{
			"code": "calls", "name": "calls", "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
			"prices": []any{apptest.Object{"currency": "KWD", "unit_price_cents": 7, "psp_price_id": s.NewMeteredPrice("KWD", "7")}},
		}).Want(201)
		k := s.CatalogAdmin()
		plan := k.CreatePricedPlan(k.CreateProduct("billed"), "billed", map[string]int{"KWD": 5000}, apptest.Object{"pricing_type": "usage"})
		l := s.NewCustomer("ada")
		l.Buy(plan, "KWD", apptest.Card(apptest.CardPays))
		l.Call("POST", l.Path("/usage"), l.Token, apptest.Object{"meter_code": "calls", "quantity": 2.07}).Want(201)
		l.Call("GET", l.Path("/usage")+"/cost-estimate", l.Token, nil).Want(200).
			WantAt("data.total_amount_cents", 10.0). // 14.49, rounded once
			WantAt("data.currency", "KWD")
		awaitReported(s, 1)
		s.Advance(32 * apptest.Day)
		if invoices := l.ProviderObjects(l.Owner, "invoice"); invoices[len(invoices)-1].At("total") != 5010.0 {
			t.Errorf("the invoice is %s", invoices[len(invoices)-1].Text)
		}
	})
}
