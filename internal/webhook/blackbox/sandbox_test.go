package blackbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The sandbox has a built-in receiver that verifies signatures and responds as configured.
func TestTheSandboxReceives(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		messages := func() apptest.Reply { return s.Call("GET", "/sandbox/hooks/messages", "", nil).Want(200) }
		messages().WantAt("data", []any{})
		path, _ := endpoint(s, ada, s.URL+"/sandbox/hooks/in/ada", "webhook.test")
		test := func() string { return s.Call("POST", path+"/test", ada.Token, nil).Want(202).Str("data.event_id") }
		id := test()
		apptest.Eventually(t, "the message", func() bool { return messages().At("data.0") != nil })
		got := messages()
		got.WantAt("data.0.headers.webhook-id", id).WantAt("data.0.signature_valid", true).WantAt("data.0.body.type", "webhook.test")
		if got.Str("data.0.id") == "" || got.TimeAt("data.0.received_at").IsZero() || got.Str("data.0.headers.webhook-timestamp") == "" {
			t.Errorf("%s", got.Text)
		}
		if page := s.Call("GET", "/sandbox/hooks", "", nil).Want(200); !strings.Contains(page.Text, id) {
			t.Errorf("%s", page.Text)
		}
		awaitStatus(s, ada.Token, path, "delivered", 1)
		// Anyone can post a message; it is marked as unsigned. The newest message is first.
		s.Call("POST", "/sandbox/hooks/in/ada", "", apptest.Object{"type": "forged"}).Want(200)
		s.Call("POST", "/sandbox/hooks/in/else", "", "no JSON").Want(200)
		messages().WantAt("data.0.body", "no JSON").WantAt("data.1.signature_valid", false).WantAt("data.1.body.type", "forged").WantAt("data.2.headers.webhook-id", id)
		for _, status := range []int{500, 302, 410} {
			s.Call("POST", "/sandbox/hooks/in/ada/answer", "", apptest.Object{"status": status, "delay_ms": 1}).Want(200).WantAt("data.status", float64(status))
			test()
			want := map[bool]string{true: "failed", false: "pending"}[status == http.StatusGone]
			awaitStatus(s, ada.Token, path, want, 1).WantAt("data.0.attempts.0.status_code", float64(status))
		}
		s.Call("POST", "/sandbox/hooks/in/else", "", apptest.Object{}).Want(200) // each name has its own setting
		for what, body := range map[string]any{
			"an unknown status": apptest.Object{"status": 99}, "another": apptest.Object{"status": 600}, "a text": apptest.Object{"status": "200"},
			"a delay before now": apptest.Object{"delay_ms": -1}, "a long delay": apptest.Object{"delay_ms": 60_001}, "no JSON": "x",
		} {
			s.Call("POST", "/sandbox/hooks/in/ada/answer", "", body).As(what).Want(422)
		}
		s.Call("POST", "/sandbox/hooks/in/ada", "", strings.Repeat("x", 1<<20+1)).Want(413)
	})
}
