package checkout_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer, gone := w.Customer(), w.Customer()
	w.Delete("/v1/customers/" + gone)
	euro, dollar, dear := w.Price(1000, "eur", "month"), w.Price(1000, "usd", "month"), w.Price(60_000_000, "eur", "month")
	once := w.Post("/v1/prices", "unit_amount=500&currency=eur&product_data[name]=Credits").At("id")
	onceDollar := w.Post("/v1/prices", "unit_amount=500&currency=usd&product_data[name]=Credits").At("id")
	const inline = "mode=payment&line_items[0][price]&line_items[0][price_data][currency]=eur"
	now := w.Clock.Now().Unix()
	right := map[string]string{
		"mode": "subscription", "success_url": "https%3A%2F%2Fapp.example.test", "customer": customer,
		"line_items[0][price]": euro, "line_items[0][quantity]": "1",
	}
	for _, c := range []struct{ name, change, code, param string }{ // a change without a value removes the parameter
		{"no mode", "mode", "parameter_missing", "mode"},
		{"setup mode", "mode=setup", "", "mode"},
		{"recurring price in payment mode", "mode=payment", "", "line_items"},
		{"only one-time prices in subscription mode", "line_items[0][price]=" + once, "", "line_items"},
		{"one-time price next to a recurring price", "line_items[1][quantity]=1&line_items[1][price]=" + once, "", "line_items[1][price]"},
		{"subscription data in payment mode", "mode=payment&subscription_data[description]=x&line_items[0][price]=" + once, "", "subscription_data"},
		{"collection in payment mode", "mode=payment&payment_method_collection=always&line_items[0][price]=" + once, "", "payment_method_collection"},
		{"invoice creation in subscription mode", "invoice_creation[enabled]=true", "", "invoice_creation"},
		{"invoice creation without a value", "mode=payment&invoice_creation[invoice_data][footer]=x&line_items[0][price]=" + once, "parameter_missing", "invoice_creation[enabled]"},
		{"payment data in subscription mode", "payment_intent_data[description]=x", "", "payment_intent_data"},
		{"future usage", "mode=payment&payment_intent_data[setup_future_usage]=later&line_items[0][price]=" + once, "", "payment_intent_data[setup_future_usage]"},
		{"one-time price without a quantity", "mode=payment&line_items[0][quantity]&line_items[0][price]=" + once, "parameter_missing", "line_items[0][quantity]"},
		{"price and price data", "mode=payment&line_items[0][price_data][currency]=eur&line_items[0][price_data][unit_amount]=500&line_items[0][price_data][product_data][name]=x", "", "line_items[0][price_data]"},
		{"price data without a product", inline + "&line_items[0][price_data][unit_amount]=500", "parameter_missing", "line_items[0][price_data][product]"},
		{"price data without an amount", inline + "&line_items[0][price_data][product_data][name]=x", "parameter_missing", "line_items[0][price_data][unit_amount]"},
		{"price data of an unknown product", inline + "&line_items[0][price_data][unit_amount]=500&line_items[0][price_data][product]=prod_x", "resource_missing", "line_items[0][price_data][product]"},
		{"recurring price data", inline + "&line_items[0][price_data][unit_amount]=500&line_items[0][price_data][product_data][name]=x&line_items[0][price_data][recurring][interval]=month", "", "line_items"},
		{"nothing to pay", inline + "&line_items[0][price_data][unit_amount]=0&line_items[0][price_data][product_data][name]=x", "", "line_items"},
		{"too little to pay", inline + "&line_items[0][price_data][unit_amount]=49&line_items[0][price_data][product_data][name]=x", "amount_too_small", ""},
		{"currencies", "mode=payment&line_items[1][quantity]=1&line_items[0][price]=" + once + "&line_items[1][price]=" + onceDollar, "", "line_items[1][price]"},
		{"embedded", "ui_mode=embedded_page", "", "ui_mode"},
		{"no success URL", "success_url", "parameter_missing", "success_url"},
		{"empty success URL", "success_url=", "parameter_invalid_empty", "success_url"},
		{"success URL without a host", "success_url=done", "url_invalid", "success_url"},
		{"script as success URL", "success_url=javascript%3Aalert(1)", "url_invalid", "success_url"},
		{"cancel URL", "cancel_url=plans", "url_invalid", "cancel_url"},
		{"no customer", "customer", "parameter_missing", "customer"},
		{"unknown customer", "customer=cus_x", "resource_missing", "customer"},
		{"deleted customer", "customer=" + gone, "resource_missing", "customer"},
		{"no price", "line_items[0][price]", "parameter_missing", "line_items[0][price]"},
		{"unknown price", "line_items[0][price]=price_x", "resource_missing", "line_items[0][price]"},
		{"no quantity", "line_items[0][quantity]", "parameter_missing", "line_items[0][quantity]"},
		{"too dear together", "line_items[1][quantity]=1&line_items[1][price]=" + dear + "&line_items[0][price]=" + dear, "amount_too_large", "line_items"},
		{"long reference", "client_reference_id=" + strings.Repeat("r", 201), "", "client_reference_id"},
		{"locale", "locale=tlh", "", "locale"},
		{"collection", "payment_method_collection=never", "", "payment_method_collection"},
		{"way to pay", "payment_method_types[0]=cash", "", "payment_method_types"},
		{"way to pay, twice", "payment_method_types[0]=card&payment_method_types[1]=card", "", "payment_method_types"},
		{"debit of dollars", "payment_method_types[0]=sepa_debit&line_items[0][price]=" + dollar, "", "payment_method_types"},
		{"expires too soon", fmt.Sprintf("expires_at=%d", now+30*60-1), "parameter_invalid_integer", "expires_at"},
		{"expires too late", fmt.Sprintf("expires_at=%d", now+24*60*60+1), "parameter_invalid_integer", "expires_at"},
		{"trial", "subscription_data[trial_period_days]=731", "parameter_invalid_integer", "subscription_data[trial_period_days]"},
		{"end of the trial", "subscription_data[trial_settings][end_behavior][missing_payment_method]=shrug", "", "subscription_data[trial_settings][end_behavior][missing_payment_method]"},
		{"unsupported", "allow_promotion_codes=true", "parameter_unknown", "allow_promotion_codes"},
	} {
		params := map[string]string{}
		for key, value := range right {
			params[key] = value
		}
		for change := range strings.SplitSeq(c.change, "&") {
			key, value, given := strings.Cut(change, "=")
			if delete(params, key); given {
				params[key] = value
			}
		}
		var body []string
		for key, value := range params {
			body = append(body, key+"="+value)
		}
		w.CheckRefused(stripetest.Refusal{Name: c.name, Method: "POST", Path: "/v1/checkout/sessions", Body: strings.Join(body, "&"), Code: c.code, Param: c.param})
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "unknown session", Method: "GET", Path: "/v1/checkout/sessions/cs_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "its items", Method: "GET", Path: "/v1/checkout/sessions/cs_x/line_items", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "its end", Method: "POST", Path: "/v1/checkout/sessions/cs_x/expire", Status: 404, Code: "resource_missing", Param: "id"},
	)
	w.Post("/v1/checkout/sessions", "mode=subscription&success_url=https%3A%2F%2Fapp.example.test&locale=fr&client_reference_id=r7&customer="+customer+
		"&line_items[0][price]="+euro+"&line_items[0][quantity]=2").
		CheckValues(t, "accepted", "status", "open", "locale", "fr", "client_reference_id", "r7", "amount_total", "2000", "payment_status", "unpaid",
			"expires_at", fmt.Sprint(now+24*60*60), "payment_method_types", `["card","sepa_debit"]`)
}

