package mail_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// collector is a sender that fails with the given errors first.
type collector struct {
	mu       sync.Mutex
	failures []error
	got      []mail.Message
	sent     chan mail.Message
}

func (c *collector) Send(_ context.Context, m mail.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, m)
	if len(c.failures) > 0 {
		err := c.failures[0]
		c.failures = c.failures[1:]
		return err
	}
	c.sent <- m
	return nil
}

func TestOutboxSendsAfterCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		queue := jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System()})
		to := &collector{sent: make(chan mail.Message, 10)}
		outbox := mail.NewOutbox(queue, to)
		queue.Handle(mail.JobSend, outbox.HandleSend)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- queue.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}()

		rollback := errors.New("rollback")
		err := db.Tx(ctx, func(ctx context.Context) error {
			if err := outbox.Enqueue(ctx, mail.Message{To: "never@example.test", Text: "t"}); err != nil {
				return err
			}
			return rollback
		})
		if !errors.Is(err, rollback) {
			t.Fatal(err)
		}
		want := mail.Message{To: "ada@example.test", Subject: "s", Text: "t", HTML: "<p>t</p>"}
		if err := db.Tx(ctx, func(ctx context.Context) error { return outbox.Enqueue(ctx, want) }); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-to.sent:
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(mail.Message{}, "ID")); diff != "" || got.ID == "" {
				t.Errorf("sent %+v\n%s", got, diff)
			}
		case <-time.After(time.Minute):
			t.Fatal("no mail was sent")
		}
	})
}

func TestOutboxRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	outbox := mail.NewOutbox(noQueue{}, &collector{})
	err := outbox.Enqueue(t.Context(), mail.Message{To: "ada@example.test\nBcc: eve@example.test", Text: "t"})
	if !errors.Is(err, mail.ErrRefused) {
		t.Error(err)
	}
}

// noQueue discards messages.
type noQueue struct{}

func (noQueue) Enqueue(context.Context, string, any, ...jobs.Option) error { return nil }

// Permanent errors are not retried. Other errors are retried with the same message.
func TestOutboxHandler(t *testing.T) {
	t.Parallel()
	unreachable := errors.New("unreachable")
	to := &collector{failures: []error{unreachable, mail.ErrRefused}, sent: make(chan mail.Message, 1)}
	outbox := mail.NewOutbox(noQueue{}, to)
	payload, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, payload string
		err           error
		fatal         bool
	}{
		{"a server that cannot be reached", string(payload), unreachable, false},
		{"a message that is refused", string(payload), mail.ErrRefused, true},
		{"a message that is taken", string(payload), nil, false},
		{"no message at all", "[", nil, true},
	} {
		err := outbox.HandleSend(t.Context(), jobs.Job{Payload: []byte(tt.payload)})
		if isFatal(err) != tt.fatal || (tt.err != nil && !errors.Is(err, tt.err)) || (tt.err == nil && !tt.fatal && err != nil) {
			t.Errorf("%s: %v, final: %v", tt.name, err, isFatal(err))
		}
	}
	if diff := cmp.Diff([]mail.Message{message, message, message}, to.got); diff != "" {
		t.Error(diff)
	}
}

func isFatal(err error) bool {
	return reflect.TypeOf(err) == reflect.TypeOf(jobs.MarkFatal(mail.ErrRefused))
}

// Mail to an international domain has punycode in its envelope.
func TestOutboxSendsToPunycode(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"rechnung@m\u00fcnchen.example":        "rechnung@xn--mnchen-3ya.example",
		"rechnung@mu\u0308nchen.example":       "rechnung@xn--mnchen-3ya.example",
		"Rechnung@M\u00dcNCHEN.example":        "Rechnung@xn--mnchen-3ya.example",
		"bill@\u4f8b\u3048.\u30c6\u30b9\u30c8": "bill@xn--r8jz45g.xn--zckzah",
		"ada@example.test":                     "ada@example.test",
		"ada@xn--mnchen-3ya.example":           "ada@xn--mnchen-3ya.example",
	} {
		c := &collector{sent: make(chan mail.Message, 1)}
		m := message
		m.To = to
		payload, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := mail.NewOutbox(noQueue{}, c).HandleSend(t.Context(), jobs.Job{Payload: payload}); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		if len(c.got) != 1 || c.got[0].To != want {
			t.Errorf("%s: %+v, want %s", to, c.got, want)
		}
	}
}
