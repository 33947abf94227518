package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/sandbox/mailbox"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// The bar contains the time, the next scheduled actions, the newest mails and events, and the demo
// accounts.
func TestBar(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Show(Access{
		Coming: func(context.Context, int) ([]theme.ScheduledAction, error) {
			return []theme.ScheduledAction{{Kind: "subscription.period_ends", What: "Billing period ends", About: "Acme", Href: "/sandbox/dashboard/subscriptions/sub_1", At: start.Add(time.Hour)}}, nil
		},
		LastEvents: func(context.Context, int) ([]theme.Event, error) {
			return []theme.Event{{ID: "evt_1", Type: "invoice.paid", At: start, Waiting: 1}}, nil
		},
	})
	for _, id := range []string{"1", "2"} {
		if err := w.Mailbox().Deliver(t.Context(), mailbox.Message{ID: id, To: "ada@example.test", Subject: "Hello " + id, Text: "Hello", HTML: "<p>Hello"}); err != nil {
			t.Fatal(err)
		}
	}
	rec := request(w, "GET", "/sandbox/bar", "")
	var got struct{ Data bar }
	if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code != http.StatusOK {
		t.Fatal(rec.Code, err)
	}
	const now = "2026-03-01T12:00:00.000000Z"
	want := bar{
		Now:    now,
		Coming: []barComing{{"2026-03-01T13:00:00.000000Z", "subscription.period_ends", "Billing period ends", "Acme", "/sandbox/dashboard/subscriptions/sub_1"}},
		Mails:  barMails{2, []barMail{{"2", "ada@example.test", "Hello 2", now}, {"1", "ada@example.test", "Hello 1", now}}},
		Events: []barEvent{{"evt_1", "invoice.paid", now, 1}},
		Accounts: []barAccount{
			{"platform_admin", "admin@tenantry.test", "sandbox-admin"}, {"owner", "owner@acme.test", "sandbox-owner"},
		},
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		t.Error(diff)
	}
	w.Show(Access{Coming: func(context.Context, int) ([]theme.ScheduledAction, error) { return nil, io.ErrUnexpectedEOF }})
	if rec := request(w, "GET", "/sandbox/bar", ""); rec.Code != http.StatusInternalServerError {
		t.Error(rec.Code)
	}
}