// TestForms submits the page's form with different values.
func TestForms(t *testing.T) {
	t.Parallel()
	const card, debit = "payment_method_types[0]=card", "payment_method_types[0]=sepa_debit"
	for _, c := range []struct {
		name, params string
		fields       []string
		status       int
		says         string
	}{
		{"good card", "", []string{"card_number", "4242 4242 4242 4242"}, 303, ""},
		{"wrong digit", "", []string{"card_number", "4242 4242 4242 4243"}, 422, "This is not a valid card number."},
		{"real card", "", []string{"card_number", "4000056655665556"}, 422, "No real card is charged here."},
		{"nothing", "", nil, 422, "Enter a card number."},
		{"declined card", "", []string{"card_number", "4000000000000002"}, 402, "Your card was declined."},
		{"declined card of a trial", "subscription_data[trial_period_days]=7", []string{"card_number", "4000000000000002"}, 402, "Your card was declined."},
		{"good account", "", []string{"iban", "DE89 3704 0044 0532 0130 00"}, 303, ""},
		{"wrong account", "", []string{"iban", "DE89 3704 0044 0532 0130 01"}, 422, "This is not a valid IBAN."},
		{"card and account", "", []string{"card_number", "4242424242424242", "iban", "DE89370400440532013000"}, 422, "Pay either by card or by direct debit."},
		{"account where cards are taken", card, []string{"iban", "DE89370400440532013000"}, 422, "Direct debit is not available here."},
		{"card where debits are taken", debit, []string{"card_number", "4242424242424242"}, 422, "Cards are not available here."},
		{"nothing where debits are taken", debit, nil, 422, "This is not a valid IBAN."},
		{"nothing for a trial that needs nothing", "payment_method_collection=if_required&subscription_data[trial_period_days]=7", nil, 303, ""},
		{"nothing for a trial that needs a card", "subscription_data[trial_period_days]=7", nil, 422, "Enter a card number."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := stripetest.New(t)
			session := w.Checkout(w.Price(1000, "eur", "month"), c.params).At("id")
			path := "/sandbox/checkout/" + session
			got := w.Form(path, c.fields...)
			if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
				t.Errorf("answered %d, want %d with %q: %s", got.Code, c.status, c.says, got.Body)
			}
			if c.status != http.StatusSeeOther {
				w.Get("/v1/checkout/sessions/"+session).CheckValues(t, "the session stays", "status", "open", "subscription", "null", "payment_status", w.Get("/v1/checkout/sessions/"+session).At("payment_status"))
				if made := w.IDs("/v1/subscriptions?status=all"); len(made) > 0 || len(w.IDs("/v1/payment_methods")) > 0 {
					t.Errorf("a refused payment created subscriptions %v or cards", made)
				}
				return
			}
			w.Get("/v1/checkout/sessions/"+session).CheckValues(t, "complete", "status", "complete", "url", "null")
			var again *http.Response
			events := w.Events(func() { again = w.Form(path, c.fields...).Result() })
			if again.StatusCode != http.StatusSeeOther || again.Header.Get("Location") != "https://app.example.test/done" || len(events) > 0 {
				t.Errorf("second submit returns %d to %q, with events %v", again.StatusCode, again.Header.Get("Location"), events)
			}
			if shown := w.Send("GET", path, ""); shown.Code != http.StatusOK || !strings.Contains(shown.Body.String(), "This checkout is complete") {
				t.Errorf("the page returns %d: %s", shown.Code, shown.Body)
			}
		})
	}
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, params string
		life         time.Duration
	}{
		{"after a day", "", 24 * time.Hour},
		{"when requested", "expires_at=" + fmt.Sprint(stripetest.Start.Add(30*time.Minute).Unix()), 30 * time.Minute},
	} {
		w := stripetest.New(t)
		session := w.Checkout(w.Price(1000, "eur", "month"), c.params).At("id")
		path, page := "/v1/checkout/sessions/"+session, "/sandbox/checkout/"+session
		w.Advance(c.life - time.Second)
		w.Get(path).CheckValues(t, c.name+", a second before", "status", "open")
		events := w.Events(func() { w.Advance(time.Second) })
		if diff := cmp.Diff([]string{"checkout.session.expired"}, events); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", c.name, diff)
		}
		w.Get(path).CheckValues(t, c.name, "status", "expired", "url", "null")
		for name, got := range map[string]int{
			"the page":        w.Send("GET", page, "").Code,
			"a good card":     w.Form(page, "card_number", "4242424242424242").Code,
			"a declined card": w.Form(page, "card_number", "4000000000000002").Code,
		} {
			if got != http.StatusGone {
				t.Errorf("%s: %s returns %d", c.name, name, got)
			}
		}
		w.CheckRefused(stripetest.Refusal{Name: "expire again", Method: "POST", Path: path + "/expire"})
	}
	w := stripetest.New(t)
	open := w.Checkout(w.Price(1000, "eur", "month")).At("id")
	w.Post("/v1/checkout/sessions/"+open+"/expire", "").CheckValues(t, "by request", "status", "expired")
	if got := w.Send("GET", "/sandbox/checkout/cs_x", ""); got.Code != http.StatusNotFound {
		t.Errorf("page of a missing session returns %d", got.Code)
	}
	if got := w.Form("/sandbox/checkout/cs_x", "card_number", "4242424242424242"); got.Code != http.StatusNotFound {
		t.Errorf("form of a missing session returns %d", got.Code)
	}
}

