package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A number in a request must have the format of the country in the request, or else of the tenant's
// country. A rejected request changes nothing.
func TestVATNumberForm(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true) // in GB
		for name, way := range map[string]func(body object) apptest.Reply{
			"tenant": func(body object) apptest.Reply { return s.Call("PATCH", "/api/v1/tenant", ada.Token, body) },
			"complete setup": func(body object) apptest.Reply {
				return s.Call("PATCH", "/api/v1/onboarding/complete-setup", ada.Token, body)
			},
			"admin": func(body object) apptest.Reply {
				return s.Call("PATCH", "/api/v1/admin/tenants/"+ada.Tenant, s.Admin(), body)
			},
		} {
			for _, body := range []object{
				{"vat_number": "GB1"},
				{"vat_number": "DE123456789"},
				{"vat_number": "123456789"},
				{"vat_number": "..."},
				{"country": "FR", "vat_number": "GB123456789", "city": "Paris"},
				{"country": "GR", "vat_number": "GR123456789"},
				{"country": "CH", "vat_number": "000000000"},
			} {
				refused := way(body).As(name)
				refused.WantInvalid("vat_number")
				refused.WantAt("errors.vat_number", []any{"This VAT number is not valid for this country. Include the prefix, such as DE123456789."})
			}
			s.Call("GET", "/api/v1/tenant", ada.Token, nil).Want(200).WantAt("data.city", "London").WantAt("data.country", "GB").WantAt("data.vat_number", nil)
		}
		change := func(body object, country, number, status any) {
			t.Helper()
			s.Call("PATCH", "/api/v1/tenant", ada.Token, body).Want(200).WantAt("tenant.country", country).
				WantAt("tenant.vat_number", number).WantAt("tenant.vat_status", status).WantAt("tenant.vat_name", nil)
		}
		change(object{"vat_number": "gb 123.456-789"}, "GB", "GB123456789", "pending")
		change(object{"city": "Leeds", "vat_status": "valid", "vat_name": "Mine"}, "GB", "GB123456789", "pending")
		change(object{"country": "FR"}, "FR", "GB123456789", "invalid") // a change of only the country is never rejected
		change(object{"country": "GB"}, "GB", "GB123456789", "pending")
		change(object{"country": "GR", "vat_number": "el 123456789"}, "GR", "EL123456789", "pending")
		change(object{"vat_number": "000000000"}, "GR", "000000000", "pending")
		change(object{"vat_number": nil}, "GR", nil, "none")
		change(object{"country": "US", "vat_number": "12-3456789"}, "US", "12-3456789", "unknown")
		change(object{"vat_number": "DE123456789"}, "US", "DE123456789", "invalid")
		change(object{"country": nil, "vat_number": "fr 83 404 833 048"}, nil, "fr 83 404 833 048", "pending")
		change(object{"country": "FR"}, "FR", "FR83404833048", "pending")
		if got := s.CountAudited(ada, "tenant.vat_checked"); got != 0 {
			t.Errorf("%d checks without a customer", got)
		}
	})
}
