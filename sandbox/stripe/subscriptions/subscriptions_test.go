package subscriptions_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

const day = stripetest.Day

// at formats a time as a parameter, in seconds.
func at(when time.Time) string { return strconv.FormatInt(when.Unix(), 10) }

// TestTransitions creates a subscription, applies an action to it and checks the resulting status
// and events.
func TestTransitions(t *testing.T) {
	t.Parallel()
	const visa, late, none = "pm_card_visa", "pm_card_chargeCustomerFail", ""
	wait := func(d time.Duration) func(*stripetest.World, stripetest.Object) {
		return func(w *stripetest.World, _ stripetest.Object) { w.Advance(d) }
	}
	update := func(body string) func(*stripetest.World, stripetest.Object) {
		return func(w *stripetest.World, sub stripetest.Object) { w.Post("/v1/subscriptions/"+sub.At("id"), body) }
	}
	afterDunning := func(outcome string) func(*stripetest.World, stripetest.Object) {
		return func(w *stripetest.World, sub stripetest.Object) {
			if got := w.Send("PUT", "/sandbox/stripe/dunning", `{"outcome":"`+outcome+`"}`, "Content-Type", "application/json"); got.Code != 200 {
				t.Errorf("the setting returns %d", got.Code)
			}
			w.Card(sub.At("customer"), late)
			w.Advance(31*day + time.Hour + 15*day)
		}
	}
	const trial, pause, cancel = "trial_period_days=7", "&trial_settings[end_behavior][missing_payment_method]=pause", "&trial_settings[end_behavior][missing_payment_method]=cancel"
	for _, c := range []struct {
		name, card, params string
		begins             string
		then               func(*stripetest.World, stripetest.Object)
		ends               string
		events             string // emitted by subscriptions during the action, without their common prefix and joined by +
	}{
		{"trial ends with a card", visa, trial, "trialing", wait(7 * day), "active", "trial_will_end+updated"},
		{"trial ends a second early", visa, trial, "trialing", wait(7*day - time.Second), "trialing", "trial_will_end"},
		{"short trial", visa, "trial_period_days=1", "trialing", wait(day), "active", "updated"},
		{"trial ends without a card", none, trial, "trialing", wait(7*day + time.Hour), "past_due", "trial_will_end+updated+updated"},
		{"trial ends without a card, which cancels", none, trial + cancel, "trialing", wait(7 * day), "canceled", "trial_will_end+deleted"},
		{"trial ends without a card, which pauses", none, trial + pause, "trialing", wait(7 * day), "paused", "trial_will_end+updated+paused"},
		{"trial is ended by hand", visa, trial, "trialing", update("trial_end=now"), "active", "updated"},
		{"trial is ended by hand without a card", none, trial + pause, "trialing", update("trial_end=now"), "paused", "updated+paused"},
		{"trial that was to end is canceled", visa, trial, "trialing", func(w *stripetest.World, sub stripetest.Object) {
			update("cancel_at_period_end=true")(w, sub)
			w.Advance(7 * day)
		}, "canceled", "updated+trial_will_end+deleted"},
		{"renewal is paid", visa, "", "active", wait(31*day + time.Hour), "active", "updated"},
		{"a first payment that is declined", late, "payment_behavior=allow_incomplete", "incomplete", wait(time.Hour), "incomplete", ""},
		{"renewal is declined", visa, "", "active", func(w *stripetest.World, sub stripetest.Object) {
			w.Card(sub.At("customer"), late)
			w.Advance(31*day + time.Hour)
		}, "past_due", "updated+updated"},
		{"dunning cancels", visa, "", "active", afterDunning("canceled"), "canceled", "updated+updated+deleted"},
		{"dunning leaves it unpaid", visa, "", "active", afterDunning("unpaid"), "unpaid", "updated+updated+updated"},
		{"dunning leaves it past due", visa, "", "active", afterDunning("past_due"), "past_due", "updated+updated"},
		{"first payment never comes", late, "", "incomplete", wait(23 * time.Hour), "incomplete_expired", "updated"},
		{"first payment comes late", late, "", "incomplete", func(w *stripetest.World, sub stripetest.Object) {
			w.Post("/v1/invoices/"+sub.At("latest_invoice")+"/pay", "payment_method="+w.Card(sub.At("customer"), visa))
			w.Advance(day)
		}, "active", "updated"},
		{"cancel at the end of the period", visa, "", "active", func(w *stripetest.World, sub stripetest.Object) {
			update("cancel_at_period_end=true")(w, sub)
			w.Advance(31 * day)
		}, "canceled", "updated+deleted"},
		{"cancel at the end, a second before", visa, "", "active", func(w *stripetest.World, sub stripetest.Object) {
			update("cancel_at_period_end=true")(w, sub)
			w.Advance(31*day - time.Second)
		}, "active", "updated"},
		{"cancel and resume", visa, "", "active", func(w *stripetest.World, sub stripetest.Object) {
			update("cancel_at_period_end=true")(w, sub)
			update("cancel_at_period_end=false")(w, sub)
			w.Advance(31 * day)
		}, "active", "updated+updated+updated"},
		{"cancel now", visa, "", "active", func(w *stripetest.World, sub stripetest.Object) { w.Delete("/v1/subscriptions/" + sub.At("id")) }, "canceled", "deleted"},
		{"cancel what waits for its payment", late, "", "incomplete", func(w *stripetest.World, sub stripetest.Object) { w.Delete("/v1/subscriptions/" + sub.At("id")) }, "canceled", "deleted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := stripetest.New(t)
			sub := w.Subscribe(w.Price(1000, "eur", "month"), c.card, c.params)
			sub.CheckValues(t, "begins", "status", c.begins)
			var got []string
			for _, e := range w.Events(func() { c.then(w, sub) }) {
				if short, ok := strings.CutPrefix(e, "customer.subscription."); ok {
					got = append(got, short)
				}
			}
			w.Get("/v1/subscriptions/"+sub.At("id")).CheckValues(t, "ends", "status", c.ends)
			if diff := cmp.Diff(c.events, strings.Join(got, "+")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestProrationsAtTheBounds changes a price of 31.00 to a price of 62.00, so that a day in March
// costs 1.00 before and 2.00 after.
func TestProrationsAtTheBounds(t *testing.T) {
	t.Parallel()
	leap := time.Date(2028, time.February, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name           string
		begin          time.Time
		currency       string
		interval       string
		old, new       int64
		after          time.Duration
		credit, charge string
	}{
		{"at the start", stripetest.Start, "eur", "month", 3100, 6200, 0, "-3100", "6200"},
		{"after a second", stripetest.Start, "eur", "month", 3100, 6200, time.Second, "-3100", "6200"},
		{"in the middle", stripetest.Start, "eur", "month", 3100, 6200, 31 * day / 2, "-1550", "3100"},
		{"a day before the end", stripetest.Start, "eur", "month", 3100, 6200, 30 * day, "-100", "200"},
		{"a second before the end", stripetest.Start, "eur", "month", 3100, 6200, 31*day - time.Second, "null", "null"},
		{"on a leap day", leap, "eur", "month", 2900, 5800, 28 * day, "-100", "200"},
		{"before a leap day", leap, "eur", "month", 2900, 5800, 27 * day, "-200", "400"},
		{"a year with a leap day", leap, "eur", "year", 36600, 73200, 366 * day / 2, "-18300", "36600"},
		{"yen are not divided", stripetest.Start, "jpy", "month", 31, 62, 31 * day / 2, "-16", "31"},
		{"króna come whole", stripetest.Start, "isk", "month", 3100, 6200, 31 * day / 2, "-1600", "3100"},
		{"dinars come in tens", stripetest.Start, "kwd", "month", 3100, 6210, 31 * day / 2, "-1550", "3110"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := stripetest.New(t)
			w.Clock.Set(c.begin)
			old, fresh := w.Price(c.old, c.currency, c.interval), w.Price(c.new, c.currency, c.interval)
			sub := w.Subscribe(old, "pm_card_visa")
			w.Advance(c.after)
			w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][price]="+fresh)
			items := w.Get("/v1/invoiceitems?pending=true")
			items.CheckValues(t, "pending, newest first", "data.0.amount", c.charge, "data.1.amount", c.credit, "data.2", "null")
			if c.charge != "null" {
				items.CheckValues(t, "the charge", "data.0.period.start", at(w.Clock.Now()), "data.0.period.end", sub.At("items.data.0.current_period_end"), "data.0.proration", "true")
			}
		})
	}
}

// TestProrationDates requests a proration at a time other than now.
func TestProrationDates(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	old, fresh := w.Price(3100, "eur", "month"), w.Price(6200, "eur", "month")
	sub := w.Subscribe(old, "pm_card_visa")
	w.Advance(15 * day)
	path, change := "/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][price]="+fresh+"&proration_date="
	end := stripetest.Start.Add(31 * day)
	w.CheckRefused(
		stripetest.Refusal{Name: "before the period", Method: "POST", Path: path, Body: change + at(stripetest.Start.Add(-time.Second)), Param: "proration_date"},
		stripetest.Refusal{Name: "after the period", Method: "POST", Path: path, Body: change + at(end.Add(time.Second)), Param: "proration_date"},
	)
	for _, c := range []struct {
		name, date, total string
	}{
		{"start", at(stripetest.Start), "3100"},
		{"now", at(w.Clock.Now()), "1600"},
		{"end", at(end), "null"}, // nothing to bill immediately, so the preview shows the renewal
	} {
		preview := w.Post("/v1/invoices/create_preview", strings.NewReplacer("items", "subscription_details[items]", "proration_date", "subscription_details[proration_date]").Replace(change+c.date)+
			"&subscription="+sub.At("id")+"&subscription_details[proration_behavior]=always_invoice")
		if c.total == "null" {
			preview.CheckValues(t, c.name, "billing_reason", "upcoming", "lines.data.0.amount", "6200", "lines.data.1", "null")
			continue
		}
		preview.CheckValues(t, c.name, "billing_reason", "subscription_update", "total", c.total)
	}
	w.Post(path, change+at(stripetest.Start)+"&proration_behavior=always_invoice")
	w.Get("/v1/invoices?limit=1").CheckValues(t, "billed", "data.0.total", "3100", "data.0.status", "paid", "data.0.period_start", at(stripetest.Start))
}

// TestPeriodsAtTheEndsOfMonths starts on a 31st. The period ends on the last day of a shorter
// month, and later months are not affected.
func TestPeriodsAtTheEndsOfMonths(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	w.Clock.Set(time.Date(2028, time.January, 31, 8, 0, 0, 0, time.UTC))
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	for _, want := range []string{"2028-02-29", "2028-03-31", "2028-04-30", "2028-05-31"} {
		sub = w.Get("/v1/subscriptions/" + sub.At("id"))
		end := time.Unix(sub.Int("items.data.0.current_period_end"), 0).UTC()
		if got := end.Format(time.DateOnly); got != want || end.Hour() != 8 {
			t.Errorf("the period ends on %s, want %s", end, want)
		}
		w.Clock.Set(end)
	}
}

func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer, gone, price, dear := w.Customer(), w.Customer(), w.Price(1000, "eur", "month"), w.Price(99_999_999, "eur", "month")
	w.Delete("/v1/customers/" + gone)
	other := w.Card(w.Customer(), "pm_card_visa")
	items := "&items[0][price]=" + price + "&items[0][quantity]=1"
	many := ""
	for i := range 21 {
		many += fmt.Sprintf("&items[%d][price]=%s&items[%d][quantity]=1", i, price, i)
	}
	for _, c := range []struct {
		name, body, code, param string
		status                  int
	}{
		{"no customer", items[1:], "parameter_missing", "customer", 0},
		{"unknown customer", "customer=cus_x" + items, "resource_missing", "customer", 0},
		{"deleted customer", "customer=" + gone + items, "resource_missing", "customer", 0},
		{"no items", "customer=" + customer, "parameter_missing", "items", 0},
		{"empty items", "customer=" + customer + "&items=", "", "items", 0},
		{"21 items", "customer=" + customer + many, "", "items", 0},
		{"item without a price", "customer=" + customer + "&items[0][quantity]=1", "parameter_missing", "items[0][price]", 0},
		{"item without a quantity", "customer=" + customer + "&items[0][price]=" + price, "parameter_missing", "items[0][quantity]", 0},
		{"quantity of zero", "customer=" + customer + "&items[0][price]=" + price + "&items[0][quantity]=0", "parameter_invalid_integer", "items[0][quantity]", 0},
		{"too dear", "customer=" + customer + "&items[0][price]=" + dear + "&items[0][quantity]=2", "amount_too_large", "items", 0},
		{"trial of zero days", "customer=" + customer + "&trial_period_days=0" + items, "parameter_invalid_integer", "trial_period_days", 0},
		{"trial of 731 days", "customer=" + customer + "&trial_period_days=731" + items, "parameter_invalid_integer", "trial_period_days", 0},
		{"trial settings", "customer=" + customer + "&trial_settings[x]=y" + items, "parameter_missing", "trial_settings[end_behavior]", 0},
		{"end of a trial", "customer=" + customer + "&trial_settings[end_behavior][missing_payment_method]=shrug" + items, "", "trial_settings[end_behavior][missing_payment_method]", 0},
		{"payment behavior", "customer=" + customer + "&payment_behavior=hope" + items, "", "payment_behavior", 0},
		{"unknown card", "customer=" + customer + "&default_payment_method=pm_x" + items, "resource_missing", "default_payment_method", 0},
		{"another's card", "customer=" + customer + "&default_payment_method=" + other + items, "", "default_payment_method", 0},
		{"no card, all or nothing", "customer=" + customer + "&payment_behavior=error_if_incomplete" + items, "resource_missing", "", 400},
	} {
		w.CheckRefused(stripetest.Refusal{Name: c.name, Method: "POST", Path: "/v1/subscriptions", Body: c.body, Status: c.status, Code: c.code, Param: c.param})
	}
	w.Card(customer, "pm_card_chargeCustomerFail")
	w.CheckRefused(stripetest.Refusal{Name: "declined, all or nothing", Method: "POST", Path: "/v1/subscriptions", Body: "customer=" + customer + "&payment_behavior=error_if_incomplete" + items, Status: 402, Type: "card_error", Code: "card_declined"})
}

func TestUpdateRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price, yearly := w.Price(1000, "eur", "month"), w.Price(1000, "eur", "year")
	second := "items[1][price]=" + w.Price(500, "eur", "month") + "&items[1][quantity]=1"
	active, trial, ended := w.Subscribe(price, "pm_card_visa", second), w.Subscribe(price, "", "trial_period_days=30"), w.Subscribe(price, "pm_card_visa")
	incomplete := w.Subscribe(price, "")
	w.Delete("/v1/subscriptions/" + ended.At("id"))
	item := "items[0][id]=" + active.At("items.data.0.id")
	now := w.Clock.Now()
	for _, c := range []struct {
		name              string
		sub               stripetest.Object
		body, code, param string
	}{
		{"item without an id", active, "items[0][quantity]=2", "parameter_missing", "items[0][price]"},
		{"unknown item", active, "items[0][id]=si_x&items[0][quantity]=2", "resource_missing", "items[0][id]"},
		{"another's item", active, "items[0][id]=" + trial.At("items.data.0.id"), "resource_missing", "items[0][id]"},
		{"unknown price", active, item + "&items[0][price]=price_x", "resource_missing", "items[0][price]"},
		{"two intervals", active, item + "&items[0][price]=" + yearly, "", "items"},
		{"too dear", active, item + "&items[0][quantity]=999999", "amount_too_large", "items[0][quantity]"},
		{"proration behavior", active, item + "&proration_behavior=maybe", "", "proration_behavior"},
		{"billing cycle", active, "billing_cycle_anchor=tomorrow", "", "billing_cycle_anchor"},
		{"billing cycle of a trial", trial, "billing_cycle_anchor=now", "", "billing_cycle_anchor"},
		{"billing cycle and trial", trial, "billing_cycle_anchor=now&trial_end=now", "", "billing_cycle_anchor"},
		{"trial until a word", trial, "trial_end=later", "parameter_invalid_integer", "trial_end"},
		{"trial until now", trial, "trial_end=" + at(now), "", "trial_end"},
		{"trial for two years", trial, "trial_end=" + at(now.AddDate(0, 0, 730)) + "0", "", "trial_end"},
		{"feedback", active, "cancellation_details[feedback]=rude", "", "cancellation_details[feedback]"},
		{"unknown card", active, "default_payment_method=pm_x", "resource_missing", "default_payment_method"},
		{"items of an ended one", ended, "items[0][id]=" + ended.At("items.data.0.id") + "&items[0][quantity]=2", "", ""},
		{"end of an ended one", ended, "cancel_at_period_end=true", "", ""},
		{"items of an incomplete one", incomplete, "items[0][id]=" + incomplete.At("items.data.0.id") + "&items[0][quantity]=2", "", ""},
	} {
		w.CheckRefused(stripetest.Refusal{Name: c.name, Method: "POST", Path: "/v1/subscriptions/" + c.sub.At("id"), Body: c.body, Code: c.code, Param: c.param})
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "unknown", Method: "POST", Path: "/v1/subscriptions/sub_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "cancel of an unknown one", Method: "DELETE", Path: "/v1/subscriptions/sub_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "cancel of an ended one", Method: "DELETE", Path: "/v1/subscriptions/" + ended.At("id"), Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "cancel with a word", Method: "DELETE", Path: "/v1/subscriptions/" + active.At("id") + "?prorate=maybe", Param: "prorate"},
		stripetest.Refusal{Name: "resume of an active one", Method: "POST", Path: "/v1/subscriptions/" + active.At("id") + "/resume"},
		stripetest.Refusal{Name: "resume of an unknown one", Method: "POST", Path: "/v1/subscriptions/sub_x/resume", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "resume with another anchor", Method: "POST", Path: "/v1/subscriptions/" + active.At("id") + "/resume", Body: "billing_cycle_anchor=unchanged", Param: "billing_cycle_anchor"},
		stripetest.Refusal{Name: "list by status", Method: "GET", Path: "/v1/subscriptions?status=odd", Param: "status"},
	)
	// Changes that an ended subscription still accepts.
	w.Post("/v1/subscriptions/"+ended.At("id"), "metadata[a]=b&cancellation_details[feedback]=unused&cancellation_details[comment]=bye").
		CheckValues(t, "ended", "status", "canceled", "metadata.a", "b", "cancellation_details.feedback", "unused", "cancellation_details.comment", "bye")
	w.Post("/v1/subscriptions/"+ended.At("id"), "cancellation_details[feedback]=&cancellation_details[comment]=").
		CheckValues(t, "cleared", "cancellation_details.feedback", "null", "cancellation_details.comment", "null", "cancellation_details.reason", "cancellation_requested")
}

func TestPreviewRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	active, ended := w.Subscribe(price, "pm_card_visa"), w.Subscribe(price, "pm_card_visa")
	w.Delete("/v1/subscriptions/" + ended.At("id"))
	nobody := w.Customer()
	preview := func(name, body string, status int, code, param string) stripetest.Refusal {
		return stripetest.Refusal{Name: name, Method: "POST", Path: "/v1/invoices/create_preview", Body: body, Status: status, Code: code, Param: param}
	}
	w.CheckRefused(
		preview("of nothing", "", 0, "parameter_missing", "customer"),
		preview("unknown customer", "customer=cus_x", 0, "resource_missing", "customer"),
		preview("unknown subscription", "subscription=sub_x", 0, "resource_missing", "subscription"),
		preview("another's subscription", "customer="+nobody+"&subscription="+active.At("id"), 0, "resource_missing", "subscription"),
		preview("customer without one", "customer="+nobody, 404, "invoice_upcoming_none", ""),
		preview("subscription that has ended", "subscription="+ended.At("id"), 404, "invoice_upcoming_none", ""),
		preview("subscription that will end", "subscription="+active.At("id")+"&subscription_details[cancel_at_period_end]=true", 404, "invoice_upcoming_none", ""),
		preview("mode", "subscription="+active.At("id")+"&preview_mode=recurring", 0, "", "preview_mode"),
		preview("unknown item", "subscription="+active.At("id")+"&subscription_details[items][0][id]=si_x", 0, "resource_missing", "subscription_details[items][0][id]"),
		preview("unknown parameter", "subscription="+active.At("id")+"&subscription_details[colour]=red", 0, "parameter_unknown", "subscription_details[colour]"),
	)
	w.Post("/v1/invoices/create_preview", "customer="+active.At("customer")).
		CheckValues(t, "by the customer", "total", "1000", "parent.subscription_details.subscription", active.At("id"), "period_end", active.At("items.data.0.current_period_end"))
	if got := w.Get("/v1/subscriptions/" + active.At("id")); got.At("cancel_at_period_end") != "false" {
		t.Error("a preview changed the subscription")
	}
}

