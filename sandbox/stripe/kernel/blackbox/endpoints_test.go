package blackbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

// TestEndpointsAreManaged creates, changes and deletes webhook endpoints.
func TestEndpointsAreManaged(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	we := w.Post("/v1/webhook_endpoints", "url=https%3A%2F%2Fapp.example.test%2Fhooks&enabled_events[]=invoice.paid&enabled_events[]=customer.created&description=mine&metadata[a]=1")
	we.CheckValues(t, "created", "object", "webhook_endpoint", "status", "enabled", "url", "https://app.example.test/hooks",
		"enabled_events", `["invoice.paid","customer.created"]`, "description", "mine", "metadata.a", "1", "api_version", "null")
	if secret := we.At("secret"); !strings.HasPrefix(secret, "whsec_") || len(secret) < 38 {
		t.Errorf("the secret is %s", secret)
	}
	path := "/v1/webhook_endpoints/" + we.At("id")
	w.Get(path).CheckValues(t, "shown once", "secret", "null", "url", "https://app.example.test/hooks")
	w.Post(path, "disabled=true&enabled_events[]=*").CheckValues(t, "disabled", "status", "disabled", "enabled_events", `["*"]`, "secret", "null")
	w.Post(path, "description=").CheckValues(t, "left disabled", "status", "disabled", "description", "null")
	w.Post(path, "disabled=false").CheckValues(t, "enabled", "status", "enabled")
	w.CheckRefused(
		stripetest.Refusal{Name: "no url", Method: "POST", Path: "/v1/webhook_endpoints", Body: "enabled_events[]=*", Code: "parameter_missing", Param: "url"},
		stripetest.Refusal{Name: "no events", Method: "POST", Path: "/v1/webhook_endpoints", Body: "url=https%3A%2F%2Fa.test", Code: "parameter_missing", Param: "enabled_events"},
		stripetest.Refusal{Name: "a bad url", Method: "POST", Path: "/v1/webhook_endpoints", Body: "url=a&enabled_events[]=*", Code: "url_invalid", Param: "url"},
		stripetest.Refusal{Name: "url removed", Method: "POST", Path: path, Body: "url=", Code: "parameter_invalid_empty", Param: "url"},
		stripetest.Refusal{Name: "events removed", Method: "POST", Path: path, Body: "enabled_events=", Code: "parameter_invalid_empty", Param: "enabled_events"},
		stripetest.Refusal{Name: "a pattern", Method: "POST", Path: path, Body: "enabled_events[]=invoice.*", Param: "enabled_events"},
		stripetest.Refusal{Name: "another version", Method: "POST", Path: "/v1/webhook_endpoints", Body: "url=https%3A%2F%2Fa.test&enabled_events[]=*&api_version=2020-08-27", Param: "api_version"},
		stripetest.Refusal{Name: "of nobody", Method: "POST", Path: "/v1/webhook_endpoints/we_x", Body: "disabled=true", Status: 404, Code: "resource_missing", Param: "id"},
	)
	w.Delete(path).CheckValues(t, "deleted", "deleted", "true", "object", "webhook_endpoint")
	w.CheckRefused(stripetest.Refusal{Name: "deleted", Method: "GET", Path: path, Status: 404, Code: "resource_missing", Param: "id"})
	for range 16 {
		w.Post("/v1/webhook_endpoints", "url=https%3A%2F%2Fa.test&enabled_events[]=*")
	}
	w.CheckRefused(stripetest.Refusal{Name: "a seventeenth", Method: "POST", Path: "/v1/webhook_endpoints", Body: "url=https%3A%2F%2Fa.test&enabled_events[]=*"})
}

// TestEndpointsReceiveTheirEventTypes sends events to the configured endpoint, which receives all
// types, and to an endpoint that is subscribed to one type.
func TestEndpointsReceiveTheirEventTypes(t *testing.T) {
	t.Parallel()
	w, r := receiving(t)
	if diff := cmp.Diff([]string{"we_sandbox"}, w.IDs("/v1/webhook_endpoints")); diff != "" {
		t.Errorf("configured: %s", diff)
	}
	mine := w.Post("/v1/webhook_endpoints", "url=http%3A%2F%2Fmine.example.test%2F&enabled_events[]=customer.created")
	for range 10 {
		r.answers <- http.StatusOK
	}
	w.Post("/v1/products", "name=Starter")
	if got := r.next(t); got.url != "http://service.example.test/hooks" || !strings.Contains(got.body, "product.created") {
		t.Errorf("product event was sent to %s", got.url)
	}
	deliveries(t, w, "0 left, tried 0")
	w.Customer()
	got := []sent{r.next(t), r.next(t)}
	deliveries(t, w, "0 left, tried 0")
	slices.SortFunc(got, func(a, b sent) int { return strings.Compare(a.url, b.url) })
	for i, c := range []struct{ url, secret string }{{"http://mine.example.test/", mine.At("secret")}, {"http://service.example.test/hooks", secret}} {
		stamp := fmt.Sprint(w.Real.Now().Unix())
		mac := hmac.New(sha256.New, []byte(c.secret))
		mac.Write([]byte(stamp + "." + got[i].body))
		if got[i].url != c.url || got[i].header.Get("Stripe-Signature") != "t="+stamp+",v1="+hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("sent to %s signed %s", got[i].url, got[i].header.Get("Stripe-Signature"))
		}
	}
	// pending_webhooks is the number of endpoints that have not accepted the event.
	if id := `"id":"evt_`; strings.Count(got[0].body+got[1].body, id) != 2 || !strings.Contains(got[0].body+got[1].body, `"pending_webhooks":2`) {
		t.Errorf("the bodies: %s, %s", got[0].body, got[1].body)
	}
	if n := len(w.IDs("/v1/events?delivery_success=true")); n != 2 {
		t.Errorf("%d events are delivered", n)
	}
	w.Delete("/v1/webhook_endpoints/" + mine.At("id"))
	w.Post("/v1/webhook_endpoints/we_sandbox", "disabled=true")
	w.Customer()
	deliveries(t, w, "0 left, tried 0")
	if len(r.sent) > 0 {
		t.Error("event was sent to a disabled endpoint")
	}
}

// TestUndeliveredEventsAreFound lists events by their delivery status.
func TestUndeliveredEventsAreFound(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t, func(c *stripe.Config) { c.WebhookURL, c.WebhookSecret = "http://service.example.test", secret })
	w.Customer()
	if missed, delivered := w.IDs("/v1/events?delivery_success=false"), w.IDs("/v1/events?delivery_success=true"); len(missed) != 1 || len(delivered) != 0 {
		t.Errorf("missed %v, delivered %v", missed, delivered)
	}
}
