package meters_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

const day = stripetest.Day

func meter(w *stripetest.World, formula string) string {
	return w.Post("/v1/billing/meters", "display_name=Calls&event_name="+formula+"&default_aggregation[formula]="+formula).At("id")
}

// TestFormulas reports the same events to meters with different formulas.
func TestFormulas(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer, other := w.Customer(), w.Customer()
	now := w.Clock.Now().Unix()
	today := now - now%86400
	for formula, want := range map[string]string{"sum": "8.5", "count": "4", "last": "-1.5"} {
		id := meter(w, formula)
		report := func(at int64, who, value string) {
			w.Post("/v1/billing/meter_events", fmt.Sprintf("event_name=%s&payload[stripe_customer_id]=%s&payload[value]=%s&timestamp=%d", formula, who, value, at))
		}
		report(today, customer, "5")         // the first second counts
		report(today+7200, customer, "-1.5") // the latest timestamp, but not the latest report
		report(today+3600, customer, "3.0")
		report(today+60, customer, "2")
		report(today-1, customer, "100") // the day before
		report(today+60, other, "1000")
		day := w.Get(fmt.Sprintf("/v1/billing/meters/%s/event_summaries?customer=%s&start_time=%d&end_time=%d", id, customer, today, today+86400))
		day.CheckValues(t, formula, "data.0.aggregated_value", want, "data.0.start_time", fmt.Sprint(today), "data.0.end_time", fmt.Sprint(today+86400),
			"data.0.meter", id, "data.1", "null")
		hours := w.Get(fmt.Sprintf("/v1/billing/meters/%s/event_summaries?customer=%s&start_time=%d&end_time=%d&value_grouping_window=hour", id, customer, today, today+10800))
		var got []string
		for _, o := range hours.List("data") {
			got = append(got, o.At("aggregated_value"))
		}
		byHour := map[string]string{"sum": "-1.5 3 7", "count": "1 1 2", "last": "-1.5 3 2"}[formula] // newest first
		if diff := cmp.Diff(byHour, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s by the hour (-want +got):\n%s", formula, diff)
		}
	}
}

func TestTheTimeOfAnEvent(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	meter(w, "sum")
	customer := w.Customer()
	for _, c := range []struct {
		name string
		ago  time.Duration
		code string
	}{
		{"now", 0, ""},
		{"35 days late", 35 * day, ""},
		{"a second later than that", 35*day + time.Second, "timestamp_too_far_in_past"},
		{"five minutes early", -5 * time.Minute, ""},
		{"a second earlier than that", -5*time.Minute - time.Second, "timestamp_in_future"},
	} {
		body := fmt.Sprintf("event_name=sum&payload[value]=1&payload[stripe_customer_id]=%s&timestamp=%d", customer, w.Clock.Now().Add(-c.ago).Unix())
		if c.code == "" {
			w.Post("/v1/billing/meter_events", body).CheckValues(t, c.name, "object", "billing.meter_event", "payload.value", "1")
			continue
		}
		w.CheckRefused(stripetest.Refusal{Name: c.name, Method: "POST", Path: "/v1/billing/meter_events", Body: body, Code: c.code, Param: "timestamp"})
	}
}

// For a duplicate, Stripe returns only a message, without a code or a parameter.
func TestDuplicatesOfAnEvent(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	meter(w, "sum")
	body := "event_name=sum&identifier=e1&payload[value]=1&payload[stripe_customer_id]=" + w.Customer()
	duplicate := stripetest.Refusal{Name: "again", Method: "POST", Path: "/v1/billing/meter_events", Body: body}
	w.Post("/v1/billing/meter_events", body).CheckValues(t, "first", "identifier", "e1")
	w.CheckRefused(duplicate)
	w.Advance(day - time.Second)
	w.CheckRefused(duplicate)
	w.Advance(time.Second) // Stripe guarantees 24 hours
	w.Post("/v1/billing/meter_events", body)
	a, b := w.Post("/v1/billing/meter_events", strings.Replace(body, "identifier=e1&", "", 1)), w.Post("/v1/billing/meter_events", strings.Replace(body, "identifier=e1&", "", 1))
	if a.At("identifier") == b.At("identifier") {
		t.Error("two events without an identifier get the same identifier")
	}
}

func TestEventRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	meter(w, "sum")
	customer := w.Customer()
	who := "&payload[stripe_customer_id]=" + customer
	for _, c := range []struct{ name, body, code, param string }{
		{"no name", "payload[value]=1" + who, "parameter_missing", "event_name"},
		{"no payload", "event_name=sum", "parameter_missing", "payload"},
		{"empty payload", "event_name=sum&payload=", "parameter_invalid_empty", "payload"},
		{"payload that is a text", "event_name=sum&payload=1", "", "payload"},
		{"no meter", "event_name=other&payload[value]=1" + who, "no_meter", "event_name"},
		{"no customer", "event_name=sum&payload[value]=1", "meter_event_no_customer_defined", "payload"},
		{"no value", "event_name=sum" + who, "meter_event_value_not_found", "payload"},
		{"word", "event_name=sum&payload[value]=many" + who, "meter_event_invalid_value", "payload[value]"},
		{"exponent", "event_name=sum&payload[value]=1e3" + who, "meter_event_invalid_value", "payload[value]"},
		{"two signs", "event_name=sum&payload[value]=--1" + who, "meter_event_invalid_value", "payload[value]"},
		{"point at the end", "event_name=sum&payload[value]=1." + who, "meter_event_invalid_value", "payload[value]"},
		{"13 decimals", "event_name=sum&payload[value]=0.1234567890123" + who, "meter_event_invalid_value", "payload[value]"},
		{"16 digits", "event_name=sum&payload[value]=1234567890123456" + who, "meter_event_invalid_value", "payload[value]"},
		{"long value", "event_name=sum&payload[value]=1&payload[note]=" + strings.Repeat("x", 101) + who, "", "payload[note]"},
		{"long identifier", "event_name=sum&payload[value]=1&identifier=" + strings.Repeat("x", 101) + who, "", "identifier"},
		{"time is not a number", "event_name=sum&payload[value]=1&timestamp=today" + who, "parameter_invalid_integer", "timestamp"},
	} {
		w.CheckRefused(stripetest.Refusal{Name: c.name, Method: "POST", Path: "/v1/billing/meter_events", Body: c.body, Code: c.code, Param: c.param})
	}
}

