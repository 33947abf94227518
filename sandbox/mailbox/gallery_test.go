package mailbox_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/mailbox"
)

// openGallery requests a page of a gallery with two kinds of mails in two languages. The mail "broken"
// cannot be rendered.
func openGallery(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	mux := http.NewServeMux()
	mailbox.Gallery{
		Kinds: []mailbox.Kind{{Name: "welcome", About: "A new user."}, {Name: "broken", About: "Fails."}}, Locales: []string{"en", "fr"}, Clock: clock.System(),
		Render: func(_ context.Context, name, locale, values string) (mailbox.Message, error) {
			if name == "broken" {
				return mailbox.Message{}, errors.New("no template")
			}
			return mailbox.Message{
				Subject: name + " " + locale + " <" + values + ">", Text: "See https://app.test/x",
				HTML: `<head><meta name="color-scheme" content="light dark"><style>:root { color-scheme: light dark; } @media (prefers-color-scheme: dark) { a {} }</style></head>`,
			}, nil
		},
	}.Register(mux)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestGallery(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{
		"/sandbox/mails":                          {"<h2>welcome en &lt;typical&gt;</h2>", "A new user.", `<iframe class="w600" src="/sandbox/mails/html?`},
		"/sandbox/mails?locale=fr&values=long":    {"<h2>welcome fr &lt;long&gt;</h2>"},
		"/sandbox/mails?format=text&width=320":    {`<div class="text w320">See <a href="https://app.test/x"`},
		"/sandbox/mails?mail=other&locale=<i>&x=": {"<h2>welcome en &lt;typical&gt;</h2>"},
		"/sandbox/mails?values=sparse":            {"&lt;sparse&gt;"},
	} {
		at, query, _ := strings.Cut(path, "?")
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		w := openGallery(t, at+"?"+values.Encode())
		for _, part := range want {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: %d, no %s in %s", path, w.Code, part, w.Body)
			}
		}
	}
	if w := openGallery(t, "/sandbox/mails?mail=broken"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "no template") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The HTML of a mail is in the selected theme, whatever the browser's theme is.
func TestGalleryThemes(t *testing.T) {
	t.Parallel()
	for theme, media := range map[string]string{"light": "@media not all", "dark": "@media all"} {
		w := openGallery(t, "/sandbox/mails/html?theme="+theme)
		if body := w.Body.String(); !strings.Contains(body, media+" {") || !strings.Contains(body, "color-scheme: "+theme+";") || strings.Contains(body, "prefers-color-scheme") {
			t.Errorf("%s: %s", theme, body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "script") {
			t.Errorf("policy %q", policy)
		}
	}
}
