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

// The paths of the files that the pages load.
const (
	stylePath  = "/frontend/style.css"
	scriptPath = "/frontend/script.js"
)

// Config configures the pages.
type Config struct {
	Addresses

	PublicURL string // of the service, without a trailing slash
	Brand     brand.Brand
}

// Pages serves simple pages for the addresses of a frontend, in the language of the reader and with
// the operator's brand. They are ordinary clients of the API: they log in with a cookie, and the
// API enforces all rules.
type Pages struct {
	config Config
	texts  *i18n.Catalog
	page   *template.Template
	policy string
	each   map[string]string // texts by locale, as JSON
}

// NewPages returns the pages. It returns an error if the embedded texts are invalid.
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

// Mount calls mount to register the pages and the files that they load.
func (p *Pages) Mount(mount func(path string, h http.Handler)) {
	for _, d := range defaults {
		if d.page != OAuthCallback { // account/oauth always serves it
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

// ServeNotFound responds with status 404 and a page that says so.
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
	h.Set("Referrer-Policy", "same-origin") // the path or the query may contain a token
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept-Language")
	w.WriteHeader(status)
	_, _ = html.WriteTo(w)
}