func TestPageShowsAmountDue(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	paid, free := w.Price(123_456, "jpy", "year"), w.Price(0, "eur", "month")
	meter := w.Post("/v1/billing/meters", "display_name=Calls&event_name=calls&default_aggregation[formula]=sum").At("id")
	used := w.Post("/v1/prices", "currency=jpy&unit_amount_decimal=0.5&product_data[name]=Calls&recurring[interval]=year&recurring[usage_type]=metered&recurring[meter]="+meter).At("id")
	for name, c := range map[string]struct {
		price, params string
		says          []string
	}{
		"price": {paid, "", []string{"Pay ¥123,456", "¥123,456 / year"}},
		"free":  {free, "", []string{"This plan is free.", "Start your subscription"}},
		"day":   {paid, "subscription_data[trial_period_days]=1", []string{"Free for 1 day, until 2 March 2026."}},
		"trial": {paid, "subscription_data[trial_period_days]=14", []string{"Free for 14 days, until 15 March 2026.", "Start trial"}},
		"both":  {paid, "line_items[1][price]=" + used, []string{"Pay ¥123,456", "¥0.5 / unit", "Usage is billed at the end of each billing period."}},
	} {
		body := w.Send("GET", "/sandbox/checkout/"+w.Checkout(c.price, c.params).At("id"), "").Body.String()
		for _, part := range c.says {
			if !strings.Contains(body, part) {
				t.Errorf("%s: the page lacks %q: %s", name, part, body)
			}
		}
	}
}

