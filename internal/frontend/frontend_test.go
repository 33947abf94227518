package frontend_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/frontend"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	own := frontend.Addresses{URL: "https://app.example.com/web/", Paths: frontend.Paths{frontend.Billing: "/settings/billing", frontend.Invitation: "/join/{token}/now"}}
	for want, got := range map[string]string{
		"https://app.example.com/web/settings/billing":              own.PageURL(frontend.Billing),
		"https://app.example.com/web/join/a%2Fb/now":                own.Invitation("a/b"),
		"https://app.example.com/web/reset-password?token=a%26&e=b": own.PageURL(frontend.ResetPassword, "token", "a&", "e", "b"),
		"/invitations/x": frontend.Addresses{}.Invitation("x"),
		"/":              frontend.Addresses{}.PageURL("nothing"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestParsePaths(t *testing.T) {
	t.Parallel()
	got, err := frontend.ParsePaths(" billing=/settings/billing, invitation = /join/{token},")
	if diff := cmp.Diff(frontend.Paths{frontend.Billing: "/settings/billing", frontend.Invitation: "/join/{token}"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, want := range map[string]string{
		"home=/":                   `unknown page "home"; pages: invitation, reset_password`,
		"billing":                  `is not a path such as /billing`,
		"billing=billing":          `is not a path such as /billing`,
		"billing=//evil.example":   `is not a path such as /billing`,
		"billing=/a?b":             `is not a path such as /billing`,
		"billing=/a#b":             `is not a path such as /billing`,
		"billing=/a{x}":            `is not a path such as /billing`,
		"billing=/%zz":             `is not a path such as /billing`,
		"billing=/b/{token}":       `the path of invitation, and no other, contains {token}`,
		"invitation=/join":         `the path of invitation, and no other, contains {token}`,
		"billing=/a,billing=/b":    "billing appears twice",
		"invitation=/{token}/{x}":  `is not a path such as /billing`,
		"webhooks=/a,forgot=/else": `unknown page "forgot"; pages: `,
	} {
		if _, err := frontend.ParsePaths(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func serve(t *testing.T, c frontend.Config) *http.ServeMux {
	t.Helper()
	pages, err := frontend.NewPages(c)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	pages.Mount(mux.Handle)
	return mux
}

func get(h http.Handler, path, language string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept-Language", language)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Every page uses the reader's language, and escapes user input.
func TestPages(t *testing.T) {
	t.Parallel()
	h := serve(t, frontend.Config{Addresses: frontend.Addresses{URL: "https://example.com"}, PublicURL: "https://example.com"})
	for _, path := range []string{
		"/invitations/%22%3E%3Cb%3E", "/reset-password?token=x", "/forgot-password", "/verify-email?token=x", "/billing", "/webhooks", "/onboarding/success", "/onboarding/plans",
	} {
		titles := map[string]bool{}
		for _, language := range []string{"en", "fr", "es", "it"} {
			got := get(h, path, language)
			page := got.Body.String()
			title, _, _ := strings.Cut(page[strings.Index(page, "<title>")+7:], "</title>")
			titles[title] = true
			if got.Code != http.StatusOK || !strings.Contains(page, `<html lang="`+language+`">`) || strings.Contains(title, "page.") || strings.Contains(page, "<b>x") || strings.Contains(page, `"><b>`) {
				t.Errorf("%s in %s: %d %s", path, language, got.Code, page)
			}
			policy := got.Header().Get("Content-Security-Policy")
			if !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(page, "<script>") ||
				got.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v", path, got.Header())
			}
		}
		if len(titles) != 4 {
			t.Errorf("%s has the titles %v", path, titles)
		}
	}
	if get(h, "/oauth/callback", "en").Code != http.StatusNotFound || get(h, "/else", "en").Code != http.StatusNotFound {
		t.Error("a page that this package does not serve responds")
	}
	for path, kind := range map[string]string{"/frontend/style.css": "text/css; charset=utf-8", "/frontend/script.js": "text/javascript; charset=utf-8"} {
		if got := get(h, path, ""); got.Code != http.StatusOK || got.Header().Get("Content-Type") != kind || got.Body.Len() < 1000 {
			t.Errorf("%s: %d %v", path, got.Code, got.Header())
		}
	}
}

func TestPagesHaveTheBrand(t *testing.T) {
	t.Parallel()
	plain := get(serve(t, frontend.Config{}), "/billing", "de").Body.String()
	if !strings.Contains(plain, "<title>Billing · Tenantry</title>") || !strings.Contains(plain, "<b>Tenantry</b>") || strings.Contains(plain, "<img") || strings.Contains(plain, "mailto") {
		t.Error(plain)
	}
	got := get(serve(t, frontend.Config{
		Addresses: frontend.Addresses{URL: "https://example.com/app", Paths: frontend.Paths{frontend.Billing: "/money"}}, PublicURL: "https://example.com/app",
		Brand: brand.Brand{
			Name: "Acme <b>", Logo: brand.Logo{URL: "https://cdn.example.com/a.png"}, Accent: "#123456", SupportEmail: "help@example.com",
			TermsURL: "https://example.com/terms", PrivacyURL: "https://example.com/privacy",
		},
	}), "/money", "fr")
	for _, want := range []string{
		"<title>Facturation · Acme &lt;b&gt;</title>", `<img src="https://cdn.example.com/a.png" alt="Acme &lt;b&gt;"`, "--accent: #123456", `href="mailto:help@example.com"`,
		`<a href="https://example.com/terms">Conditions</a>`, `<a href="https://example.com/privacy">Confidentialité</a>`, `data-base="/app"`, `data-billing="https://example.com/app/money"`,
		`<script src="/app/frontend/script.js" defer>`,
	} {
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("no %s in %s", want, got.Body)
		}
	}
	if policy := got.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "img-src https://cdn.example.com;") {
		t.Errorf("policy %s", policy)
	}
}
