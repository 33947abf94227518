package app_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// branded returns an option that gives the service a brand and one custom mail template.
func branded(t *testing.T, picture []byte) apptest.Option {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "fr"), 0o700); err != nil {
		t.Fatal(err)
	}
	own := map[string]string{
		"invitation.html":    `<p>{{.app}}: {{.tenant}} <a href="{{.link}}">{{.action}}</a></p>`,
		"invitation.subject": "{{.app}} vous attend\n",
	}
	for name, text := range own {
		if err := os.WriteFile(filepath.Join(folder, "fr", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := brand.Brand{
		Name: "Acme & Co", Logo: brand.Logo{Type: "image/png", Picture: picture}, Accent: "#123456", SupportEmail: "help@acme.example",
		TermsURL: "https://acme.example/terms?a=1&b=2",
	}
	templates, wrong := letters.ReadTemplates(folder, b)
	if wrong != nil {
		t.Fatal(wrong)
	}
	return func(s *settings.Settings) { s.Brand, s.Templates = b, templates }
}

// The operator's brand appears in mails, on the page that completes a login, and in the public
// settings, and the logo is served at its URL.
func TestBrand(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 2))); err != nil {
		t.Fatal(err)
	}
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		logo := s.Call(http.MethodGet, "/brand/logo", "", nil).Want(200)
		if logo.Text != picture.String() || logo.Header.Get("Content-Type") != "image/png" || logo.Header.Get("Cache-Control") != "public, max-age=3600" ||
			!strings.Contains(logo.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("the logo: %v", logo.Header)
		}
		got := map[string]any{}
		for _, key := range []string{"app_name", "logo_url", "accent", "support_email", "terms_url", "privacy_url"} {
			got[key] = s.Call(http.MethodGet, "/api/v1/settings", "", nil).Want(200).At("data." + key)
		}
		want := map[string]any{
			"app_name": "Acme & Co", "logo_url": s.URL + "/brand/logo", "accent": "#123456", "support_email": "help@acme.example",
			"terms_url": "https://acme.example/terms?a=1&b=2", "privacy_url": nil,
		}
		admin := s.Admin()
		mail := s.Call(http.MethodGet, "/api/v1/admin/brand/mail", admin, nil).Want(200)
		for _, part := range []string{s.URL + "/brand/logo", "#123456", "Acme &amp; Co"} {
			if !strings.Contains(mail.Str("data.html"), part) {
				t.Errorf("the preview of a mail does not contain %s", part)
			}
		}
		document := s.Call(http.MethodGet, "/api/v1/admin/brand/invoice", admin, nil).Want(200)
		if !strings.HasPrefix(document.Text, "%PDF-") || document.Header.Get("Content-Type") != "application/pdf" {
			t.Errorf("the preview of an invoice: %v", document.Header)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		page := s.Call(http.MethodGet, "/oauth/callback", "", nil).Want(200)
		has(t, page.Text, "· Acme &amp; Co</title>", `<img src="`+s.URL+`/brand/logo" alt="Acme &amp; Co"`)
		has(t, page.Header.Get("Content-Security-Policy"), "img-src "+s.URL+";")

		o := s.Register("ada@example.com", true)
		s.Call(http.MethodPatch, "/api/v1/tenant", o.Token, apptest.Object{"name": `<b>evil.example</b>`}).Want(200)
		s.Invite(o, "english@example.com", "member")
		english := s.Mails("english@example.com")[0]
		has(t, english["subject"].(string), "join an organization on Acme & Co")
		has(t, english["html"].(string), `<img src="`+s.URL+`/brand/logo" alt="Acme &amp; Co" height="40">`, "background: #123456; color: #ffffff",
			`<a href="mailto:help@acme.example">`, `<a href="https://acme.example/terms?a=1&amp;b=2">Terms of service</a>`)
		has(t, english["text"].(string), "\nQuestions? help@acme.example\n", "\nTerms of service\nhttps://acme.example/terms?a=1&b=2\n")
		if text := english["text"].(string) + english["html"].(string); strings.Contains(text, "Tenantry") || strings.Contains(text, "Privacy") {
			t.Error(text)
		}

		// A mail can combine a custom HTML template with the built-in text. User input is still
		// escaped: it cannot add a tag or an address that mail clients turn into a link.
		s.Call(http.MethodPatch, "/api/v1/tenant", o.Token, apptest.Object{"settings": apptest.Object{"locale": "fr"}}).Want(200)
		_, token := s.Invite(o, "french@example.com", "member")
		french := s.Mails("french@example.com")[0]
		if french["subject"] != "Acme & Co vous attend" {
			t.Errorf("subject %q", french["subject"])
		}
		if want := "<p>Acme &amp; Co: &lt;b&gt;evil.\u200aexample&lt;/b&gt; <a href=\"" + s.URL + "/invitations/" + token + `">`; !strings.HasPrefix(french["html"].(string), want) {
			t.Errorf("%q, want %q", french["html"], want)
		}
		has(t, french["text"].(string), "Bonjour,", "Une question\u202f? help@acme.example")
	}, branded(t, picture.Bytes()))
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}

// Without a brand, the logo does not exist, and the public settings do not contain it.
func TestNoBrand(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Call(http.MethodGet, "/brand/logo", "", nil).Want(404)
		a := s.Call(http.MethodGet, "/api/v1/settings", "", nil).Want(200)
		if a.At("data.app_name") != "Tenantry" || a.At("data.logo_url") != nil || a.At("data.accent") != nil {
			t.Error(a.Text)
		}
	})
}

// The customer-facing pages of the sandbox show the brand too, in the language of the request.
func TestBrandOnHostedPages(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		pages := map[string]string{"checkout": s.Checkout(o, "starter"), "login": s.URL + "/sandbox/idp/authorize"}
		s.BuyPlan(o, "starter")
		portal := s.Call(http.MethodPost, o.Path("/docs/billing/portal"), o.Token, map[string]any{}).Want(200)
		pages["portal"], _ = portal.At("data.url").(string)
		for name, address := range pages {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept-Language", "it")
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			var body bytes.Buffer
			if _, err := body.ReadFrom(answer.Body); err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			for _, want := range []string{"/brand/logo", `alt="Acme &amp; Co"`, "help@acme.example", "/sandbox/brand.css", "https://acme.example/terms?a=1&amp;b=2"} {
				if !strings.Contains(body.String(), want) {
					t.Errorf("%s: no %s in %s", name, want, body.String())
				}
			}
			// The portal uses the customer's language, the other pages the browser's.
			if want := map[bool]string{true: `<html lang="en">`, false: `<html lang="it">`}[name == "portal"]; !strings.Contains(body.String(), want) {
				t.Errorf("%s: no %s", name, want)
			}
		}
		if css := s.Call(http.MethodGet, "/sandbox/brand.css", "", nil).Want(200).Text; !strings.Contains(css, "#123456") {
			t.Errorf("the colors are %s", css)
		}
	}, branded(t, []byte("picture")))
}
