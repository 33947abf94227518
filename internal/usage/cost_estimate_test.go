package usage_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
)

func meterPrice(currency string, cents, psp any) apptest.Object {
	return apptest.Object{"currency": currency, "unit_price_cents": cents, "psp_price_id": psp}
}

func TestCostEstimate(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		admin := s.Admin()
		create := func(code string, prices ...any) {
			t.Helper()
			s.Call("POST", adminMeters, admin, map[string]any{
				"code": code, "name": "Name of " + code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
				"unit_label": "units", "prices": append([]any{}, prices...),
			}).Want(201)
		}
		create("z-sold", meterPrice("EUR", 0.025, "price_z"), meterPrice("USD", 9, "price_y"))
		create("unlinked", meterPrice("EUR", 5, nil))
		create("dollars", meterPrice("USD", 5, "price_d"), meterPrice("EUR", 5, nil))
		create("given-away")

		o := s.Register("estimate@example.com", true)
		path := o.Path("/usage")
		record := func(code, quantity string) {
			t.Helper()
			s.Call("POST", path, o.Token, `{"meter_code":"`+code+`","quantity":`+quantity+`}`).Want(201)
		}
		none := s.Call("GET", path+"/cost-estimate", o.Token, nil).Want(200)
		if lines, ok := none.At("data.lines").([]any); !ok || len(lines) != 0 || none.At("data.total_amount_cents") != 0.0 ||
			none.At("data.currency") != "EUR" || none.At("data.is_estimate") != true || none.At("data.tenant_id") != o.Tenant {
			t.Errorf("without a subscription: %s", none.Text)
		}

		s.BuyPlan(o, "starter")
		for _, code := range []string{"z-sold", "unlinked", "dollars", "given-away"} {
			record(code, "100.000001")
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