// TestCancelNow checks that the rest of the period is credited.
func TestCancelNow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query    string
		balance  string
		pending  int
		invoices int
	}{
		{"", "0", 0, 1},
		{"?prorate=true", "0", 1, 1},
		{"?prorate=true&invoice_now=true", "-1600", 0, 2},
		{"?invoice_now=true", "0", 0, 1},
	} {
		w := stripetest.New(t)
		sub := w.Subscribe(w.Price(3100, "eur", "month"), "pm_card_visa")
		w.Advance(15 * day)
		w.Delete("/v1/subscriptions/"+sub.At("id")+c.query).
			CheckValues(t, c.query, "status", "canceled", "ended_at", at(w.Clock.Now()), "canceled_at", at(w.Clock.Now()), "cancellation_details.reason", "cancellation_requested")
		w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, c.query, "balance", c.balance)
		if pending, all := len(w.IDs("/v1/invoiceitems?pending=true")), len(w.IDs("/v1/invoices")); pending != c.pending || all != c.invoices {
			t.Errorf("after %q: %d items and %d invoices, want %d and %d", c.query, pending, all, c.pending, c.invoices)
		}
		if events := w.Events(func() { w.Advance(100 * day) }); len(events) > 0 {
			t.Errorf("%q: later happens %v", c.query, events)
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	for card, want := range map[string]string{"pm_card_visa": "active", "pm_card_chargeCustomerFail": "past_due"} {
		w := stripetest.New(t)
		sub := w.Subscribe(w.Price(1000, "eur", "month"), "", "trial_period_days=7", "trial_settings[end_behavior][missing_payment_method]=pause")
		w.Advance(20 * day)
		w.Card(sub.At("customer"), card)
		var got stripetest.Object
		events := w.Events(func() { got = w.Post("/v1/subscriptions/"+sub.At("id")+"/resume", "") })
		got.CheckValues(t, card, "status", want, "billing_cycle_anchor", at(w.Clock.Now()), "items.data.0.current_period_start", at(w.Clock.Now()))
		if events[0] != "invoice.created" || events[len(events)-1] != "customer.subscription.resumed" {
			t.Errorf("%s: events %v", card, events)
		}
	}
}

