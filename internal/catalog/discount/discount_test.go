package discount_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

type object = apptest.Object

// body returns the body of a valid discount with changes.
func body(changes ...object) object {
	return apptest.WithChanges(object{
		"code": "Spring-26", "name": object{"en": "Spring sale", "fr": "Soldes"}, "percent_off": 12.5, "duration": "once",
	}, changes...)
}

// The resource, its defaults, the filters, the changes and the audit trail.
func TestDiscounts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		made := k.AdminCall("POST", "/discounts", body()).Want(201)
		id := made.Str("data.id")
		for field, want := range map[string]any{
			"code": "Spring-26", "percent_off": 12.5, "amounts": []any{}, "duration": "once", "months": nil, "plan_ids": []any{},
			"first_purchase_only": false, "max_redemptions": nil, "max_per_tenant": 1.0, "starts_at": nil, "ends_at": nil, "is_active": true,
			"redemptions": 0.0,
		} {
			made.WantAt("data."+field, want)
		}
		made.WantAt("data.translations.fr.name", "Soldes")
		k.AdminCall("GET", "/discounts/"+id, nil).Want(200).WantAt("data", made.At("data"))
		k.AdminCall("GET", "/discounts?filter[code]=sPRING-26&filter[is_active]=true", nil).Want(200).WantAt("data.0.id", id).WantAt("meta.total", 1.0)
		k.AdminCall("GET", "/discounts?filter[code]=spring", nil).Want(200).WantAt("meta.total", 0.0)
		k.AdminCall("GET", "/discounts?filter[is_active]=false", nil).Want(200).WantAt("meta.total", 0.0)

		k.AdminCall("PATCH", "/discounts/"+id, object{"name": object{"fr": nil, "en": "Sale"}, "is_active": false}).Want(200).
			WantAt("data.is_active", false).WantAt("data.translations", object{"en": object{"name": "Sale"}})
		for field, value := range map[string]any{
			"code": "X", "percent_off": 10, "amounts": []any{}, "duration": "once", "months": nil, "plan_ids": []any{}, "first_purchase_only": true,
			"max_redemptions": 3, "max_per_tenant": 3, "starts_at": nil, "ends_at": nil,
		} {
			k.AdminCall("PATCH", "/discounts/"+id, object{field: value, "is_active": true}).WantInvalid(field)
		}
		k.AdminCall("PATCH", "/discounts/"+id, object{"name": object{"en": nil}}).WantInvalid("name.en")
		k.AdminCall("GET", "/discounts/"+id, nil).Want(200).WantAt("data.is_active", false)

		k.AdminCall("POST", "/discounts", body(object{"code": "spring-26"})).WantInvalid("code") // codes ignore case, and inactive discounts count
		k.AdminCall("DELETE", "/discounts/"+id, nil).Want(204)
		k.AdminCall("DELETE", "/discounts/"+id, nil).WantRefused(404, "")
		k.AdminCall("GET", "/discounts/"+id, nil).WantRefused(404, "")
		k.AdminCall("PATCH", "/discounts/"+id, object{"code": "x"}).WantRefused(404, "")
		k.AdminCall("POST", "/discounts", body(object{"code": "spring-26"})).Want(201)
		for _, action := range []string{"discount.created", "discount.updated", "discount.deleted"} {
			k.AdminCall("GET", "/audit-logs?filter[action]="+action, nil).Want(200).WantAt("data.0.resource", "discount")
		}
	})
}

// Each invalid discount is refused with an error on its field, and nothing is created.
func TestDiscountRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		amounts := func(list ...object) object {
			all := []any{}
			for _, a := range list {
				all = append(all, a)
			}
			return object{"percent_off": nil, "amounts": all}
		}
		euro := object{"currency": "EUR", "amount_cents": 500}
		deleted := k.CreatePlan(k.CreateProduct("gone"), "gone")
		k.AdminCall("DELETE", "/plans/"+deleted, nil).Want(204)
		for field, changes := range map[string][]object{
			"code":                   {{"code": "a b"}, {"code": "é"}, {"code": ""}, {"code": "a_b"}, {"code": "123456789012345678901234567890123456789012345678901"}},
			"name.en":                {{"name": object{"fr": "Soldes"}}},
			"percent_off":            {{"percent_off": 0}, {"percent_off": 100.01}, {"percent_off": 1.005}, {"percent_off": nil}, {"amounts": []any{euro}}},
			"amounts.0.currency":     {amounts(object{"currency": "XXX", "amount_cents": 1})},
			"amounts.0.amount_cents": {amounts(object{"currency": "EUR", "amount_cents": 0})},
			"amounts.1.currency":     {amounts(euro, euro)},
			"duration":               {{"duration": "twice"}, {"duration": nil}},
			"months":                 {{"duration": "repeating"}, {"months": 3}, {"duration": "repeating", "months": 0}, {"duration": "repeating", "months": 121}},
			"plan_ids.0":             {{"plan_ids": []any{apptest.NoSuchID}}, {"plan_ids": []any{deleted}}},
			"max_redemptions":        {{"max_redemptions": 0}},
			"max_per_tenant":         {{"max_per_tenant": 0}},
			"ends_at": {
				{"ends_at": s.Now().Add(-time.Hour).Format(time.RFC3339)},
				{"starts_at": s.Now().AddDate(0, 0, 2).Format(time.RFC3339), "ends_at": s.Now().AddDate(0, 0, 1).Format(time.RFC3339)},
			},
		} {
			for _, change := range changes {
				k.AdminCall("POST", "/discounts", body(change)).WantInvalid(field)
			}
		}
		k.AdminCall("GET", "/discounts", nil).Want(200).WantAt("meta.total", 0.0)
		k.AdminCall("POST", "/discounts", body(amounts(euro), object{"duration": "repeating", "months": 120, "max_per_tenant": nil})).Want(201).
			WantAt("data.percent_off", nil).WantAt("data.amounts.0.amount_cents", 500.0).WantAt("data.max_per_tenant", nil)
		k.AdminCall("POST", "/discounts", body(object{"code": "least", "percent_off": 0.01, "duration": "forever"})).Want(201)
		k.AdminCall("POST", "/discounts", body(object{"code": "all", "percent_off": 100, "duration": "forever"})).Want(201)
	})
}

// The discount of an amount is rounded half up, once, to an amount that the provider can charge.
func TestOff(t *testing.T) {
	t.Parallel()
	percent := func(n int64) discount.Discount { return discount.Discount{PercentOff: &n} }
	five := discount.Discount{Amounts: []discount.Amount{{Currency: "EUR", AmountCents: 500}}}
	for _, c := range []struct {
		discount.Discount
		amount, step, want int64
	}{
		{percent(50_00), 999, 1, 500}, // 499.5
		{percent(33_33), 1000, 1, 333},
		{percent(1), 4999, 1, 0}, // 0.4999
		{percent(1), 5000, 1, 1},
		{percent(12_50), 10_000, 10, 1250},
		{percent(10_00), 1250, 10, 130}, // 125 is halfway
		{percent(100_00), 999, 10, 999},
		{five, 2000, 1, 500},
		{five, 300, 1, 300},
		{five, -300, 1, 0},
	} {
		if got := c.Reduction(c.amount, "EUR", c.step); got != c.want {
			t.Errorf("%+v of %d in steps of %d: %d, want %d", c.Discount, c.amount, c.step, got, c.want)
		}
	}
}
