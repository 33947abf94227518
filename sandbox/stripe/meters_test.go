package stripe_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

func (w *world) meter(eventName, formula string) *api.BillingMeter {
	w.t.Helper()
	return must[*api.BillingMeter](w.t)(w.V1BillingMeters.Create(w.t.Context(), &api.BillingMeterCreateParams{
		DisplayName: api.String("API calls"), EventName: &eventName,
		DefaultAggregation: &api.BillingMeterCreateDefaultAggregationParams{Formula: &formula},
	}))
}

// metered creates a metered price.
func (w *world) metered(m *api.BillingMeter, unitAmount string) *api.Price {
	w.t.Helper()
	unit, err := strconv.ParseFloat(unitAmount, 64)
	if err != nil {
		w.t.Fatal(err)
	}
	return must[*api.Price](w.t)(w.V1Prices.Create(w.t.Context(), &api.PriceCreateParams{
		Currency: api.String("eur"), UnitAmountDecimal: &unit,
		ProductData: &api.PriceCreateProductDataParams{Name: api.String("Calls")},
		Recurring:   &api.PriceCreateRecurringParams{Interval: api.String("month"), UsageType: api.String("metered"), Meter: &m.ID},
	}))
}

// use reports usage. Its timestamp is the current time minus ago.
func (w *world) use(m *api.BillingMeter, customer, value string, ago time.Duration) {
	w.t.Helper()
	at := w.clock.Now().Add(-ago).Unix()
	must[*api.BillingMeterEvent](w.t)(w.V1BillingMeterEvents.Create(w.t.Context(), &api.BillingMeterEventCreateParams{
		EventName: &m.EventName, Timestamp: &at, Payload: map[string]string{"stripe_customer_id": customer, "value": value},
	}))
}

func TestMeterLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.meter("api-calls", "sum")
	if m.Status != "active" || m.DefaultAggregation.Formula != "sum" || m.CustomerMapping.EventPayloadKey != "stripe_customer_id" ||
		m.ValueSettings.EventPayloadKey != "value" || m.Created != start.Unix() {
		t.Errorf("created: %+v", m)
	}
	w.clock.Set(start.Add(time.Hour))
	named := must[*api.BillingMeter](t)(w.V1BillingMeters.Update(ctx, m.ID, &api.BillingMeterUpdateParams{DisplayName: api.String("Calls")}))
	if named.DisplayName != "Calls" || named.Updated != start.Add(time.Hour).Unix() {
		t.Errorf("updated: %+v", named)
	}
	off := must[*api.BillingMeter](t)(w.V1BillingMeters.Deactivate(ctx, m.ID, nil))
	if off.Status != "inactive" || off.StatusTransitions.DeactivatedAt != start.Add(time.Hour).Unix() {
		t.Errorf("deactivated: %+v", off)
	}
	_, err := w.V1BillingMeters.Deactivate(ctx, m.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	second := w.meter("api-calls", "last") // the name is free again
	_, err = w.V1BillingMeters.Reactivate(ctx, m.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "event_name")
	must[*api.BillingMeter](t)(w.V1BillingMeters.Deactivate(ctx, second.ID, nil))
	if on := must[*api.BillingMeter](t)(w.V1BillingMeters.Reactivate(ctx, m.ID, nil)); on.Status != "active" || on.StatusTransitions.DeactivatedAt != 0 {
		t.Errorf("reactivated: %+v", on)
	}
	var active []string
	for m, err := range w.V1BillingMeters.List(ctx, &api.BillingMeterListParams{Status: api.String("active")}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		active = append(active, m.ID)
	}
	if !slices.Equal(active, []string{m.ID}) {
		t.Errorf("active: %v", active)
	}
	if got := must[*api.BillingMeter](t)(w.V1BillingMeters.Retrieve(ctx, second.ID, nil)); got.Status != "inactive" {
		t.Errorf("retrieved: %+v", got)
	}
	want := []string{
		"billing.meter.created", "billing.meter.updated", "billing.meter.deactivated", "billing.meter.created",
		"billing.meter.deactivated", "billing.meter.reactivated",
	}
	if diff := cmp.Diff(want, w.eventTypes()); diff != "" {
		t.Error(diff)
	}
}

func TestMetersAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.meter("api-calls", "sum")
	const right = "display_name=Calls&event_name=other&default_aggregation[formula]=count"
	for body, c := range map[string][2]string{
		"event_name=a&default_aggregation[formula]=sum":                          {"parameter_missing", "display_name"},
		"display_name=A&event_name=a":                                            {"parameter_missing", "default_aggregation"},
		"display_name=A&event_name=a&default_aggregation[formula]=max":           {"", "default_aggregation[formula]"},
		"display_name=A&event_name=api-calls&default_aggregation[formula]=count": {"", "event_name"},
		right + "&event_name=" + strings.Repeat("a", 101):                        {"", "event_name"},
		right + "&display_name=" + strings.Repeat("a", 251):                      {"", "display_name"},
		right + "&event_time_window=hour":                                        {"parameter_unknown", "event_time_window"},
		right + "&customer_mapping[type]=by_email":                               {"parameter_missing", "customer_mapping[event_payload_key]"},
	} {
		res, answer := w.call("POST", "/v1/billing/meters", body, nil)
		got := decode[struct{ Error struct{ Code, Param string } }](t, answer).Error
		if res.StatusCode != http.StatusBadRequest || got.Code != c[0] || got.Param != c[1] {
			t.Errorf("%.80s returns %d %s, want %v", body, res.StatusCode, answer, c)
		}
	}
	if res, answer := w.call("POST", "/v1/billing/meters", right, nil); res.StatusCode != http.StatusOK {
		t.Errorf("statuses %d %s", res.StatusCode, answer)
	}
	if res, _ := w.call("GET", "/v1/billing/meters/mtr_x", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown meter returns %d", res.StatusCode)
	}
}

func TestMeterEventsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.meter("api-calls", "sum")
	w.meter("logins", "count")
	off := w.meter("off", "sum")
	must[*api.BillingMeter](t)(w.V1BillingMeters.Deactivate(t.Context(), off.ID, nil))
	cu, now := w.customer("ada@example.test"), start.Unix()
	at := func(d time.Duration) string { return strconv.FormatInt(now+int64(d/time.Second), 10) }
	event := func(change map[string]string) (int, string, string) {
		form := url.Values{"event_name": {"api-calls"}, "payload[stripe_customer_id]": {cu.ID}, "payload[value]": {"1"}}
		for key, value := range change {
			if form.Set(key, value); value == "" {
				form.Del(key)
			}
		}
		res, answer := w.call("POST", "/v1/billing/meter_events", form.Encode(), nil)
		if err := checkAnswer("POST", "/v1/billing/meter_events", res.StatusCode, []byte(answer)); err != nil {
			t.Errorf("%v: %v", change, err)
		}
		got := decode[struct{ Error struct{ Code, Param string } }](t, answer).Error
		return res.StatusCode, got.Code, got.Param
	}
	for _, c := range []struct {
		change      map[string]string
		code, param string // both empty if the event is accepted
	}{
		{map[string]string{}, "", ""},
		{map[string]string{"identifier": "a"}, "", ""},
		{map[string]string{"identifier": "b", "payload[value]": "-12.000000000001"}, "", ""},
		{map[string]string{"event_name": "logins", "payload[value]": ""}, "", ""},
		{map[string]string{"timestamp": at(-35 * 24 * time.Hour)}, "", ""},
		{map[string]string{"timestamp": at(-35*24*time.Hour - time.Second)}, "timestamp_too_far_in_past", "timestamp"},
		{map[string]string{"timestamp": at(5 * time.Minute)}, "", ""},
		{map[string]string{"timestamp": at(5*time.Minute + time.Second)}, "timestamp_in_future", "timestamp"},
		{map[string]string{"event_name": ""}, "parameter_missing", "event_name"},
		{map[string]string{"event_name": "nothing"}, "no_meter", "event_name"},
		{map[string]string{"event_name": "off"}, "no_meter", "event_name"},
		{map[string]string{"payload[value]": ""}, "meter_event_value_not_found", "payload"},
		{map[string]string{"payload[value]": "1e3"}, "meter_event_invalid_value", "payload[value]"},
		{map[string]string{"payload[value]": "0.0000000000001"}, "meter_event_invalid_value", "payload[value]"},
		{map[string]string{"payload[value]": "1234567890123456"}, "meter_event_invalid_value", "payload[value]"},
		{map[string]string{"payload[stripe_customer_id]": ""}, "meter_event_no_customer_defined", "payload"},
		{map[string]string{"payload[stripe_customer_id]": "cus_x"}, "", ""},
		{map[string]string{"identifier": strings.Repeat("a", 101)}, "", "identifier"},
		{map[string]string{"value": "1"}, "parameter_unknown", "value"},
	} {
		status, code, param := event(c.change)
		if taken := c.code == "" && c.param == ""; (status == http.StatusOK) != taken || code != c.code || param != c.param {
			t.Errorf("%v returns %d %q on %q", c.change, status, code, param)
		}
	}
	// Stripe's error for a duplicate identifier has no code and no parameter.
	for _, name := range []string{"api-calls", "logins"} {
		res, answer := w.call("POST", "/v1/billing/meter_events", url.Values{
			"event_name": {name}, "identifier": {"a"}, "payload[stripe_customer_id]": {cu.ID}, "payload[value]": {"1"},
		}.Encode(), nil)
		want := `{"error":{"type":"invalid_request_error","message":"An event already exists with identifier a."}}`
		if got := strings.TrimSpace(answer); res.StatusCode != http.StatusBadRequest || got != want {
			t.Errorf("a known identifier returns %d %s", res.StatusCode, got)
		}
	}
	w.clock.Set(start.Add(24*time.Hour - time.Second))
	if status, code, _ := event(map[string]string{"identifier": "a"}); status != http.StatusBadRequest {
		t.Errorf("within a day the identifier returns %d %s", status, code)
	}
	w.clock.Set(start.Add(24 * time.Hour))
	if status, code, _ := event(map[string]string{"identifier": "a"}); status != http.StatusOK {
		t.Errorf("after a day the identifier returns %d %s", status, code)
	}
}

