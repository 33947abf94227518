package stripe_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/sandbox/theme"
)

func TestCheckoutPageShowsItsLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		currency      string
		amount        int64
		quantity      int64
		trialDays     int64
		price, total  string
		cardIsAskedOf bool
		button        string
	}{
		{"eur", 123450, 2, 0, "€1,234.50 / month", "€2,469.00", true, "Pay €2,469.00"},
		{"jpy", 1200, 1, 0, "¥1,200 / month", "¥1,200", true, "Pay ¥1,200"},
		{"kwd", 1500, 3, 0, "KWD\u00a01.500 / month", "KWD\u00a04.500", true, "Pay KWD\u00a04.500"},
		{"usd", 900, 1, 14, "$9.00 / month", "$0.00", true, "Start trial"},
		{"usd", 0, 1, 0, "$0.00 / month", "$0.00", false, "Subscribe"},
	} {
		params := w.checkoutParams(w.sold(c.amount, c.currency, "month"), c.quantity)
		if c.trialDays > 0 {
			params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: &c.trialDays}
		}
		if !c.cardIsAskedOf {
			params.PaymentMethodCollection = api.String("if_required")
		}
		session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
		got := w.visit(http.MethodGet, session.ID, nil)
		for _, part := range []string{
			"Starter", c.price, `<td id="total">` + c.total + `</td>`, `<form id="pay" method="post"`,
			">" + c.button + "</button>", `<a id="cancel" href="https://app.example.test/plans">`, `<html lang="en">`,
		} {
			if !strings.Contains(got.body, part) {
				t.Errorf("%s: the page does not have %q:\n%s", c.price, part, got.body)
			}
		}
		for _, part := range []string{`name="card_number"`, `<label for="card_number">`, " required>"} {
			if strings.Contains(got.body, part) != c.cardIsAskedOf {
				t.Errorf("%s: card fields on the page do not match cardIsAskedOf = %v", c.price, c.cardIsAskedOf)
			}
		}
		if trial := strings.Contains(got.body, "Free for 14 days, until 14 February 2026."); trial != (c.trialDays > 0) {
			t.Errorf("%s: page mentions a trial = %v", c.price, trial)
		}
	}
}

func TestCheckoutPageIsSafe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := must[*api.Price](t)(w.V1Prices.Create(t.Context(), &api.PriceCreateParams{
		Currency: api.String("eur"), UnitAmount: api.Int64(100), Recurring: &api.PriceCreateRecurringParams{Interval: api.String("week")},
		ProductData: &api.PriceCreateProductDataParams{Name: api.String(`<img src=x onerror=alert(1)>`)},
	}))
	got := w.visit(http.MethodGet, w.checkout(p, 1).ID, nil)
	if strings.Contains(got.body, "<img") || strings.Contains(got.body, "<script") || strings.Contains(got.body, " style=") {
		t.Errorf("the page lets a name through, or has scripts or inline styles:\n%s", got.body)
	}
	if outside := regexp.MustCompile(`(src="[^/]|href="//|<img|<iframe|url\(|@import)`).FindString(got.body); outside != "" {
		t.Errorf("the page loads something: %s", outside)
	}
	policy := got.header.Get("Content-Security-Policy")
	if policy != theme.Policy("'self' https://app.example.test") {
		t.Errorf("policy %q", policy)
	}
	if got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers: %v", got.header)
	}
}

func TestCheckoutPageOfOtherStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if got := w.visit(method, "cs_test_x", url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusNotFound {
			t.Errorf("%s of an unknown session returns %d", method, got.status)
		}
	}
	session, _ := w.bought(w.sold(1000, "eur", "month"), 1)
	got := w.visit(http.MethodGet, session.ID, nil)
	if got.status != http.StatusOK || !strings.Contains(got.body, "complete") || strings.Contains(got.body, `id="pay"`) ||
		!strings.Contains(got.body, `<a id="continue" href="https://app.example.test/done?session=`+session.ID+`">`) {
		t.Errorf("a complete session shows %d:\n%s", got.status, got.body)
	}
}
