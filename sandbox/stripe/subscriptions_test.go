package stripe_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

func decode[T any](t *testing.T, body string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

func TestCancelAtPeriodEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	ending := must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{
		CancelAtPeriodEnd: api.Bool(true), Metadata: map[string]string{"a": "b"},
		CancellationDetails: &api.SubscriptionUpdateCancellationDetailsParams{Comment: api.String("too dear"), Feedback: api.String("too_expensive")},
	}))
	if !ending.CancelAtPeriodEnd || ending.Status != "active" || ending.CancelAt != sub.Items.Data[0].CurrentPeriodEnd ||
		ending.CanceledAt != start.Unix() || ending.CancellationDetails.Reason != "cancellation_requested" || ending.CancellationDetails.Comment != "too dear" {
		t.Errorf("ending: %+v", ending)
	}
	resumed := must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(false)}))
	if resumed.CancelAtPeriodEnd || resumed.CancelAt != 0 || resumed.CanceledAt != 0 || resumed.Metadata["a"] != "b" {
		t.Errorf("resumed: %+v", resumed)
	}
	list := w.V1Events.List(ctx, &api.EventListParams{Type: api.String("customer.subscription.updated")})
	for e, err := range list.All(ctx) {
		if err != nil || e.GetPreviousValue("cancel_at_period_end") == "" || e.Request.ID == "" || e.Request.IdempotencyKey == "" {
			t.Errorf("event: %+v, %v", e, err)
		}
	}
}

func TestCancelAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, sub := w.bought(w.sold(1000, "eur", "month"), 1)
	gone := must[*api.Subscription](t)(w.V1Subscriptions.Cancel(ctx, sub.ID, &api.SubscriptionCancelParams{
		InvoiceNow: api.Bool(true), Prorate: api.Bool(false),
		CancellationDetails: &api.SubscriptionCancelCancellationDetailsParams{Comment: api.String("bye")},
	}))
	if gone.Status != "canceled" || gone.EndedAt != start.Unix() || gone.CanceledAt != start.Unix() || gone.CancellationDetails.Comment != "bye" {
		t.Errorf("canceled: %+v", gone)
	}
	_, err := w.V1Subscriptions.Cancel(ctx, sub.ID, nil)
	refused(t, err, http.StatusNotFound, "resource_missing", "id")
	_, err = w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{CancelAtPeriodEnd: api.Bool(true)})
	refused(t, err, http.StatusBadRequest, "", "")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(ctx, sub.ID, &api.SubscriptionUpdateParams{Metadata: map[string]string{"a": "b"}}))
}

func TestListsOfSubscriptionsAndInvoices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	p := w.sold(1000, "eur", "month")
	session, kept := w.bought(p, 1)
	_, ended := w.bought(w.sold(2000, "eur", "month"), 1)
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(ctx, ended.ID, nil))
	for name, c := range map[string]struct {
		filter api.SubscriptionListParams
		want   []string
	}{
		"not canceled": {api.SubscriptionListParams{}, []string{kept.ID}},
		"all":          {api.SubscriptionListParams{Status: api.String("all")}, []string{ended.ID, kept.ID}},
		"ended":        {api.SubscriptionListParams{Status: api.String("ended")}, []string{ended.ID}},
		"active":       {api.SubscriptionListParams{Status: api.String("active")}, []string{kept.ID}},
		"trialing":     {api.SubscriptionListParams{Status: api.String("trialing")}, nil},
		"price":        {api.SubscriptionListParams{Price: &p.ID}, []string{kept.ID}},
		"customer":     {api.SubscriptionListParams{Customer: &ended.Customer.ID, Status: api.String("all")}, []string{ended.ID}},
	} {
		var got []string
		for s, err := range w.V1Subscriptions.List(ctx, &c.filter).All(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, s.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for name, filter := range map[string]*api.InvoiceListParams{
		"customer":     {Customer: &session.Customer.ID},
		"subscription": {Subscription: &kept.ID, Status: api.String("paid")},
	} {
		n := 0
		for in, err := range w.V1Invoices.List(ctx, filter).All(ctx) {
			if n++; err != nil || in.ID != session.Invoice.ID {
				t.Errorf("%s lists %+v (%v)", name, in, err)
			}
		}
		if n != 1 {
			t.Errorf("%s lists %d invoices", name, n)
		}
	}
	for _, lines := range []string{"/v1/invoices/" + session.Invoice.ID + "/lines", "/v1/checkout/sessions/" + session.ID + "/line_items"} {
		res, body := w.call("GET", lines, "", nil)
		if err := checkAnswer("GET", lines, res.StatusCode, []byte(body)); err != nil {
			t.Error(err)
		}
		if got := decode[struct{ Data []struct{ Quantity int } }](t, body); len(got.Data) != 1 || got.Data[0].Quantity != 1 {
			t.Errorf("%s: %s", lines, body)
		}
	}
	for s, err := range w.V1CheckoutSessions.List(ctx, &api.CheckoutSessionListParams{Subscription: &kept.ID, Status: api.String("complete")}).All(ctx) {
		if err != nil || s.ID != session.ID {
			t.Errorf("sessions: %+v, %v", s, err)
		}
	}
}

func TestInvoicePDF(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session, _ := w.bought(w.sold(1050, "eur", "month"), 2)
	in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(t.Context(), session.Invoice.ID, nil))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, in.InvoicePDF, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	pdf, err := io.ReadAll(res.Body)
	if err != nil || res.Header.Get("Content-Type") != "application/pdf" || !strings.HasPrefix(string(pdf), "%PDF-1.4") {
		t.Errorf("answered %d %s (%v)", res.StatusCode, res.Header, err)
	}
	for _, part := range []string{in.Number, "Ada Lovelace", "Total: 21.00 EUR", "2 \xd7 Starter \\(at 10.50 EUR / month\\)"} {
		if !strings.Contains(string(pdf), part) {
			t.Errorf("%q is not in the PDF", part)
		}
	}
	if res, _ := w.call("GET", "/invoices/in_x/pdf", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown invoice returns %d", res.StatusCode)
	}
}

func TestEverythingSurvivesARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	p := w.sold(1000, "eur", "month")
	session, sub := w.bought(p, 1)
	open := w.checkout(p, 1)
	happened := w.eventTypes()
	w.restart()
	if diff := cmp.Diff(happened, w.eventTypes()); diff != "" {
		t.Errorf("events (-before +after):\n%s", diff)
	}
	if got := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, sub.ID, nil)); got.Status != "active" {
		t.Errorf("subscription is %s", got.Status)
	}
	if got := w.pay(session.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Errorf("the paid session returns %d", got.status)
	}
	if got := w.pay(open.ID, "4242424242424242"); got.status != http.StatusSeeOther {
		t.Errorf("the open session returns %d", got.status)
	}
}
