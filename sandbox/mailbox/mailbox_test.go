package mailbox_test

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/mailbox"
	"github.com/tenantry/tenantry/sandbox/theme"

	_ "modernc.org/sqlite" // the driver
)

func open(t *testing.T) (*mailbox.Mailbox, *sql.DB, *testkit.Clock) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "sandbox.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	now := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 120_000_000, time.UTC))
	b, err := mailbox.New(t.Context(), db, now)
	if err != nil {
		t.Fatal(err)
	}
	return b, db, now
}

func send(t *testing.T, b *mailbox.Mailbox, m mailbox.Message) {
	t.Helper()
	if err := b.Deliver(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, b *mailbox.Mailbox, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	b.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestMessagesAsJSON(t *testing.T) {
	t.Parallel()
	b, _, now := open(t)
	if w := get(t, b, "/sandbox/mail/messages"); strings.TrimSpace(w.Body.String()) != `{"data":[]}` {
		t.Errorf("an empty mailbox: %s", w.Body)
	}
	send(t, b, mailbox.Message{ID: "1", To: "ada@example.test", Subject: "One", Text: "a & b"})
	now.Set(now.Now().Add(time.Hour))
	send(t, b, mailbox.Message{ID: "2", To: "bob@example.test", Subject: "Two", Text: "t", HTML: "<p>t</p>"})
	w := get(t, b, "/sandbox/mail/messages")
	want := `{"data":[` +
		`{"id":"2","to":"bob@example.test","subject":"Two","text":"t","html":"<p>t</p>","sent_at":"2026-03-01T13:00:00.120000Z","attachments":[]},` +
		`{"id":"1","to":"ada@example.test","subject":"One","text":"a & b","html":"","sent_at":"2026-03-01T12:00:00.120000Z","attachments":[]}]}`
	if diff := cmp.Diff(want, strings.TrimSpace(w.Body.String())); diff != "" {
		t.Error(diff)
	}
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestMessageSentTwiceIsStoredOnce(t *testing.T) {
	t.Parallel()
	b, _, _ := open(t)
	for range 2 {
		send(t, b, mailbox.Message{ID: "1", To: "ada@example.test", Text: "t"})
		send(t, b, mailbox.Message{To: "ada@example.test", Text: "without an id"})
	}
	got, err := b.Messages(t.Context(), 10)
	if err != nil || len(got) != 3 {
		t.Errorf("%d messages, %v", len(got), err)
	}
}

func TestTheMailboxSurvivesARestart(t *testing.T) {
	t.Parallel()
	b, db, now := open(t)
	send(t, b, mailbox.Message{ID: "1", To: "ada@example.test", Text: "t"})
	again, err := mailbox.New(t.Context(), db, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Messages(t.Context(), 10); err != nil || len(got) != 1 || got[0].ID != "1" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOldMessagesAreDeleted(t *testing.T) {
	t.Parallel()
	b, db, _ := open(t)
	if _, err := db.ExecContext(t.Context(), `
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
		INSERT INTO mailbox_messages (id, recipient, subject, text, html, sent_at) SELECT 'old-' || i, 'a@b.test', '', 't', '', i FROM n`); err != nil {
		t.Fatal(err)
	}
	send(t, b, mailbox.Message{ID: "new", To: "ada@example.test", Text: "t"})
	var kept int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM mailbox_messages`).Scan(&kept); err != nil || kept != mailbox.MaxMessages {
		t.Errorf("%d messages are kept, %v", kept, err)
	}
	w := get(t, b, "/sandbox/mail/messages")
	var got struct{ Data []struct{ ID string } }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if n := len(got.Data); n != 1000 || got.Data[0].ID != "new" || got.Data[1].ID != "old-1000" || got.Data[999].ID != "old-2" {
		t.Errorf("%d messages are kept, from %v to %v", n, got.Data[0], got.Data[n-1])
	}
	if page := get(t, b, "/sandbox/mail").Body.String(); strings.Count(page, "<li><a href=\"/sandbox/mail/") != 100 || !strings.Contains(page, "Older mail is not shown here.") {
		t.Error("the page does not show exactly the newest hundred messages")
	}
}

func TestPage(t *testing.T) {
	t.Parallel()
	b, _, _ := open(t)
	if page := get(t, b, "/sandbox/mail").Body.String(); !strings.Contains(page, "No mail has been sent yet.") {
		t.Error(page)
	}
	const body = `<html><head></head><p style="color: red">Hi & "bye"</p><script>alert(1)</script></html>`
	send(t, b, mailbox.Message{
		ID: "first-1", To: "ada@example.test", Subject: "<script>alert(1)</script>", HTML: body,
		Text: "Follow http://app.test/reset?token=a&email=b%40c. Or (https://app.test/x), not javascript:alert(1) <b>.",
	})
	send(t, b, mailbox.Message{ID: "2", To: "bob@example.test", Subject: "No pictures", Text: "See http://app.test/y"})
	w := get(t, b, "/sandbox/mail/first-1")
	page := w.Body.String()
	for _, want := range []string{
		`<h2>&lt;script&gt;alert(1)&lt;/script&gt;</h2>`,
		`Follow <a href="http://app.test/reset?token=a&amp;email=b%40c" rel="noreferrer">http://app.test/reset?token=a&amp;email=b%40c</a>. Or (<a href="https://app.test/x" rel="noreferrer">https://app.test/x</a>), not javascript:alert(1) &lt;b&gt;.`,
		`<time datetime="2026-03-01T12:00:00Z">1 March 2026, 12:00:00 UTC</time>`,
		`To ada@example.test`, `<a href="/sandbox/mail/first-1" aria-current="true">`, `<b>No pictures</b>`,
		`<iframe src="/sandbox/mail/first-1/html" sandbox="allow-popups allow-popups-to-escape-sandbox"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page does not contain %s\n%s", want, page)
		}
	}
	if got := w.Header().Get("Content-Security-Policy"); got != theme.Policy("'none'") {
		t.Errorf("policy %q", got)
	}
	framed := get(t, b, "/sandbox/mail/first-1/html")
	policy := framed.Header().Get("Content-Security-Policy")
	if got := framed.Body.String(); got != strings.Replace(body, "<head>", `<head><base target="_blank">`, 1) || strings.Contains(policy, "script") ||
		!strings.Contains(policy, "sandbox allow-popups") || !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("framed: %s, policy %q", got, policy)
	}
	if page := get(t, b, "/sandbox/mail").Body.String(); !strings.Contains(page, `See <a href="http://app.test/y"`) || strings.Contains(page, "<iframe") {
		t.Errorf("the newest is not shown: %s", page)
	}
	for _, path := range []string{"/sandbox/mail/none", "/sandbox/mail/none/html"} {
		if w := get(t, b, path); w.Code != http.StatusNotFound {
			t.Errorf("%s returns %d", path, w.Code)
		}
	}
}

func TestFailuresAreShown(t *testing.T) {
	t.Parallel()
	b, db, _ := open(t)
	_ = db.Close()
	for _, path := range []string{"/sandbox/mail", "/sandbox/mail/messages", "/sandbox/mail/1", "/sandbox/mail/1/html"} {
		if w := get(t, b, path); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"message":"mailbox: `) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if err := b.Deliver(t.Context(), mailbox.Message{To: "ada@example.test", Text: "t"}); err == nil {
		t.Error(err)
	}
	if _, err := mailbox.New(t.Context(), db, clock.System()); err == nil {
		t.Error("a mailbox opened on a closed database")
	}
}

// Attachments are listed without their content.
func TestAttachments(t *testing.T) {
	t.Parallel()
	b, _, _ := open(t)
	send(t, b, mailbox.Message{To: "ada@example.test", Subject: "plain", Text: "t"})
	send(t, b, mailbox.Message{To: "ada@example.test", Subject: "invoice", Text: "t", Attachments: []mailbox.Attachment{{Name: "invoice-1.pdf", ContentType: "application/pdf", Size: 3}}})
	body := get(t, b, "/sandbox/mail/messages").Body.String()
	for _, want := range []string{`"attachments":[]`, `"attachments":[{"name":"invoice-1.pdf","content_type":"application/pdf","size":3}]`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}
