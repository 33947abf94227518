package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/sandbox/clock"
)

// receiver returns a WebhookReceiver with the given signing secrets.
func receiver(secrets ...string) *WebhookReceiver {
	return &WebhookReceiver{Clock: clock.System(), Secrets: func(context.Context, string) ([]string, error) { return secrets, nil }}
}

// ask sends a request to a receiver. header alternates names and values.
func ask(t *testing.T, r *WebhookReceiver, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	got := httptest.NewRecorder()
	r.Handler().ServeHTTP(got, req)
	return got
}

// The signature of the example in the Standard Webhooks specification is valid, and modified
// versions of the example are invalid.
func TestSigned(t *testing.T) {
	t.Parallel()
	const (
		secret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		id        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
		at        = "1614265330"
		body      = `{"test": 2432232314}`
		signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	)
	for name, tt := range map[string]struct {
		secrets           []string
		id, at, sig, body string
		want              bool
	}{
		"right":              {[]string{secret}, id, at, signature, body, true},
		"one of several":     {[]string{"whsec_AAAA", secret}, id, at, "v1,AAAA " + signature, body, true},
		"nobody's":           {nil, id, at, signature, body, false},
		"another secret":     {[]string{"whsec_AAAA"}, id, at, signature, body, false},
		"a broken secret":    {[]string{"whsec_?"}, id, at, signature, body, false},
		"another id":         {[]string{secret}, "msg_2", at, signature, body, false},
		"another time":       {[]string{secret}, id, "1614265331", signature, body, false},
		"another body":       {[]string{secret}, id, at, signature, body + " ", false},
		"another version":    {[]string{secret}, id, at, strings.Replace(signature, "v1", "v2", 1), body, false},
		"without a version":  {[]string{secret}, id, at, signature[3:], body, false},
		"without signatures": {[]string{secret}, id, at, "", body, false},
	} {
		r := receiver(tt.secrets...)
		got := ask(t, r, "POST", "/sandbox/hooks/in/x", tt.body, "webhook-id", tt.id, "webhook-timestamp", tt.at, "webhook-signature", tt.sig)
		if all := r.latestMessages(9); got.Code != http.StatusOK || len(all) != 1 || all[0].SignatureValid != tt.want || all[0].Headers["webhook-id"] != tt.id {
			t.Errorf("%s: %d %+v", name, got.Code, all)
		}
	}
}

// The number and total size of stored messages are limited. The oldest messages are dropped.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	many := receiver()
	for i := range maxMessages + 5 {
		ask(t, many, "POST", "/sandbox/hooks/in/x", fmt.Sprint(i))
	}
	if all := many.latestMessages(2 * maxMessages); len(all) != maxMessages || string(all[0].Body) != fmt.Sprint(maxMessages+4) || string(all[maxMessages-1].Body) != "5" {
		t.Errorf("%d messages", len(all))
	}
	large := receiver()
	body := `"` + strings.Repeat("x", maxMessage-2) + `"`
	for range maxKept/maxMessage + 3 {
		ask(t, large, "POST", "/sandbox/hooks/in/x", body)
	}
	if all := large.latestMessages(maxMessages); len(all) != maxKept/maxMessage || large.size != maxKept {
		t.Errorf("%d large messages of %d bytes", len(all), large.size)
	}
	for i := range maxNames + 1 {
		ask(t, many, "POST", fmt.Sprintf("/sandbox/hooks/in/%d/answer", i), `{"status": 500}`)
	}
	if len(many.answers) > maxNames {
		t.Errorf("%d answers", len(many.answers))
	}
}

// Responses are configured by name, and the page escapes text.
func TestAnswers(t *testing.T) {
	t.Parallel()
	r := receiver()
	for _, status := range []int{200, 204, 400, 410, 500, 599} {
		if got := ask(t, r, "POST", "/sandbox/hooks/in/a/answer", fmt.Sprintf(`{"status": %d}`, status)); got.Code != http.StatusOK {
			t.Errorf("%d is refused: %s", status, got.Body)
		}
		if got := ask(t, r, "POST", "/sandbox/hooks/in/a", "<script>"); got.Code != status {
			t.Errorf("status = %d, want %d", got.Code, status)
		}
		if got := ask(t, r, "POST", "/sandbox/hooks/in/b", "{}"); got.Code != http.StatusOK {
			t.Errorf("another endpoint returns %d", got.Code)
		}
	}
	ask(t, r, "POST", "/sandbox/hooks/in/a/answer", `{"status": 307}`)
	if got := ask(t, r, "POST", "/sandbox/hooks/in/a", "{}"); got.Code != 307 || got.Header().Get("Location") != "/sandbox/hooks/in/a-redirected" {
		t.Errorf("%d to %q", got.Code, got.Header().Get("Location"))
	}
	page := ask(t, r, "GET", "/sandbox/hooks", "").Body.String()
	if strings.Contains(page, "<script>") || !strings.Contains(page, "not valid<") {
		t.Error(page)
	}
	r.Secrets = func(context.Context, string) ([]string, error) { return nil, errors.New("down") }
	if got := ask(t, r, "POST", "/sandbox/hooks/in/b", "{}"); got.Code != http.StatusInternalServerError {
		t.Errorf("without secrets: status %d", got.Code)
	}
}
