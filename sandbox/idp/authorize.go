package idp

import (
	_ "embed"
	"net/http"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/sandbox/theme"
)

//go:embed page.html
var pageText string

//go:embed about.html
var aboutText string

// maxBody is the maximum size of a form, in bytes.
const maxBody = 64 << 10

// view is the data of the page's template.
type view struct {
	theme.Reader
	Title, Text, Error string
	Form               bool
	Request            []parameter // the hidden fields of the form
	Action             string      // URL of the form
	WithSubject        bool        // whether the form has the field sub
	Sub, Email, Name   string
	Verified           bool
}

type parameter struct{ Name, Value string }

// request is an authorization request (OpenID Connect Core, section 3.1.2.1).
type request struct {
	values url.Values
}

// repeatedParams are the parameters of an authorization request that the consent form repeats as
// hidden fields.
var repeatedParams = []string{
	"response_type", "client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge", "code_challenge_method",
}

func (r request) parameters() []parameter {
	list := make([]parameter, 0, len(repeatedParams))
	for _, name := range repeatedParams {
		list = append(list, parameter{name, r.values.Get(name)})
	}
	return list
}

// client reports whether the request has the configured client id and one of its redirect URIs.
// Browsers are not redirected anywhere else.
func (p *Provider) client(r request) bool {
	to := r.values.Get("redirect_uri")
	accepted := slices.Contains(p.cfg.RedirectURIs, to)
	if p.name != "" {
		u, err := url.Parse(to)
		accepted = err == nil && u.Host != "" && u.Path == tenantCallback
	}
	return accepted && r.values.Get("client_id") == p.cfg.ClientID
}

// fault returns the error code of an invalid request, or "" if the request is valid.
func (r request) fault() string {
	switch {
	case r.values.Get("response_type") != "code":
		return "unsupported_response_type"
	case !slices.Contains(strings.Fields(r.values.Get("scope")), "openid"):
		return "invalid_scope"
	case r.values.Get("code_challenge_method") != "S256" || len(r.values.Get("code_challenge")) != 43:
		return "invalid_request" // PKCE is required
	}
	return ""
}

// showConsent handles GET /sandbox/idp/authorize.
func (p *Provider) showConsent(w http.ResponseWriter, r *http.Request) {
	req := request{r.URL.Query()}
	switch {
	case !p.client(req):
		p.refuse(w, r)
	case req.fault() != "":
		p.answer(w, r, req, url.Values{"error": {req.fault()}})
	default:
		p.show(w, r, http.StatusOK, view{Title: "Sign in to the sandbox", Form: true, Request: req.parameters(), Verified: true})
	}
}

// consent handles POST /sandbox/idp/authorize, the consent form.
func (p *Provider) consent(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		p.show(w, r, http.StatusBadRequest, view{Title: "The form could not be read", Text: err.Error()})
		return
	}
	req := request{r.PostForm}
	switch {
	case !p.client(req):
		p.refuse(w, r)
		return
	case req.fault() != "":
		p.answer(w, r, req, url.Values{"error": {req.fault()}})
		return
	case r.PostForm.Get("decision") == "deny":
		p.answer(w, r, req, url.Values{"error": {"access_denied"}})
		return
	}
	g := grant{
		redirectURI: req.values.Get("redirect_uri"), nonce: req.values.Get("nonce"), challenge: req.values.Get("code_challenge"),
		email: strings.TrimSpace(r.PostForm.Get("email")), name: strings.TrimSpace(r.PostForm.Get("name")),
		emailVerified: isChecked(r.PostForm.Get("email_verified")),
	}
	if p.name != "" {
		g.sub = strings.TrimSpace(r.PostForm.Get("sub"))
	}
	if address, err := mail.ParseAddress(g.email); err != nil || address.Address != g.email {
		p.show(w, r, http.StatusUnprocessableEntity, view{
			Title: "Sign in to the sandbox", Form: true, Error: "Enter a valid email address.", Request: req.parameters(),
			Sub: g.sub, Email: g.email, Name: g.name, Verified: g.emailVerified,
		})
		return
	}
	code, err := p.store(r.Context(), kindCode, g, codeLifetime)
	if err != nil {
		p.fail(w, err)
		return
	}
	p.answer(w, r, req, url.Values{"code": {code}})
}

// isChecked parses the value of a checkbox. Browsers omit unchecked boxes, but programs may send
// false.
func isChecked(value string) bool {
	return !slices.Contains([]string{"", "0", "false", "off"}, value)
}

// answer redirects the browser to the client.
func (p *Provider) answer(w http.ResponseWriter, r *http.Request, req request, values url.Values) {
	to, err := url.Parse(req.values.Get("redirect_uri"))
	if err != nil {
		p.refuse(w, r)
		return
	}
	query := to.Query()
	for name := range values {
		query.Set(name, values.Get(name))
	}
	if state := req.values.Get("state"); state != "" {
		query.Set("state", state)
	}
	query.Set("iss", p.Issuer())
	to.RawQuery = query.Encode()
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
}

func (p *Provider) refuse(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusBadRequest, view{
		Title: "Unknown application",
		Text:  "The sandbox does not recognize the client_id or redirect_uri of this request.",
	})
}

// show renders a page. Its policy does not restrict the targets of the form, because browsers would
// apply the restriction to the redirect to the client and all later redirects.
func (p *Provider) show(w http.ResponseWriter, r *http.Request, status int, v view) {
	v.Reader = p.cfg.Brand.NewReader(r)
	v.Action, v.WithSubject = p.path()+"/authorize", p.name != ""
	v.Title, v.Text, v.Error = v.T(v.Title), v.T(v.Text), v.T(v.Error)
	w.Header().Add("Vary", "Accept-Language")
	if err := theme.Write(w, status, p.page, "", v); err != nil {
		p.fail(w, err)
	}
}
