package rest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
)

// In cookie mode, the first-party frontend logs in with a session cookie and a CSRF token (rules:
// http#cookie-mode). Scripts can read the token, but not the session cookie. Each state-changing
// request must repeat the token in a header.
//
// The CSRF token is derived from the session by a one-way function, so a session without a login
// needs no database row. A page of another site can make a browser send the cookie but cannot read
// it, and so does not know the token.
//
// Over https the session cookie has the prefix __Host-. Browsers accept it only from this host and
// only over https, so neither another subdomain nor an attacker on the network can plant a session.
// Plain http, used on developer machines, does not support such cookies. With a cookie domain,
// whose subdomains share the session and must be trusted, the prefix is __Secure-, which only
// requires https.
const (
	sessionCookie = "tenantry_session"
	browserCookie = "tenantry_browser"
	hostPrefix    = "__Host-"
	securePrefix  = "__Secure-"
	csrfCookie    = "XSRF-TOKEN"
)

// sessionLength is the length of a session secret: 256 bits in base64url.
const sessionLength = 43

// browser holds the cookies of a request and sets new ones.
type browser struct {
	w       http.ResponseWriter
	secure  bool
	domain  string // domain of the cookies; "" is this host only
	mode    bool   // whether the request is in cookie mode
	refused string // Origin that is not first-party, or ""
	session string // session secret, or ""
	key     string // key of the browser while a login is in progress, or ""
}

// browserOf reads the cookies of a request and determines whether it is in cookie mode: it has no
// Authorization header, and its Origin or else its Referer is first-party.
func (a *API) browserOf(w http.ResponseWriter, r *http.Request) *browser {
	b := &browser{w: w, secure: a.cfg.HTTPS, domain: a.cfg.CookieDomain}
	if r.Header.Get("Authorization") != "" {
		return b
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		if u, err := url.Parse(r.Header.Get("Referer")); err == nil && u.Host != "" {
			origin = u.Scheme + "://" + u.Host
		}
	}
	b.mode = origin != "" && a.cfg.FirstPartyOrigin(origin)
	if b.mode && origin == "http://"+r.Host {
		b.secure = false // a sandbox page over http, which cannot store secure cookies
	}
	if !b.mode {
		b.refused = origin
	}
	if c, err := r.Cookie(b.cookieName(sessionCookie)); err == nil && len(c.Value) == sessionLength {
		b.session = c.Value
	}
	if c, err := r.Cookie(b.cookieName(browserCookie)); err == nil {
		b.key = c.Value
	}
	return b
}

// Session returns the secret of the session cookie, or "". It is for handlers that are mounted
// outside the route table.
func (a *API) Session(r *http.Request) string { return a.browserOf(nil, r).session }

// cookieName returns the name of a cookie with the prefix that protects it.
func (b *browser) cookieName(name string) string {
	switch {
	case b.secure && b.domain == "":
		return hostPrefix + name
	case b.secure:
		return securePrefix + name
	}
	return name
}

// IsCookieMode reports whether the caller uses a session cookie instead of tokens.
func (r *Request) IsCookieMode() bool { return r.browser.mode }

// BrowserKey returns the key that identifies the browser while a login is in progress: the key in
// its cookie, or a new one. KeepBrowserKey sets the cookie.
func (r *Request) BrowserKey() string {
	if key := r.browser.key; len(key) == sessionLength {
		return key
	}
	return newSession()
}

// KeepBrowserKey makes the browser keep a key for a time.
func (r *Request) KeepBrowserKey(key string, keep time.Duration) {
	if b := r.browser; b.w != nil && b.mode && key != "" {
		b.setCookie(http.Cookie{Name: b.cookieName(browserCookie), Value: key, HttpOnly: true, MaxAge: int(keep / time.Second)})
	}
}

// Session returns the secret of the session cookie, or "".
func (r *Request) Session() string { return r.browser.session }

// StartSession sets a session cookie and its CSRF token. The browser keeps them for keep, or until
// it is closed if keep is 0.
func (r *Request) StartSession(secret string, keep time.Duration) {
	if r.browser.w != nil {
		r.browser.set(secret, keep)
	}
}

// EndSession replaces the session with a new one without a login.
func (r *Request) EndSession() { r.StartSession(newSession(), 0) }

func newSession() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // crypto/rand never returns an error; it crashes the process instead
	return base64.RawURLEncoding.EncodeToString(secret)
}

func (b *browser) set(session string, keep time.Duration) {
	b.w.Header().Set("Cache-Control", "no-store")
	b.setCookie(http.Cookie{Name: b.cookieName(sessionCookie), Value: session, HttpOnly: true, MaxAge: int(keep / time.Second)})
	b.setCookie(http.Cookie{Name: csrfCookie, Value: csrfToken(session), MaxAge: int(keep / time.Second)})
}

func (b *browser) setCookie(c http.Cookie) {
	c.Path, c.Domain, c.SameSite, c.Secure = "/", b.domain, http.SameSiteLaxMode, b.secure
	http.SetCookie(b.w, &c)
}

func csrfToken(session string) string {
	mac := hmac.New(sha256.New, []byte(session))
	mac.Write([]byte("csrf"))
	return hex.EncodeToString(mac.Sum(nil))
}

// checkCSRF requires the CSRF token of the session for a state-changing request that is in cookie
// mode or authenticated by its cookie. It rejects pages of other origins even with the token.
func (a *API) checkCSRF(r *http.Request) error {
	b := RequestOf(r.Context()).browser
	bySession := b.session != "" && authz.FromContext(r.Context()) != nil
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	given := r.Header.Get("X-Xsrf-Token")
	if given == "" {
		given = r.Header.Get("X-Csrf-Token")
	}
	if b.refused != "" && (given != "" || bySession) {
		return b.originError(a.cfg.PublicURL) // at a login, the page expects cookies but would get tokens, which it ignores
	}
	if !b.mode && !bySession {
		return nil
	}
	if decoded, err := url.QueryUnescape(given); err == nil {
		given = decoded
	}
	if b.session == "" || !hmac.Equal([]byte(given), []byte(csrfToken(b.session))) {
		return errCSRF
	}
	return nil
}

// originError returns the error for pages of an origin that cannot use cookies. The error names an
// address that can.
func (b *browser) originError(publicURL string) error {
	refused := *errOrigin
	refused.Args = map[string]any{"origin": b.refused, "url": publicURL}
	return &refused
}

// csrf handles GET /csrf-cookie. It returns 204 with the cookies of the browser's session, or of a
// new one. The token is also in a header, because a page on another host cannot read the cookie.
// Only pages of first-party origins can read the header.
func (a *API) csrf(w http.ResponseWriter, r *http.Request) {
	b := a.browserOf(w, r)
	session := b.session
	if session == "" {
		session = newSession()
		b.set(session, 0)
	} else {
		// Only the readable cookie is set. The session keeps its lifetime.
		b.setCookie(http.Cookie{Name: csrfCookie, Value: csrfToken(session)})
	}
	w.Header().Set("X-Csrf-Token", csrfToken(session))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}