func TestMeterSummaries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	cu, other := w.customer("ada@example.test").ID, w.customer("bob@example.test").ID
	sum, count, last := w.meter("sum", "sum"), w.meter("count", "count"), w.meter("last", "last")
	for _, m := range []*api.BillingMeter{sum, count, last} {
		w.use(m, cu, "2.25", 3*time.Hour)
		w.use(m, cu, "0.000000000001", time.Hour)
		w.use(m, cu, "4", 2*time.Hour) // stored later, but not the latest
		w.use(m, other, "1000", time.Hour)
		w.use(m, cu, "7", 0) // after the end
	}
	from, to := start.Add(-4*time.Hour).Unix(), start.Unix()
	values := func(m *api.BillingMeter, window *string, limit *int64) (all []float64) {
		params := &api.BillingMeterEventSummaryListParams{ID: &m.ID, Customer: &cu, StartTime: &from, EndTime: &to, ValueGroupingWindow: window}
		params.Limit = limit
		for s, err := range w.V1BillingMeterEventSummaries.List(ctx, params).All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s.AggregatedValue)
		}
		return all
	}
	hour := api.String("hour")
	for _, c := range []struct {
		name   string
		meter  *api.BillingMeter
		window *string
		limit  *int64
		want   []float64
	}{
		{"sum", sum, nil, nil, []float64{6.250000000001}},
		{"count", count, nil, nil, []float64{3}},
		{"last", last, nil, nil, []float64{0.000000000001}},
		{"hours", sum, hour, nil, []float64{0.000000000001, 4, 2.25, 0}},
		{"hours, two to a page", sum, hour, api.Int64(2), []float64{0.000000000001, 4, 2.25, 0}},
	} {
		if diff := cmp.Diff(c.want, values(c.meter, c.window, c.limit)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	at := func(at int64) string { return strconv.FormatInt(at, 10) }
	for query, c := range map[string][2]string{
		"customer=" + cu + "&start_time=" + at(from):                                                            {"parameter_missing", "end_time"},
		"customer=" + cu + "&start_time=" + at(from+1) + "&end_time=" + at(to):                                  {"", "start_time"},
		"customer=" + cu + "&start_time=" + at(from) + "&end_time=" + at(to+60) + "&value_grouping_window=hour": {"", "end_time"},
		"customer=" + cu + "&start_time=" + at(to) + "&end_time=" + at(to):                                      {"", "end_time"},
		"customer=cus_x&start_time=" + at(from) + "&end_time=" + at(to):                                         {"resource_missing", "customer"},
		"customer=" + cu + "&start_time=0&end_time=" + at(to) + "&value_grouping_window=hour":                   {"", "end_time"},
		"customer=" + cu + "&start_time=" + at(from) + "&end_time=" + at(to) + "&value_grouping_window=week":    {"", "value_grouping_window"},
	} {
		res, answer := w.call("GET", "/v1/billing/meters/"+sum.ID+"/event_summaries?"+query, "", nil)
		got := decode[struct{ Error struct{ Code, Param string } }](t, answer).Error
		if res.StatusCode != http.StatusBadRequest || got.Code != c[0] || got.Param != c[1] {
			t.Errorf("%s returns %d %s, want %v", query, res.StatusCode, answer, c)
		}
	}
}

func TestMeteredPrices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.meter("api-calls", "sum")
	p := w.metered(m, "0.000000000125")
	if p.Recurring.UsageType != "metered" || p.Recurring.Meter != m.ID || p.UnitAmountDecimal != 0.000000000125 {
		t.Errorf("created: %+v", p)
	}
	const right = "currency=eur&unit_amount=1&product_data[name]=A&recurring[interval]=month"
	off := w.meter("off", "sum")
	must[*api.BillingMeter](t)(w.V1BillingMeters.Deactivate(t.Context(), off.ID, nil))
	for body, c := range map[string][2]string{
		right + "&recurring[usage_type]=metered":                                {"parameter_missing", "recurring[meter]"},
		right + "&recurring[usage_type]=metered&recurring[meter]=mtr_x":         {"resource_missing", "recurring[meter]"},
		right + "&recurring[usage_type]=metered&recurring[meter]=" + off.ID:     {"archived_meter", "recurring[meter]"},
		right + "&recurring[usage_type]=licensed&recurring[meter]=" + m.ID:      {"", "recurring[meter]"},
		right + "&recurring[usage_type]=metered&recurring[aggregate_usage]=max": {"parameter_missing", "recurring[meter]"},
	} {
		res, answer := w.call("POST", "/v1/prices", body, nil)
		got := decode[struct{ Error struct{ Code, Param string } }](t, answer).Error
		if res.StatusCode != http.StatusBadRequest || got.Code != c[0] || got.Param != c[1] {
			t.Errorf("%s returns %d %s, want %v", body, res.StatusCode, answer, c)
		}
	}
}

