package app

import (
	"strings"
	"testing"
)

func TestCostEstimate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		admin := s.admin()
		create := func(code string, prices ...any) {
			t.Helper()
			s.call("POST", adminMeters, admin, map[string]any{
				"code": code, "name": "Name of " + code, "aggregation_type": "sum", "reset_interval": "monthly", "quota_enforcement": "none",
				"unit_label": "units", "prices": append([]any{}, prices...),
			}).want(201)
		}
		create("z-sold", meterPrice("EUR", 0.025, "price_z"), meterPrice("USD", 9, "price_y"))
		create("unlinked", meterPrice("EUR", 5, nil))
		create("dollars", meterPrice("USD", 5, "price_d"), meterPrice("EUR", 5, nil))
		create("given-away")

		o := s.register("estimate@example.com", true)
		path := "/api/v1/tenant/" + o.tenant + "/usage"
		record := func(code, quantity string) {
			t.Helper()
			s.call("POST", path, o.token, `{"meter_code":"`+code+`","quantity":`+quantity+`}`).want(201)
		}
		none := s.call("GET", path+"/cost-estimate", o.token, nil).want(200)
		if lines, ok := none.at("data.lines").([]any); !ok || len(lines) != 0 || none.at("data.total_amount_cents") != 0.0 ||
			none.at("data.currency") != "EUR" || none.at("data.is_estimate") != true || none.at("data.tenant_id") != o.tenant {
			t.Errorf("without a subscription: %s", none.text)
		}

		s.subscribe(o, "starter")
		for _, code := range []string{"z-sold", "unlinked", "dollars", "given-away"} {
			record(code, "100.000001")
		}
		got := s.call("GET", path+"/cost-estimate", o.token, nil).want(200)
		summary := s.call("GET", path, o.token, nil).want(200)
		want := `{"data":{"tenant_id":"` + o.tenant + `","period_start":"` + summary.str("data.period_start") + `","period_end":"` +
			summary.str("data.period_end") + `","total_amount_cents":3,"currency":"EUR","is_estimate":true,"lines":[` +
			`{"meter_code":"z-sold","meter_name":"Name of z-sold","quantity":100.000001,"unit_price_cents":0.025,"amount_cents":3,"currency":"EUR","unit_label":"units"}]}}`
		if strings.TrimSpace(got.text) != want {
			t.Errorf("got  %s\nwant %s", got.text, want)
		}
	})
}
