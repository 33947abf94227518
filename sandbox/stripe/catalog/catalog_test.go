package catalog_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

func TestProducts(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	pr := w.Post("/v1/products", "id=prod_a&name=Starter&description=Small&url=https%3A%2F%2Fa.example.test&images[0]=https%3A%2F%2Fa.example.test%2Fi.png&unit_label=seat")
	pr.CheckValues(t, "created", "id", "prod_a", "active", "true", "images.0", "https://a.example.test/i.png", "unit_label", "seat", "default_price", "null")
	w.Advance(time.Hour)
	w.Post("/v1/products/prod_a", "name=Starter").CheckValues(t, "unchanged", "updated", pr.At("created"))
	changed := w.Post("/v1/products/prod_a", "description=&images=&url=&name=Team")
	changed.CheckValues(t, "changed", "name", "Team", "description", "null", "images", "[]", "url", "null", "unit_label", "seat")
	if got := changed.Int("updated") - changed.Int("created"); got != 3600 {
		t.Errorf("updated %d seconds after it was created", got)
	}
	w.Get("/v1/products/prod_a").CheckValues(t, "retrieved", "name", "Team")
	w.Post("/v1/products", "id=prod_b&name=Large&url=https%3A%2F%2Fb.example.test&active=false")
	w.Post("/v1/products", "id=prod_c&name=Other")
	for query, want := range map[string]string{
		"":                                  "prod_c prod_b prod_a",
		"?active=true":                      "prod_c prod_a",
		"?active=false":                     "prod_b",
		"?ids[]=prod_a&ids[]=prod_b":        "prod_b prod_a",
		"?url=https%3A%2F%2Fb.example.test": "prod_b",
		"?limit=1&starting_after=prod_c":    "prod_b",
		"?limit=1&ending_before=prod_a":     "prod_b",
	} {
		if diff := cmp.Diff(want, strings.Join(w.IDs("/v1/products"+query), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	price := w.Price(100, "eur", "month")
	w.CheckRefused(
		stripetest.Refusal{Name: "no name", Method: "POST", Path: "/v1/products", Body: "id=prod_d", Code: "parameter_missing", Param: "name"},
		stripetest.Refusal{Name: "id is taken", Method: "POST", Path: "/v1/products", Body: "id=prod_a&name=x", Code: "resource_already_exists", Param: "id"},
		stripetest.Refusal{Name: "empty name", Method: "POST", Path: "/v1/products/prod_a", Body: "name=", Code: "parameter_invalid_empty", Param: "name"},
		stripetest.Refusal{Name: "URL", Method: "POST", Path: "/v1/products/prod_a", Body: "url=ftp%3A%2F%2Fx", Code: "url_invalid", Param: "url"},
		stripetest.Refusal{Name: "unknown product", Method: "POST", Path: "/v1/products/prod_x", Body: "name=x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "retrieve of an unknown one", Method: "GET", Path: "/v1/products/prod_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "unknown default price", Method: "POST", Path: "/v1/products/prod_a", Body: "default_price=price_x", Code: "resource_missing", Param: "default_price"},
		stripetest.Refusal{Name: "another product's price", Method: "POST", Path: "/v1/products/prod_a", Body: "default_price=" + price, Param: "default_price"},
		stripetest.Refusal{Name: "filter", Method: "GET", Path: "/v1/products?active=maybe", Param: "active"},
	)
}

func TestPrices(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	w.Post("/v1/products", "id=prod_a&name=Calls")
	meter := w.Post("/v1/billing/meters", "display_name=Calls&event_name=calls&default_aggregation[formula]=sum").At("id")
	ids := map[string]string{}
	for name, c := range map[string]struct{ body, amount, decimal, kind string }{
		"once":     {"currency=eur&unit_amount=100", "100", "100", "one_time"},
		"free":     {"currency=eur&unit_amount=0&recurring[interval]=month", "0", "0", "recurring"},
		"yearly":   {"currency=EUR&unit_amount_decimal=0100.50&recurring[interval]=year", "null", "100.5", "recurring"},
		"quarter":  {"currency=jpy&unit_amount_decimal=300.0&recurring[interval]=month&recurring[interval_count]=3", "300", "300", "recurring"},
		"metered":  {"currency=eur&unit_amount_decimal=0.000000000001&recurring[interval]=month&recurring[usage_type]=metered&recurring[meter]=" + meter, "null", "0.000000000001", "recurring"},
		"greatest": {"currency=eur&unit_amount=99999999", "99999999", "99999999", "one_time"},
	} {
		pr := w.Post("/v1/prices", "product=prod_a&"+c.body)
		pr.CheckValues(t, name, "unit_amount", c.amount, "unit_amount_decimal", c.decimal, "type", c.kind, "billing_scheme", "per_unit", "active", "true")
		ids[name] = pr.At("id")
	}
	for query, want := range map[string][]string{
		"recurring[interval]=year":                              {"yearly"},
		"recurring[usage_type]=metered":                         {"metered"},
		"recurring[meter]=" + meter + "&currency=eur":           {"metered"},
		"recurring[interval]=month&currency=jpy&type=recurring": {"quarter"},
		"product=prod_x":                                        nil,
	} {
		var wanted []string
		for _, name := range want {
			wanted = append(wanted, ids[name])
		}
		if diff := cmp.Diff(wanted, w.IDs("/v1/prices?"+query)); diff != "" {
			t.Errorf("%s (-want %v +got):\n%s", query, want, diff)
		}
	}
	w.Post("/v1/billing/meters/"+meter+"/deactivate", "")
	create := func(name, body, code, param string) stripetest.Refusal {
		return stripetest.Refusal{Name: name, Method: "POST", Path: "/v1/prices", Body: "product=prod_a&currency=eur&unit_amount=1&recurring[interval]=month&" + body, Code: code, Param: param}
	}
	w.CheckRefused(
		create("long lookup key", "lookup_key="+strings.Repeat("k", 201), "", "lookup_key"),
		create("meter of a licensed price", "recurring[meter]="+meter, "", "recurring[meter]"),
		create("unknown meter", "recurring[usage_type]=metered&recurring[meter]=mtr_x", "resource_missing", "recurring[meter]"),
		create("inactive meter", "recurring[usage_type]=metered&recurring[meter]="+meter, "archived_meter", "recurring[meter]"),
		create("usage type", "recurring[usage_type]=gold", "", "recurring[usage_type]"),
		create("interval count of zero", "recurring[interval_count]=0", "parameter_invalid_integer", "recurring[interval_count]"),
		create("tax behavior", "tax_behavior=odd", "", "tax_behavior"),
		stripetest.Refusal{Name: "unknown price", Method: "GET", Path: "/v1/prices/price_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "update of an unknown one", Method: "POST", Path: "/v1/prices/price_x", Body: "active=false", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "new amount", Method: "POST", Path: "/v1/prices/" + ids["once"], Body: "unit_amount=5", Code: "parameter_unknown", Param: "unit_amount"},
	)
}

// Lists refuse filters with unknown values.
func TestListsRefuseUnknownValues(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	for path, param := range map[string]string{
		"/v1/prices?type=gold": "type", "/v1/prices?recurring[interval]=hour": "recurring[interval]",
		"/v1/prices?recurring[usage_type]=gold": "recurring[usage_type]", "/v1/subscriptions?status=gold": "status",
		"/v1/invoices?status=gold": "status", "/v1/invoice_payments?status=gold": "status", "/v1/checkout/sessions?status=gold": "status",
	} {
		w.CheckRefused(stripetest.Refusal{Name: path, Method: "GET", Path: path, Param: param})
	}
	for _, path := range []string{"/v1/prices?type=recurring", "/v1/invoices?status=open", "/v1/checkout/sessions?status=open"} {
		w.Get(path)
	}
}

// Prices and checkouts refuse amounts that cannot be paid: fractions of the smallest amount, and
// totals above or below the limits.
func TestAmountsThatCanBePaid(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	for name, body := range map[string]string{
		"a fraction of a krona": "currency=isk&unit_amount=550", "a fil": "currency=kwd&unit_amount=5124",
	} {
		w.CheckRefused(stripetest.Refusal{
			Name: name, Method: "POST", Path: "/v1/prices", Body: body + "&product_data[name]=Thing",
			Code: "invalid_charge_amount_no_decimal_compatible", Param: "unit_amount",
		})
	}
	w.CheckRefused(stripetest.Refusal{
		Name: "nine digits", Method: "POST", Path: "/v1/prices",
		Body: "currency=eur&unit_amount=100000000&product_data[name]=Thing", Code: "parameter_invalid_integer", Param: "unit_amount",
	})
	w.Post("/v1/prices", "currency=idr&unit_amount=999999999999&product_data[name]=Thing")
	checkout := "mode=subscription&success_url=https://a.example/&customer=" + w.Customer() + "&line_items[0][quantity]=1&line_items[0][price]="
	w.CheckRefused(stripetest.Refusal{Name: "49 cents", Method: "POST", Path: "/v1/checkout/sessions", Body: checkout + w.Price(49, "eur", "month"), Code: "amount_too_small"})
	for _, amount := range []int64{0, 50} {
		w.Post("/v1/checkout/sessions", checkout+w.Price(amount, "eur", "month"))
	}
}

func TestLookupKeysMove(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	old, fresh := w.Price(1, "eur", "month"), w.Price(2, "eur", "month")
	w.Post("/v1/prices/"+old, "lookup_key=standard")
	w.Post("/v1/prices/"+old, "lookup_key=standard") // a price can keep its own key
	w.CheckRefused(stripetest.Refusal{Name: "taken", Method: "POST", Path: "/v1/prices/" + fresh, Body: "lookup_key=standard", Code: "resource_already_exists", Param: "lookup_key"})
	events := w.Events(func() { w.Post("/v1/prices/"+fresh, "lookup_key=standard&transfer_lookup_key=true") })
	if diff := cmp.Diff([]string{"price.updated", "price.updated"}, events); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{fresh}, w.IDs("/v1/prices?lookup_keys[]=standard")); diff != "" {
		t.Errorf("holders of the key (-want +got):\n%s", diff)
	}
	w.Get("/v1/prices/"+old).CheckValues(t, "the old price", "lookup_key", "null")
}

// TestRejectedPrices checks which prices subscriptions and checkouts refuse.
func TestRejectedPrices(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer := w.Customer()
	w.Card(customer, "pm_card_visa")
	retired, discontinued := w.Price(100, "eur", "month"), w.Price(100, "eur", "month")
	w.Post("/v1/prices/"+retired, "active=false")
	w.Post("/v1/products/"+w.Get("/v1/prices/"+discontinued).At("product"), "active=false")
	once := w.Post("/v1/prices", "currency=eur&unit_amount=1&product_data[name]=Once").At("id")
	good, yearly, dollars := w.Price(100, "eur", "month"), w.Price(100, "eur", "year"), w.Price(100, "usd", "month")
	for _, c := range []struct{ name, prices, code, param string }{
		{"unknown", "price_x", "resource_missing", "[0][price]"},
		{"inactive price", retired, "", "[0][price]"},
		{"inactive product", discontinued, "", "[0][price]"},
		{"one-time price", good + " " + once, "", "[1][price]"},
		{"two currencies", good + " " + dollars, "", "[1][price]"},
		{"two intervals", good + " " + yearly, "", "[1][price]"},
	} {
		for path, key := range map[string]string{
			"/v1/subscriptions":     "items",
			"/v1/checkout/sessions": "line_items",
		} {
			body := "customer=" + customer
			if key == "line_items" {
				body += "&mode=subscription&success_url=https%3A%2F%2Fapp.example.test"
			}
			for i, price := range strings.Fields(c.prices) {
				at := "&" + key + "[" + string(rune('0'+i)) + "]"
				body += at + "[price]=" + price + at + "[quantity]=1"
			}
			w.CheckRefused(stripetest.Refusal{Name: c.name + " at " + path, Method: "POST", Path: path, Body: body, Code: c.code, Param: key + c.param})
		}
	}
}
