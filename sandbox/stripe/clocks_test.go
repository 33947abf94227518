package stripe_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// begin is the time of a new test clock, far from the sandbox's time.
var begin = time.Date(2030, time.June, 1, 0, 0, 0, 0, time.UTC)

// clock creates a test clock with a customer.
func clock(w *stripetest.World) (id, customer string) {
	id = w.Post("/v1/test_helpers/test_clocks", fmt.Sprintf("frozen_time=%d&name=mine", begin.Unix())).At("id")
	return id, w.Post("/v1/customers", "test_clock="+id+"&name=Ada").At("id")
}

func advance(w *stripetest.World, id string, to time.Time) stripetest.Object {
	return w.Post("/v1/test_helpers/test_clocks/"+id+"/advance", fmt.Sprintf("frozen_time=%d", to.Unix()))
}

// TestPagesUseTheClock opens a checkout and a portal page, both at the clock's time.
func TestPagesUseTheClock(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, customer := clock(w)
	price := w.Price(1000, "eur", "month")
	session := w.Post("/v1/checkout/sessions", "mode=subscription&success_url=https%3A%2F%2Fa.test&customer="+customer+"&line_items[0][price]="+price+"&line_items[0][quantity]=1")
	if got := session.Int("expires_at"); got != begin.Add(24*time.Hour).Unix() {
		t.Errorf("the session expires at %d", got)
	}
	page := strings.TrimPrefix(session.At("url"), stripetest.Site)
	w.Advance(100 * stripetest.Day) // does not expire the session
	if got := w.Form(page, "card_number", "4242424242424242"); got.Code != 303 {
		t.Fatalf("paying returns %d: %s", got.Code, got.Body)
	}
	sub := w.Get("/v1/subscriptions/" + w.Get("/v1/checkout/sessions/"+session.At("id")).At("subscription"))
	sub.CheckValues(t, "bought", "test_clock", id, "start_date", fmt.Sprint(begin.Unix()), "status", "active")
	portal := strings.TrimPrefix(w.Post("/v1/billing_portal/sessions", "customer="+customer).At("url"), stripetest.Site)
	if body := w.Send("GET", portal, "").Body.String(); !strings.Contains(body, "Renews on 1 July 2030.") {
		t.Errorf("the portal: %s", body)
	}
	late := w.Post("/v1/checkout/sessions", "mode=subscription&success_url=https%3A%2F%2Fa.test&customer="+customer+"&line_items[0][price]="+price+"&line_items[0][quantity]=1")
	advance(w, id, begin.Add(25*time.Hour)).CheckValues(t, "at first", "status", "advancing", "frozen_time", fmt.Sprint(begin.Unix()),
		"status_details.advancing.target_frozen_time", fmt.Sprint(begin.Add(25*time.Hour).Unix()))
	w.Get("/v1/test_helpers/test_clocks/"+id).CheckValues(t, "then", "status", "ready", "frozen_time", fmt.Sprint(begin.Add(25*time.Hour).Unix()), "status_details", "{}")
	w.Get("/v1/checkout/sessions/"+late.At("id")).CheckValues(t, "the other session", "status", "expired")
	if got := w.Send("GET", portal, "").Code; got != 410 {
		t.Errorf("the portal's link returns %d a day later", got)
	}
}

// TestUsageFollowsTheClock reports usage at the clock's time, which would be refused at the
// sandbox's time.
func TestUsageFollowsTheClock(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, customer := clock(w)
	meter := w.Post("/v1/billing/meters", "display_name=Calls&event_name=calls&default_aggregation[formula]=sum").At("id")
	price := w.Post("/v1/prices", "unit_amount=10&currency=eur&recurring[interval]=month&recurring[usage_type]=metered&recurring[meter]="+meter+"&product_data[name]=Calls").At("id")
	w.Card(customer, "pm_card_visa")
	sub := w.Post("/v1/subscriptions", "customer="+customer+"&items[0][price]="+price)
	w.Post("/v1/billing/meter_events", fmt.Sprintf("event_name=calls&payload[stripe_customer_id]=%s&payload[value]=7&timestamp=%d", customer, begin.Unix()))
	advance(w, id, begin.AddDate(0, 1, 0).Add(2*time.Hour))
	w.Get("/v1/invoices/"+w.Get("/v1/subscriptions/"+sub.At("id")).At("latest_invoice")).CheckValues(t, "the renewal", "total", "70", "status", "paid", "test_clock", id)
}

// TestLimitsOfAClock advances a clock with and without subscriptions.
func TestLimitsOfAClock(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, customer := clock(w)
	path := "/v1/test_helpers/test_clocks/" + id + "/advance"
	body := func(to time.Time) string { return fmt.Sprintf("frozen_time=%d", to.Unix()) }
	refused := func(name string, to time.Time) stripetest.Refusal {
		return stripetest.Refusal{Name: name, Method: "POST", Path: path, Body: body(to), Param: "frozen_time"}
	}
	w.CheckRefused(
		refused("back", begin.Add(-time.Second)), refused("nowhere", begin), refused("beyond two years", begin.AddDate(2, 0, 1)),
		stripetest.Refusal{Name: "no time", Method: "POST", Path: path, Code: "parameter_missing", Param: "frozen_time"},
		stripetest.Refusal{Name: "no clock", Method: "POST", Path: "/v1/test_helpers/test_clocks/clock_x/advance", Body: body(begin), Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "a clock without a time", Method: "POST", Path: "/v1/test_helpers/test_clocks", Code: "parameter_missing", Param: "frozen_time"},
	)
	w.Card(customer, "pm_card_visa")
	w.Post("/v1/subscriptions", "customer="+customer+"&items[0][quantity]=1&items[0][price]="+w.Price(1000, "eur", "year"))
	weekly := w.Post("/v1/subscriptions", "customer="+customer+"&items[0][quantity]=1&items[0][price]="+w.Price(100, "eur", "week")).At("id")
	w.CheckRefused(refused("beyond two weeks", begin.AddDate(0, 0, 15)))
	advance(w, id, begin.AddDate(0, 0, 14))
	w.Delete("/v1/subscriptions/" + weekly)
	advance(w, id, begin.AddDate(1, 0, 0))
	if got := w.IDs("/v1/test_helpers/test_clocks"); len(got) != 1 || got[0] != id {
		t.Errorf("clocks: %v", got)
	}
	w.Delete("/v1/test_helpers/test_clocks/"+id).CheckValues(t, "deleted", "deleted", "true", "id", id)
	if got := w.IDs("/v1/customers?test_clock=" + id); got != nil {
		t.Errorf("customers of the deleted clock: %v", got)
	}
}
