package theme_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/sandbox/theme"
)

// shown matches translated texts in the source: literals in calls of T, error messages, statuses
// and units of periods.
var shown = regexp.MustCompile(`(?:\.T [(]?|\.T\(|Title: +|Text: +|return Test\w+\{\}, |(?:Card|IBAN)?Error\w* ?[:=] ?|subscriptions\.\w+: |invoices\.\w+: |write\(w, r, [\w.]+, (?:r\.PostFormValue\("card_number"\), )?)"([^"]+)"`)

// computed are texts that are composed at run time.
var computed = []string{
	"Draft", "Open", "Paid", "Void", "Uncollectible",
	"{amount} / day", "{amount} / week", "{amount} / month", "{amount} / year",
	"{amount} / {count} days", "{amount} / {count} weeks", "{amount} / {count} months", "{amount} / {count} years",
}

// Every text of the customer-facing pages has a translation in every language, and there are no
// unused translations.
func TestEveryTextIsTranslated(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{}
	for _, text := range computed {
		wanted[text] = true
	}
	for _, folder := range []string{"../theme", "../idp", "../stripe/checkout", "../stripe/portal", "../stripe/hosted", "../stripe/pages", "../stripe/customers"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "about.html") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range shown.FindAllStringSubmatch(string(text), -1) {
				if found[1] != "Sign-in" && (strings.Contains(found[1], " ") || !strings.Contains(path, "customers")) {
					wanted[found[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	place := regexp.MustCompile(`\{\w+\}`)
	for _, locale := range []string{"fr", "es", "it"} {
		file, err := os.ReadFile("locales/" + locale + ".json")
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		if err := json.Unmarshal(file, &texts); err != nil {
			t.Fatal(err)
		}
		for text := range wanted {
			if texts[text] == "" && !strings.HasSuffix(text, " / ") && !strings.HasSuffix(text, "{count} ") {
				t.Errorf("%s: %q is not translated", locale, text)
			}
		}
		for text, translated := range texts {
			if !wanted[text] && !strings.HasPrefix(text, "Visa") {
				t.Errorf("%s: %q is unused", locale, text)
			}
			if got, want := len(place.FindAllString(translated, -1)), len(place.FindAllString(text, -1)); got != want {
				t.Errorf("%s: %q has %d placeholders, want %d", locale, translated, got, want)
			}
		}
	}
}

func TestReader(t *testing.T) {
	t.Parallel()
	asks := func(language string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Language", language)
		return r
	}
	for _, c := range []struct {
		browser string
		wanted  []string
		lang    string
	}{
		{"", nil, "en"},
		{"fr-CA, en;q=0.5", nil, "fr"},
		{"de", nil, "en"},
		{"fr", []string{"it"}, "it"},
		{"fr", []string{"auto"}, "fr"},
		{"fr", []string{"", "de", "es"}, "es"},
	} {
		if got := (theme.Brand{}).NewReader(asks(c.browser), c.wanted...).Lang(); got != c.lang {
			t.Errorf("%q with %q: %s, want %s", c.browser, c.wanted, got, c.lang)
		}
	}
	french := theme.Brand{}.NewReader(asks("fr"))
	if got := french.T("Pay {amount}", "amount", french.Money(123_450, "eur", 2)); got != "Payer 1\u202f234,50\u00a0€" {
		t.Errorf("%q", got)
	}
	if got := french.T("nothing that is known {amount}", "amount", "{x}"); got != "nothing that is known {x}" {
		t.Errorf("%q", got)
	}
	if got := french.UnitPrice("1.25", "eur", 2) + " " + french.Day(0); got != "0,0125\u00a0€ 1er janvier 1970" {
		t.Errorf("%q", got)
	}
}

// Customer-facing pages use the brand's colors and may load its logo.
func TestBrand(t *testing.T) {
	t.Parallel()
	type view struct {
		theme.Reader
		Title string
	}
	show := func(b theme.Brand) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page := theme.Card(`<h1>{{.Title}}</h1>`, nil)
		if err := theme.Write(w, 200, page, "'self'", view{b.NewReader(httptest.NewRequest(http.MethodGet, "/", nil), "es"), "Hola"}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	plain := show(theme.Brand{})
	if body := plain.Body.String(); !strings.Contains(body, `<html lang="es">`) || !strings.Contains(body, "<strong>Sandbox</strong>") || strings.Contains(body, "brand.css") || strings.Contains(body, "<footer") {
		t.Error(body)
	}
	if got := plain.Header().Get("Content-Security-Policy"); got != theme.Policy("'self'") {
		t.Error(got)
	}
	b := theme.Brand{Name: "Acme <1>", Logo: "https://cdn.example.com/logo.png?a=1", Accent: "#7a1fa2", SupportEmail: "help@acme.test", TermsURL: "https://acme.test/terms", PrivacyURL: "https://acme.test/privacy"}
	shown := show(b)
	for _, want := range []string{`<img src="https://cdn.example.com/logo.png?a=1" alt="Acme &lt;1&gt;"`, `href="/sandbox/brand.css"`, `href="mailto:help@acme.test"`, `>Condiciones del servicio</a>`, "Política de privacidad", "Entorno de pruebas"} {
		if !strings.Contains(shown.Body.String(), want) {
			t.Errorf("no %s in %s", want, shown.Body)
		}
	}
	if got := shown.Header().Get("Content-Security-Policy"); got != theme.Policy("'self'", "https://cdn.example.com") || !strings.Contains(got, "img-src 'self' data: https://cdn.example.com;") {
		t.Error(got)
	}
	named := show(theme.Brand{Name: "Acme"}).Body.String()
	if !strings.Contains(named, "<strong>Acme</strong>") || strings.Contains(named, "<img") {
		t.Error(named)
	}
	for accent, want := range map[string]string{"#7a1fa2": "--accent-solid: #7a1fa2;", "": ""} {
		mux, w := http.NewServeMux(), httptest.NewRecorder()
		theme.RegisterBrand(mux, theme.Brand{Accent: accent})
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/sandbox/brand.css", nil))
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) || (accent == "") != (w.Body.Len() == 0) {
			t.Errorf("%q: %d %s", accent, w.Code, w.Body)
		}
	}
}
