package inbox

import (
	"strings"
	"testing"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/tenantry/tenantry/internal/clock"
)

// FuzzNotification checks that no body or signature makes the receiver panic, that unsigned
// notifications are rejected, and that a signed notification yields either an event with its IDs or
// an error.
func FuzzNotification(f *testing.F) {
	const secret = "whsec_of_a_test"
	whole := `{"id":"evt_1","object":"event","type":"invoice.paid","livemode":false,"api_version":"2026-05-27.dahlia","data":{"object":{"id":"in_1"}}}`
	thin := `{"id":"evt_2","object":"v2.core.event","type":"v1.billing.meter.error_report_triggered","livemode":true,"related_object":{"id":"mtr_1"}}`
	for _, body := range []string{whole, thin, `{}`, `[]`, `null`, `{"object":"v2.core.event","id":1}`, `{"id":"evt_3","object":"event","data":null}`, "\xff", strings.Repeat(`{"data":`, 100)} {
		f.Add([]byte(body), "t=1,v1=00")
		f.Add([]byte(body), "t=9999999999999999999,v1=")
	}
	f.Add([]byte(whole), "v1=0,v1=1,t=,t=-1,x")
	f.Fuzz(func(t *testing.T, body []byte, signature string) {
		if _, _, err := readSigned(body, signature, secret); err == nil {
			t.Fatalf("%q signs %q", signature, body)
		}
		_ = isFromFuture(signature)
		signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: clock.System().Now()})
		e, _, err := readSigned(body, signed.Header, secret)
		if err == nil && (e.ID == "" && e.Type != "" && strings.HasPrefix(e.Type, "v2.")) {
			t.Fatalf("%q is %+v", body, e)
		}
		if thinned, _, ok := thinEvent(body); ok && (thinned.ID == "" || thinned.Type == "" || thinned.ObjectID == "") {
			t.Fatalf("%q is %+v", body, thinned)
		}
	})
}
