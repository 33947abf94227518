package sandbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/mailbox"
	"github.com/tenantry/tenantry/sandbox/theme"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func openAt(t *testing.T, path string) *World {
	t.Helper()
	w, err := open(t.Context(), path, testkit.NewClock(start))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func world(t *testing.T) *World {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data", "sandbox.db"))
}

var provider = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, "provider "+r.URL.Path)
})

// request sends a request. The body is JSON unless headers change the content type.
func request(w *World, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		switch {
		case headers[i] == "Host":
			r.Host = headers[i+1]
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	rec := httptest.NewRecorder()
	w.Handler(provider, http.NotFoundHandler(), "dev.example.test", "proxy.example.test:8443").ServeHTTP(rec, r)
	return rec
}

func TestShowClock(t *testing.T) {
	t.Parallel()
	rec := request(world(t), "GET", "/sandbox/clock", "")
	want := `{"data":{"now":"2026-03-01T12:00:00.000000Z"}}`
	if got := strings.TrimSpace(rec.Body.String()); rec.Code != http.StatusOK || got != want {
		t.Errorf("%d %s", rec.Code, got)
	}
}

func TestMoveClock(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"advance": "720h"}`:                           "2026-03-31T12:00:00.000000Z",
		`{"advance": "1h30m0.5s", "to": null}`:          "2026-03-01T13:30:00.500000Z",
		`{"to": "2026-03-01T12:00:00.000001Z"}`:         "2026-03-01T12:00:00.000001Z",
		`{"to": "2027-01-01T01:00:00+01:00", "else":1}`: "2027-01-01T00:00:00.000000Z",
	} {
		w := world(t)
		rec := request(w, "POST", "/sandbox/clock", body)
		if got := strings.TrimSpace(rec.Body.String()); rec.Code != http.StatusOK || got != `{"data":{"now":"`+want+`"}}` {
			t.Errorf("%s: %d %s", body, rec.Code, got)
		}
		if got := w.Clock().Now().Format(timeLayout); got != want {
			t.Errorf("%s: the clock shows %s", body, got)
		}
	}
}

func TestMovesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := world(t)
	const (
		either  = `{"message":"Specify either “advance” or “to”.","errors":{"advance":["Specify either “advance” or “to”."],"to":["Specify either “advance” or “to”."]}}`
		advance = `{"message":"“advance” must be in the future: time only moves forward.","errors":{"advance":["“advance” must be in the future: time only moves forward."]}}`
		to      = `{"message":"“to” must be in the future: time only moves forward.","errors":{"to":["“to” must be in the future: time only moves forward."]}}`
		length  = `{"message":"“advance” must be a duration such as 720h or 90m.","errors":{"advance":["“advance” must be a duration such as 720h or 90m."]}}`
		moment  = `{"message":"“to” must be a time such as 2026-01-31T08:15:30Z.","errors":{"to":["“to” must be a time such as 2026-01-31T08:15:30Z."]}}`
		far     = `{"message":"“to” is too far in the future.","errors":{"to":["“to” is too far in the future."]}}`
	)
	for body, want := range map[string]struct {
		status int
		body   string
	}{
		`{}`:   {422, either},
		`null`: {422, either},
		`{"advance":"1h","to":"2030-01-01T00:00:00Z"}`: {422, either},
		`{"advance":"0s"}`:                       {422, advance},
		`{"advance":"-1h"}`:                      {422, advance},
		`{"advance":""}`:                         {422, length},
		`{"advance":"a month"}`:                  {422, length},
		`{"advance":"99999999999h"}`:             {422, length},
		`{"to":"2026-03-01T12:00:00Z"}`:          {422, to},
		`{"to":"2026-02-28T12:00:00Z"}`:          {422, to},
		`{"to":"2026-03-02"}`:                    {422, moment},
		`{"to":"9999-01-01T00:00:00Z"}`:          {422, far},
		`{"advance":1}`:                          {422, `{"message":"The advance has the wrong type.","errors":{"advance":["The advance has the wrong type."]}}`},
		`[]`:                                     {422, `{"message":"The body has the wrong type.","errors":{"body":["The body has the wrong type."]}}`},
		`{"advance":`:                            {400, `{"message":"The body is not JSON."}`},
		``:                                       {400, `{"message":"The body is not JSON."}`},
		`"` + strings.Repeat("x", maxBody) + `"`: {413, `{"message":"The body is unreadable."}`},
	} {
		rec := request(w, "POST", "/sandbox/clock", body)
		if got := strings.TrimSpace(rec.Body.String()); rec.Code != want.status || got != want.body {
			t.Errorf("%.60s: %d %s, want %d %s", body, rec.Code, got, want.status, want.body)
		}
	}
	if rec := request(w, "POST", "/sandbox/clock", "{}", "Content-Type", "text/plain"); rec.Code != http.StatusUnsupportedMediaType {
		t.Errorf("body in plain text: status = %d, want 415", rec.Code)
	}
	if rec := request(w, "POST", "/sandbox/clock", "{}", "Content-Type", ""); rec.Code != http.StatusUnprocessableEntity {
		t.Errorf("body without a type: status = %d, want 422", rec.Code)
	}
	if got := w.Clock().Now(); !got.Equal(start) {
		t.Errorf("the clock moved to %v", got)
	}
}

func TestTheClockStaysAheadAcrossRestarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sandbox.db")
	w := openAt(t, path)
	for range 2 {
		request(w, "POST", "/sandbox/clock", `{"advance":"720h"}`)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := openAt(t, path).Clock().Now(), start.Add(1440*time.Hour); !got.Equal(want) {
		t.Errorf("after a restart: got %v, want %v", got, want)
	}
}

// The offset is stored before listeners are called. If storing fails, the clock does not move.
func TestClockOffsetIsStoredBeforeListeners(t *testing.T) {
	t.Parallel()
	w := world(t)
	var heard []time.Time
	w.Clock().OnAdvance(func(now time.Time) {
		heard = append(heard, now)
		var offset time.Duration
		if err := w.DB().QueryRowContext(t.Context(), `SELECT value FROM sandbox_settings`).Scan(&offset); err != nil || offset != time.Hour {
			t.Errorf("stored offset %v, %v", offset, err)
		}
	})
	request(w, "POST", "/sandbox/clock", `{"advance":"1h"}`)
	if diff := cmp.Diff([]time.Time{start.Add(time.Hour)}, heard); diff != "" {
		t.Error(diff)
	}
	_ = w.Close()
	if rec := request(w, "POST", "/sandbox/clock", `{"advance":"1h"}`); rec.Code != http.StatusInternalServerError {
		t.Errorf("a move that cannot be stored: %d %s", rec.Code, rec.Body)
	}
	if got := w.Clock().Offset(); got != time.Hour || len(heard) != 1 {
		t.Errorf("clock is %v ahead, listeners were called %d times", got, len(heard))
	}
}

func TestIndex(t *testing.T) {
	t.Parallel()
	w := world(t)
	rec := request(w, "GET", "/sandbox", "")
	page := rec.Body.String()
	for _, want := range []string{
		"admin@tenantry.test", "sandbox-admin", "owner@acme.test", "sandbox-owner", `href="/docs"`, `href="/openapi.json"`,
		`href="/sandbox/mail"`, `href="/sandbox/clock"`, `href="/sandbox/dashboard"`, `href="/sandbox/hooks"`, `href="/sandbox/idp"`, `href="/sandbox/chaos"`,
		`action="/sandbox/clock"`, "4242 4242 4242 4242", `data-copy="owner@acme.test" hidden>`, `<link rel="stylesheet" href="/sandbox/style.css">`,
		"1 March 2026, 12:00:00",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("page does not contain %s", want)
		}
	}
	if csp := rec.Header().Get("Content-Security-Policy"); rec.Code != http.StatusOK || csp != theme.Policy("'self'") {
		t.Errorf("%d, policy %q", rec.Code, csp)
	}
	if rec := request(w, "GET", "/sandbox/", ""); rec.Header().Get("Location") != "/sandbox" {
		t.Errorf("with a slash: %d %v", rec.Code, rec.Header())
	}
}

func TestTheFormMovesTheClock(t *testing.T) {
	t.Parallel()
	w := world(t)
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}
	rec := request(w, "POST", "/sandbox/clock", "advance=720h", form...)
	if rec.Code != http.StatusSeeOther || rec.Header().Get("Location") != "/sandbox" || w.Clock().Offset() != 720*time.Hour {
		t.Errorf("%d %v, %v ahead", rec.Code, rec.Header(), w.Clock().Offset())
	}
	if rec := request(w, "POST", "/sandbox/clock", "advance=soon", form...); rec.Code != http.StatusUnprocessableEntity {
		t.Errorf("nonsense: %d", rec.Code)
	}
	if page := request(w, "GET", "/sandbox/clock", "", "Accept", "text/html,*/*").Body.String(); !strings.Contains(page, "This is about 30 days ahead of the machine’s clock.") {
		t.Errorf("the page does not say that time was moved: %s", page)
	}
}

// The page shows the next scheduled actions with links, moves by calendar months, and shows errors.
func TestTheClocksPage(t *testing.T) {
	t.Parallel()
	w := world(t)
	w.Show(Access{Coming: func(context.Context, int) ([]theme.ScheduledAction, error) {
		return []theme.ScheduledAction{
			{What: "A trial ends", About: "<b>Ada", At: start.Add(time.Hour)},
			{What: "Billing period ends", About: "Acme", Href: "/sandbox/dashboard/subscriptions/sub_1", At: start.AddDate(0, 0, 3), Renews: true},
		}, nil
	}})
	rec := request(w, "GET", "/sandbox/clock", "", "Accept", "text/html")
	for _, want := range []string{
		`value="2026-03-01T13:00:00Z"><svg`, "To the next event, in 1 h", "To the next renewal, in 3 days", "&lt;b&gt;Ada", `<a href="/sandbox/dashboard/subscriptions/sub_1">Acme</a>`,
		"This is the machine’s time.", `aria-current="page"`,
	} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("page does not contain %s\n%s", want, rec.Body)
		}
	}
	if rec.Header().Get("Vary") != "Accept" || rec.Header().Get("Content-Security-Policy") != theme.Policy("'self'") {
		t.Errorf("headers %v", rec.Header())
	}
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"}
	rec = request(w, "POST", "/sandbox/clock", "to=2026-03-01T13:00:00Z&back=clock", form...)
	if now := w.Clock().Now(); rec.Header().Get("Location") != "/sandbox/clock" || !now.Equal(start.Add(time.Hour)) {
		t.Errorf("to the next event: %v, %v", rec.Header(), now)
	}
	request(w, "POST", "/sandbox/clock", "advance=1mo", form...)
	if now := w.Clock().Now(); !now.Equal(start.Add(time.Hour).AddDate(0, 1, 0)) {
		t.Errorf("a month later: got %v", now)
	}
	rec = request(w, "POST", "/sandbox/clock", "to=2026-03-01T13:00:00Z", form...)
	if rec.Code != http.StatusUnprocessableEntity || !strings.Contains(rec.Body.String(), `role="alert">“to” must be in the future`) {
		t.Errorf("backwards: %d %s", rec.Code, rec.Body)
	}
	for path, kind := range map[string]string{"/sandbox/style.css": "text/css; charset=utf-8", "/sandbox/script.js": "text/javascript; charset=utf-8"} {
		if got := request(w, "GET", path, ""); got.Code != http.StatusOK || got.Header().Get("Content-Type") != kind {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
	}
	w.Show(Access{Coming: func(context.Context, int) ([]theme.ScheduledAction, error) { return nil, io.ErrUnexpectedEOF }})
	if rec := request(w, "GET", "/sandbox/clock", "", "Accept", "text/html"); rec.Code != http.StatusInternalServerError {
		t.Errorf("when the provider fails: %d", rec.Code)
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	w := world(t)
	if err := w.Mailbox().Deliver(context.Background(), mailbox.Message{To: "ada@example.test", Subject: "Hello", Text: "t"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/sandbox/stripe/v1/customers": "provider /sandbox/stripe/v1/customers",
		"/sandbox/checkout/cs_1":       "provider /sandbox/checkout/cs_1",
		"/sandbox/portal/bps_1":        "provider /sandbox/portal/bps_1",
		"/sandbox/mail":                "Hello",
		"/sandbox/mail/messages":       `"subject":"Hello"`,
		"/sandbox/nothing":             `{"message":"The sandbox does not have this page."}`,
	} {
		if rec := request(w, "GET", path, ""); !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}

func TestAllowedHostNames(t *testing.T) {
	t.Parallel()
	w := world(t)
	for host, want := range map[string]int{
		"127.0.0.1:8080":            200,
		"[::1]:8080":                200,
		"[::1]":                     200,
		"192.168.1.7":               200,
		"localhost:8080":            200,
		"app.localhost":             200,
		"tenantry:8080":             200,
		"dev.example.test":          200,
		"DEV.example.test:8080":     200,
		"proxy.example.test:8443":   200,
		"proxy.example.test":        421,
		"evil.example":              421,
		"127.0.0.1.evil.example":    421,
		"evil.example:8080":         421,
		"localhost.evil.example:80": 421,
	} {
		if rec := request(w, "GET", "/sandbox/clock", "", "Host", host); rec.Code != want {
			t.Errorf("%s: %d, want %d", host, rec.Code, want)
		}
	}
}

func TestOtherSitesCannotChangeTheSandbox(t *testing.T) {
	t.Parallel()
	w := world(t)
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "https://evil.example", "Content-Type", "application/x-www-form-urlencoded"},
	} {
		if rec := request(w, "POST", "/sandbox/clock", `{"advance":"1h"}`, headers...); rec.Code != http.StatusForbidden {
			t.Errorf("%v: %d", headers, rec.Code)
		}
	}
	rec := request(w, "POST", "/sandbox/clock", `{"advance":"1h"}`, "Origin", "http://127.0.0.1:8080")
	if rec.Code != http.StatusOK || rec.Header().Get("Referrer-Policy") != "same-origin" {
		t.Errorf("its own page: %d %v", rec.Code, rec.Header())
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a folder?", "sandbox.db")
	w, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	got := make(map[string]string)
	for _, pragma := range []string{"journal_mode", "synchronous", "busy_timeout"} {
		var value string
		if err := w.DB().QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&value); err != nil {
			t.Fatal(err)
		}
		got[pragma] = value
	}
	if diff := cmp.Diff(map[string]string{"journal_mode": "wal", "synchronous": "1", "busy_timeout": "5000"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := Open(t.Context(), filepath.Join(path, "inside a file")); err == nil {
		t.Error("Open created a file inside a file")
	}
	broken := filepath.Join(t.TempDir(), "sandbox.db")
	if err := os.WriteFile(broken, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), broken); err == nil {
		t.Error("Open accepted a file that is not a database")
	}
}