// TestTheEndMovesWithThePeriod changes the period of a subscription that will end.
func TestTheEndMovesWithThePeriod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		begin, change string
		end           time.Time
	}{
		"a new cycle":    {"", "billing_cycle_anchor=now", stripetest.Start.AddDate(0, 1, 2)},
		"a longer trial": {"trial_period_days=7", "trial_end=" + at(stripetest.Start.AddDate(0, 0, 20)), stripetest.Start.AddDate(0, 0, 20)},
		"a new trial":    {"", "trial_end=" + at(stripetest.Start.AddDate(0, 0, 20)), stripetest.Start.AddDate(0, 0, 20)},
	} {
		w := stripetest.New(t)
		sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa", c.begin)
		path := "/v1/subscriptions/" + sub.At("id")
		w.Post(path, "cancel_at_period_end=true").CheckValues(t, name, "cancel_at", sub.At("items.data.0.current_period_end"))
		w.Advance(2 * day)
		w.Post(path, c.change).CheckValues(t, name, "cancel_at_period_end", "true", "cancel_at", at(c.end), "items.data.0.current_period_end", at(c.end))
		w.Clock.Set(c.end.Add(-time.Second))
		if got := w.Get(path).At("status"); got == "canceled" {
			t.Errorf("%s: ends too early", name)
		}
		w.Advance(time.Second)
		w.Get(path).CheckValues(t, name, "status", "canceled", "ended_at", at(c.end))
	}
}
