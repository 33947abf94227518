package usage_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
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
			summary.Str("data.period_end") + `","total_amount_cents":3,"currency":"EUR","is_estimate":true,"lines":[` +
			`{"meter_code":"z-sold","meter_name":"Name of z-sold","quantity":100.000001,"unit_price_cents":0.025,"amount_cents":3,"currency":"EUR","unit_label":"units"}]}}`
		if strings.TrimSpace(got.Text) != want {
			t.Errorf("got  %s\nwant %s", got.Text, want)
		}
	})
}
