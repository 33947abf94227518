package chaos_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

// TestRefusedSettings sends each invalid value with the form and as JSON.
func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	quiet := w.Send("GET", "/sandbox/stripe/chaos", "").Body.String()
	for _, c := range []struct{ name, form, json, field, says string }{
		{"share above one", "webhooks.drop=1.1", `{"webhooks":{"drop":1.1}}`, "webhooks.drop", "The webhooks.drop must be a share from 0 to 1."},
		{"share below zero", "webhooks.delay=-0.1", `{"webhooks":{"delay":-0.1}}`, "webhooks.delay", "The webhooks.delay must be a share from 0 to 1."},
		{"share is not a number", "api.fail_after=NaN", `{"api":{"fail_after":-1}}`, "api.fail_after", "The api.fail_after must be a share from 0 to 1."},
		{"one copy", "webhooks.copies=1", `{"webhooks":{"copies":1}}`, "webhooks.copies", "The webhooks.copies must be from 2 to 10."},
		{"status of a success", "api.status=200", `{"api":{"status":200}}`, "api.status", "The api.status must be 0 or from 500 to 599."},
		{"negative seed", "seed=-1", `{"seed":-1}`, "seed", "The seed must be from 0 to 9007199254740991."},
		{"more than all calls", "api.fail_before=0.6&api.timeout_after=0.6", `{"api":{"fail_before":0.6,"timeout_after":0.6}}`, "api", "The sum of the shares of calls must not exceed 1."},
	} {
		shown := w.Send("POST", "/sandbox/chaos", c.form)
		if shown.Code != http.StatusUnprocessableEntity || !strings.Contains(shown.Body.String(), c.says) {
			t.Errorf("%s: the form returns %d: %s", c.name, shown.Code, shown.Body)
		}
		told := w.Send("PUT", "/sandbox/stripe/chaos", c.json, "Content-Type", "application/json")
		if told.Code != http.StatusUnprocessableEntity || !strings.Contains(told.Body.String(), `"`+c.field+`":["`+c.says+`"]`) {
			t.Errorf("%s: the control returns %d: %s", c.name, told.Code, told.Body)
		}
	}
	for body, want := range map[string]int{"seed=%zz": 400, "seed=many": 422, "webhooks.drop=often": 422} {
		if got := w.Send("POST", "/sandbox/chaos", body); got.Code != want {
			t.Errorf("%s returns %d, want %d", body, got.Code, want)
		}
	}
	for body, want := range map[string]int{"{": 400, "[]": 422, `{"api":{"colour":1}}`: 422, `{"seed":"x"}`: 422} {
		if got := w.Send("PUT", "/sandbox/stripe/chaos", body, "Content-Type", "application/json"); got.Code != want {
			t.Errorf("%s returns %d, want %d: %s", body, got.Code, want, got.Body)
		}
	}
	if got := w.Send("PUT", "/sandbox/stripe/chaos", "seed=1"); got.Code != http.StatusUnsupportedMediaType {
		t.Errorf("a form sent to the control returns %d", got.Code)
	}
	if after := w.Send("GET", "/sandbox/stripe/chaos", "").Body.String(); after != quiet {
		t.Errorf("rejected request changed the settings: %s", after)
	}
}

func TestReplayRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, func(c *stripe.Config) { c.WebhookURL, c.WebhookSecret = "http://service.example.test", "whsec_test" })
	w.Customer()
	for body, want := range map[string]int{
		`{"times":0}`: 422, `{"times":21}`: 422, `{"share":1.5}`: 422, `{"share":-1}`: 422, `{"seed":-1}`: 422, `{"colour":1}`: 422, `{`: 400,
	} {
		if got := w.Send("POST", "/sandbox/stripe/replay", body, "Content-Type", "application/json"); got.Code != want {
			t.Errorf("%s returns %d, want %d", body, got.Code, want)
		}
	}
	// The server does not run, so the first delivery and the three replayed deliveries stay
	// pending.
	got := w.Send("POST", "/sandbox/stripe/replay", `{"times":3,"shuffle":true}`, "Content-Type", "application/json").Body.String()
	if want := `{"data":{"events":1,"deliveries":3,"pending":4}}`; strings.TrimSpace(got) != want {
		t.Errorf("replayed: %s, want %s", got, want)
	}
	if got := w.Send("POST", "/sandbox/stripe/replay", `{"share":0}`, "Content-Type", "application/json").Body.String(); !strings.Contains(got, `"deliveries":0`) {
		t.Errorf("share of 0: %s", got)
	}
	alone := stripetest.New(t)
	if got := alone.Send("POST", "/sandbox/stripe/replay", `{}`, "Content-Type", "application/json"); got.Code != http.StatusConflict {
		t.Errorf("without a receiver: status %d", got.Code)
	}
}