// mixed returns a subscription with a licensed price and a metered price.
func (w *world) mixed(licensed, metered *api.Price) *api.Subscription {
	w.t.Helper()
	params := w.checkoutParams(licensed, 2)
	params.LineItems = append(params.LineItems, &api.CheckoutSessionCreateLineItemParams{Price: &metered.ID})
	session := must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Create(w.t.Context(), params))
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		w.t.Fatalf("paying returns %d %s", got.status, got.body)
	}
	session = must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Retrieve(w.t.Context(), session.ID, nil))
	return must[*api.Subscription](w.t)(w.V1Subscriptions.Retrieve(w.t.Context(), session.Subscription.ID, nil))
}

func TestCheckoutOfLicensedAndMetered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	licensed, calls := w.sold(1000, "eur", "month"), w.metered(w.meter("api-calls", "sum"), "1.25")
	sub := w.mixed(licensed, calls)
	if len(sub.Items.Data) != 2 || sub.Items.Data[0].Quantity != 2 || sub.Items.Data[1].Price.ID != calls.ID || sub.Items.Data[1].Quantity != 0 {
		t.Errorf("subscription: %+v", sub.Items.Data)
	}
	first := must[*api.Invoice](t)(w.V1Invoices.Retrieve(ctx, sub.LatestInvoice.ID, nil))
	if first.Total != 2000 || len(first.Lines.Data) != 1 {
		t.Errorf("the first invoice has %d lines of %d", len(first.Lines.Data), first.Total)
	}
	params := w.checkoutParams(calls, 1)
	_, err := w.V1CheckoutSessions.Create(ctx, params)
	refused(t, err, http.StatusBadRequest, "", "line_items[0][quantity]")
	params.LineItems[0].Quantity = nil
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
	if session.AmountTotal != 0 || session.PaymentStatus != "no_payment_required" {
		t.Errorf("only metered: %+v", session)
	}
	got := w.visit(http.MethodGet, session.ID, nil)
	for _, part := range []string{"€0.0125 / unit", "billed at the end of each billing period", ">Subscribe</button>", " required>"} {
		if !strings.Contains(got.body, part) {
			t.Errorf("the page does not have %q:\n%s", part, got.body)
		}
	}
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Errorf("subscribing returns %d %s", got.status, got.body)
	}
}

func TestUsageIsBilledWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.meter("api-calls", "sum")
	calls := w.metered(m, "1.25")
	sub := w.mixed(w.sold(1000, "eur", "month"), calls)
	w.use(m, sub.Customer.ID, "1000", time.Second) // before the subscription started
	w.clock.Set(start.Add(24 * time.Hour))
	w.use(m, sub.Customer.ID, "99.5", 0)
	w.use(m, sub.Customer.ID, "0.5", 24*time.Hour) // the first second of the period
	w.use(m, sub.Customer.ID, "0.9", 0)
	next := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(ctx, &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	line := next.Lines.Data[len(next.Lines.Data)-1]
	// 100.9 at 1.25 is 126.125, rounded once.
	if next.Total != 2126 || len(next.Lines.Data) != 2 || line.Amount != 126 || line.Quantity != 100 || line.QuantityDecimal != 100.9 ||
		line.Period.Start != start.Unix() || line.Period.End != sub.Items.Data[0].CurrentPeriodEnd || line.Pricing.PriceDetails.Price.ID != calls.ID ||
		line.Parent.SubscriptionItemDetails.SubscriptionItem != sub.Items.Data[1].ID || line.Description != "100.9 × Calls (at 0.0125 EUR / unit)" {
		t.Errorf("%d in %d lines, the last %+v", next.Total, len(next.Lines.Data), line)
	}
	w.use(m, sub.Customer.ID, "-200", 0)
	next = must[*api.Invoice](t)(w.V1Invoices.CreatePreview(ctx, &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	if next.Total != 2000 || next.Lines.Data[1].Amount != 0 || next.Lines.Data[1].QuantityDecimal != 0 {
		t.Errorf("corrected below zero: %d, %+v", next.Total, next.Lines.Data[1])
	}
	w.use(m, sub.Customer.ID, "300", 0)
	now := must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{
		BillingCycleAnchorNow: api.Bool(true), ProrationBehavior: api.String("none"),
	}))
	in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(ctx, now.LatestInvoice.ID, nil))
	// Usage in the first second of the new period belongs to that period.
	if line := in.Lines.Data[1]; in.Total != 2001 || line.Amount != 1 || line.Period.End != now.Items.Data[0].CurrentPeriodStart {
		t.Errorf("a new period bills %d, %+v", in.Total, line)
	}
}

func TestUsageInATrialCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.meter("api-calls", "sum")
	params := w.checkoutParams(w.metered(m, "100"), 1)
	params.LineItems[0].Quantity = nil
	params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(7)}
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
	w.pay(session.ID, "4242424242424242")
	w.use(m, *params.Customer, "5", 0)
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(t.Context(), session.ID, nil))
	next := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &session.Subscription.ID}))
	if next.Total != 0 {
		t.Errorf("total of the trial's usage = %d", next.Total)
	}
}

func TestMeteredItemsHaveNoQuantity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.meter("api-calls", "sum")
	licensed, calls, dearer := w.sold(1000, "eur", "month"), w.metered(m, "1.25"), w.metered(m, "2.5")
	sub := w.mixed(licensed, calls)
	change := func(item *api.SubscriptionUpdateItemParams) (*api.Subscription, error) {
		item.ID = &sub.Items.Data[1].ID
		return w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{Items: []*api.SubscriptionUpdateItemParams{item}})
	}
	_, err := change(&api.SubscriptionUpdateItemParams{Quantity: api.Int64(2)})
	refused(t, err, http.StatusBadRequest, "", "items[0][quantity]")
	_, err = change(&api.SubscriptionUpdateItemParams{Price: &licensed.ID})
	refused(t, err, http.StatusBadRequest, "", "items[0][price]")
	changed := must[*api.Subscription](t)(change(&api.SubscriptionUpdateItemParams{Price: &dearer.ID}))
	w.use(m, sub.Customer.ID, "10", 0)
	next := must[*api.Invoice](t)(w.V1Invoices.CreatePreview(t.Context(), &api.InvoiceCreatePreviewParams{Subscription: &changed.ID}))
	if next.Total != 2025 || len(next.Lines.Data) != 2 {
		t.Errorf("at the new price %d in %d lines", next.Total, len(next.Lines.Data))
	}
}

