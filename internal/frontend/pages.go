package frontend

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/i18n"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed style.css
	styleCSS []byte
	//go:embed script.js
	scriptJS []byte
	//go:embed locales/*.json
	locales embed.FS
)

// The paths of what the pages load.
const (
	stylePath  = "/frontend/style.css"
	scriptPath = "/frontend/script.js"
)

// Config is what the pages need.
type Config struct {
	Addresses

	PublicURL string // of the service, without a slash at its end
	Brand     brand.Brand
}

// Pages are plain pages of the addresses of a frontend, in the reader's language and with the
// operator's brand. They are clients of the API like any other: they log in with a cookie, and
// every rule is the API's.
type Pages struct {
	config Config
	texts  *i18n.Catalog
	page   *template.Template
	policy string
	each   map[string]string // the texts of a locale as JSON
}

// NewPages returns the pages. It fails when the embedded texts cannot be read.
func NewPages(c Config) (*Pages, error) {
	page, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	texts, err := i18n.Read(locales)
	if err != nil {
		return nil, err
	}
	p := &Pages{config: c, texts: texts, page: page, each: map[string]string{}}
	for _, locale := range i18n.Locales() {
		all := map[string]string{}
		for key := range texts.Messages(locale) {
			all[key] = texts.Text(locale, key, nil)
		}
		encoded, err := json.Marshal(all)
		if err != nil {
			return nil, err
		}
		p.each[locale] = string(encoded)
	}
	p.policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
	if logo, err := url.Parse(c.Brand.Logo.Address(c.PublicURL)); err == nil && logo.Host != "" {
		p.policy += "img-src " + logo.Scheme + "://" + logo.Host + "; "
	}
	p.policy += "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	return p, nil
}

// Mount serves the pages with mount, each at its path, and what they load.
func (p *Pages) Mount(mount func(path string, h http.Handler)) {
	for _, d := range defaults {
		if d.page != OAuthCallback { // which account/oauth serves, also beside a frontend
			path := p.config.Path(d.page)
			mux := http.NewServeMux()
			mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { p.show(w, r, d.page) })
			mount(path, mux)
		}
	}
	mount(stylePath, p.file("text/css; charset=utf-8", styleCSS))
	mount(scriptPath, p.file("text/javascript; charset=utf-8", scriptJS))
}

func (p *Pages) file(kind string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(content)
	})
}

// ServeNotFound answers 404 with a page that says so.
func (p *Pages) ServeNotFound(w http.ResponseWriter, r *http.Request) {
	p.write(w, r, "missing", http.StatusNotFound)
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, page Page) {
	p.write(w, r, page, http.StatusOK)
}

func (p *Pages) write(w http.ResponseWriter, r *http.Request, page Page, status int) {
	locale := cmp.Or(p.texts.Match(r.Header.Get("Accept-Language")), i18n.Default)
	base, _ := url.Parse(p.config.PublicURL)
	light, dark := p.config.Brand.Colors()
	var html bytes.Buffer
	err := p.page.Execute(&html, map[string]any{
		"Locale": locale, "Page": string(page), "Title": p.texts.Text(locale, "page.title."+string(page), nil), "Texts": p.each[locale],
		"Token": r.PathValue("token"), "Base": strings.TrimRight(base.Path, "/"),
		"Billing": p.config.PageURL(Billing), "Forgot": p.config.PageURL(ForgotPassword),
		"App": p.config.Brand.App(), "Logo": p.config.Brand.Logo.Address(p.config.PublicURL), "Light": template.CSS(light), "Dark": template.CSS(dark), //nolint:gosec // Checked colors.
		"Support": p.config.Brand.SupportEmail, "Terms": p.config.Brand.TermsURL, "Privacy": p.config.Brand.PrivacyURL,
		"TermsText": p.texts.Text(locale, "page.terms", nil), "PrivacyText": p.texts.Text(locale, "page.privacy", nil),
		"NoScript": p.texts.Text(locale, "page.noscript", nil), "Style": stylePath, "Script": scriptPath,
	})
	if err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("Referrer-Policy", "same-origin") // the path or the query may have a token
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = html.WriteTo(w)
}