func TestTheLifeOfAMeter(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id := w.Post("/v1/billing/meters", "display_name=Data&event_name=data&default_aggregation[formula]=sum&value_settings[event_payload_key]=bytes"+
		"&customer_mapping[type]=by_id&customer_mapping[event_payload_key]=who").At("id")
	path := "/v1/billing/meters/" + id
	used := "event_name=data&payload[bytes]=7&payload[who]=" + w.Customer()
	w.Post("/v1/billing/meter_events", used).CheckValues(t, "by the meter's own keys", "payload.bytes", "7")
	w.Advance(time.Hour)
	w.Post(path, "display_name=Data").CheckValues(t, "same name", "updated", fmt.Sprint(stripetest.Start.Unix()))
	w.Post(path, "display_name=Traffic").CheckValues(t, "renamed", "display_name", "Traffic", "updated", fmt.Sprint(w.Clock.Now().Unix()))
	w.CheckRefused(
		stripetest.Refusal{Name: "reactivate an active one", Method: "POST", Path: path + "/reactivate"},
		stripetest.Refusal{Name: "event name is taken", Method: "POST", Path: "/v1/billing/meters", Body: "display_name=x&event_name=data&default_aggregation[formula]=sum", Param: "event_name"},
	)
	w.Post(path+"/deactivate", "").CheckValues(t, "deactivated", "status", "inactive", "status_transitions.deactivated_at", fmt.Sprint(w.Clock.Now().Unix()))
	w.CheckRefused(
		stripetest.Refusal{Name: "deactivate again", Method: "POST", Path: path + "/deactivate"},
		stripetest.Refusal{Name: "event of an inactive meter", Method: "POST", Path: "/v1/billing/meter_events", Body: used, Code: "no_meter", Param: "event_name"},
	)
	heir := w.Post("/v1/billing/meters", "display_name=Heir&event_name=data&default_aggregation[formula]=count").At("id")
	w.CheckRefused(stripetest.Refusal{Name: "the name went to another", Method: "POST", Path: path + "/reactivate", Param: "event_name"})
	w.Post("/v1/billing/meters/"+heir+"/deactivate", "")
	w.Post(path+"/reactivate", "").CheckValues(t, "reactivated", "status", "active", "status_transitions.deactivated_at", "null")
	for query, want := range map[string][]string{"": {heir, id}, "?status=active": {id}, "?status=inactive": {heir}} {
		if diff := cmp.Diff(want, w.IDs("/v1/billing/meters"+query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

func TestMeterRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	path, customer := "/v1/billing/meters/"+meter(w, "sum"), w.Customer()
	for _, c := range []struct{ body, code, param string }{
		{"event_name=a&default_aggregation[formula]=sum", "parameter_missing", "display_name"},
		{"display_name=a&default_aggregation[formula]=sum", "parameter_missing", "event_name"},
		{"display_name=a&event_name=a", "parameter_missing", "default_aggregation"},
		{"display_name=a&event_name=a&default_aggregation[formula]=max", "", "default_aggregation[formula]"}, // Stripe has no maximum
		{"display_name=a&event_name=" + strings.Repeat("a", 101) + "&default_aggregation[formula]=sum", "", "event_name"},
		{"display_name=" + strings.Repeat("a", 251) + "&event_name=a&default_aggregation[formula]=sum", "", "display_name"},
		{"display_name=a&event_name=a&default_aggregation[formula]=sum&value_settings[x]=a", "parameter_missing", "value_settings[event_payload_key]"},
		{"display_name=a&event_name=a&default_aggregation[formula]=sum&customer_mapping[type]=by_id", "parameter_missing", "customer_mapping[event_payload_key]"},
		{"display_name=a&event_name=a&default_aggregation[formula]=sum&customer_mapping[type]=by_name&customer_mapping[event_payload_key]=a", "", "customer_mapping[type]"},
	} {
		w.CheckRefused(stripetest.Refusal{Name: c.body, Method: "POST", Path: "/v1/billing/meters", Body: c.body, Code: c.code, Param: c.param})
	}
	for _, c := range []struct{ query, code, param string }{
		{"start_time=0&end_time=60", "parameter_missing", "customer"},
		{"customer=" + customer + "&end_time=60", "parameter_missing", "start_time"},
		{"customer=" + customer + "&start_time=0", "parameter_missing", "end_time"},
		{"customer=cus_x&start_time=0&end_time=60", "resource_missing", "customer"},
		{"customer=" + customer + "&start_time=60&end_time=60", "", "end_time"},
		{"customer=" + customer + "&start_time=1&end_time=61", "", "start_time"},
		{"customer=" + customer + "&start_time=0&end_time=61", "", "end_time"},
		{"customer=" + customer + "&start_time=60&end_time=3600&value_grouping_window=hour", "", "start_time"},
		{"customer=" + customer + "&start_time=3600&end_time=86400&value_grouping_window=day", "", "start_time"},
		{"customer=" + customer + "&start_time=0&end_time=36003600&value_grouping_window=hour", "", "end_time"},
		{"customer=" + customer + "&start_time=0&end_time=3600&value_grouping_window=week", "", "value_grouping_window"},
	} {
		w.CheckRefused(stripetest.Refusal{Name: c.query, Method: "GET", Path: path + "/event_summaries?" + c.query, Code: c.code, Param: c.param})
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "unknown meter", Method: "GET", Path: "/v1/billing/meters/mtr_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "summaries of an unknown meter", Method: "GET", Path: "/v1/billing/meters/mtr_x/event_summaries?customer=" + customer + "&start_time=0&end_time=60", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "status", Method: "GET", Path: "/v1/billing/meters?status=odd", Param: "status"},
		stripetest.Refusal{Name: "a new event name", Method: "POST", Path: path, Body: "event_name=b", Code: "parameter_unknown", Param: "event_name"},
	)
}