func TestListsOfSessions(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	open, paid := w.Checkout(price), w.Checkout(price, "line_items[1][price]="+price+"&line_items[1][quantity]=2")
	w.Form("/sandbox/checkout/"+paid.At("id"), "card_number", "4242424242424242")
	sub := w.Get("/v1/checkout/sessions/" + paid.At("id")).At("subscription")
	for query, want := range map[string][]string{
		"":                                 {paid.At("id"), open.At("id")},
		"?status=open":                     {open.At("id")},
		"?customer=" + paid.At("customer"): {paid.At("id")},
		"?subscription=" + sub:             {paid.At("id")},
		"?limit=1":                         {paid.At("id")},
	} {
		if diff := cmp.Diff(want, w.IDs("/v1/checkout/sessions"+query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	items := "/v1/checkout/sessions/" + paid.At("id") + "/line_items"
	first := w.Get(items + "?limit=1")
	first.CheckValues(t, "first item", "has_more", "true", "data.0.quantity", "1", "data.0.amount_total", "1000", "data.1", "null")
	w.Get(items+"?starting_after="+first.At("data.0.id")).CheckValues(t, "second item", "has_more", "false", "data.0.quantity", "2", "data.0.amount_total", "2000")
	w.Get("/v1/checkout/sessions/"+paid.At("id")+"?expand[]=line_items").CheckValues(t, "expanded", "line_items.data.1.description", "Starter")
}