func TestUsageIsBilledAtTheRenewal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.meter("api-calls", "sum")
	sub := w.mixed(w.sold(1000, "eur", "month"), w.metered(m, "1.25"))
	end := time.Unix(sub.Items.Data[0].CurrentPeriodEnd, 0)
	w.clock.Set(end.Add(-time.Hour))
	w.use(m, sub.Customer.ID, "100", 0)
	w.clock.Set(end.Add(30 * time.Minute)) // the invoice is a draft
	w.use(m, sub.Customer.ID, "20", 30*time.Minute+time.Second)
	w.use(m, sub.Customer.ID, "1000", 30*time.Minute) // the first second of the next period
	w.clock.Set(end.Add(2 * time.Hour))
	w.use(m, sub.Customer.ID, "20", 3*time.Hour) // too late for the invoice
	in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(ctx, w.subscription(sub.ID).LatestInvoice.ID, nil))
	if in.Status != "paid" || in.BillingReason != "subscription_cycle" || in.Total != 2150 || in.Subtotal != 2150 || in.AmountPaid != 2150 || len(in.Lines.Data) != 2 {
		t.Fatalf("the renewal: %s, %s, %d in %d lines", in.Status, in.BillingReason, in.AmountPaid, len(in.Lines.Data))
	}
	if line := in.Lines.Data[1]; line.Amount != 150 || line.Quantity != 120 || line.Period.Start != start.Unix() || line.Period.End != end.Unix() {
		t.Errorf("usage: %+v", line)
	}
	if line := in.Lines.Data[0]; line.Amount != 2000 || line.Period.Start != end.Unix() {
		t.Errorf("the period ahead: %+v", line)
	}
}

func TestUsageIsBilledAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.meter("api-calls", "sum")
	licensed, calls := w.sold(1000, "eur", "month"), w.metered(m, "1.25")
	for name, c := range map[string]struct {
		end  func(sub *api.Subscription)
		used string
		want int64 // 0 means no invoice
	}{
		"with the period": {func(sub *api.Subscription) {
			must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)}))
			w.clock.Set(time.Unix(sub.Items.Data[0].CurrentPeriodEnd, 0))
		}, "100", 125},
		"with the period, unused": {func(sub *api.Subscription) {
			must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)}))
			w.clock.Set(time.Unix(sub.Items.Data[0].CurrentPeriodEnd, 0))
		}, "0", 0},
		"at once, invoiced": {func(sub *api.Subscription) {
			must[*api.Subscription](t)(w.V1Subscriptions.Cancel(ctx, sub.ID, &api.SubscriptionCancelParams{InvoiceNow: api.Bool(true)}))
		}, "100", 125},
		"at once": {func(sub *api.Subscription) {
			must[*api.Subscription](t)(w.V1Subscriptions.Cancel(ctx, sub.ID, nil))
		}, "100", 0},
	} {
		sub := w.mixed(licensed, calls)
		w.clock.Set(w.clock.Now().Add(time.Hour))
		w.use(m, sub.Customer.ID, c.used, time.Minute)
		c.end(sub)
		over := w.subscription(sub.ID)
		in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(ctx, over.LatestInvoice.ID, nil))
		if over.Status != "canceled" {
			t.Errorf("%s: the subscription is %s", name, over.Status)
		}
		if first := in.ID == sub.LatestInvoice.ID; first != (c.want == 0) {
			t.Errorf("%s: the last invoice is the first one: %v", name, first)
		} else if !first && (in.Total != c.want || in.Status != "paid" || len(in.Lines.Data) != 1) {
			t.Errorf("%s: %d in %d lines, %s", name, in.Total, len(in.Lines.Data), in.Status)
		}
	}
}
