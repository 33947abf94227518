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

// Cookie mode is how the first-party frontend logs in (rules: http#cookie-mode): a
// session cookie that scripts cannot read, and a CSRF token that they can, which
// each state-changing request must repeat in a header.
//
// The CSRF token is derived from the session by a one-way function. So a session that
// nobody is logged in with needs no row in the database. A page of another site can
// make a browser send the cookie but cannot read it, so it does not know the token.
//
// Under https the session's cookie has the prefix __Host-: browsers take it from this host
// alone and over https alone, so neither another subdomain nor somebody on the way can
// plant a session. Plain http, on a developer's machine, has no such cookies. With a cookie
// domain, whose subdomains share the session and so have to be trusted, the prefix is
// __Secure-: over https alone.
const (
	sessionCookie = "tenantry_session"
	hostPrefix    = "__Host-"
	securePrefix  = "__Secure-"
	csrfCookie    = "XSRF-TOKEN"
)

// sessionLength is the length of a session's secret: 256 bits in base64url.
const sessionLength = 43

// browser has the cookies of a request, and sets new ones.
type browser struct {
	w       http.ResponseWriter
	secure  bool
	domain  string // of the cookies; "" is this host alone
	mode    bool   // whether the request is in cookie mode
	refused string // the origin that is not first-party; "" is none
	session string // "" is none
}

// browserOf reads the cookies of a request and decides whether it is in cookie mode:
// without Authorization, and with a first-party host as Origin or else Referer.
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
		b.secure = false // a sandbox's own page at http, which could not store a secure cookie
	}
	if !b.mode {
		b.refused = origin
	}
	if c, err := r.Cookie(b.sessionCookie()); err == nil && len(c.Value) == sessionLength {
		b.session = c.Value
	}
	return b
}

// Session returns the secret of the request's session cookie, for handlers that are mounted beside
// the routes; "" without one.
func (a *API) Session(r *http.Request) string { return a.browserOf(nil, r).session }

// sessionCookie returns the name of the cookie with the session.
func (b *browser) sessionCookie() string {
	switch {
	case b.secure && b.domain == "":
		return hostPrefix + sessionCookie
	case b.secure:
		return securePrefix + sessionCookie
	}
	return sessionCookie
}

// IsCookieMode reports whether the caller gets a session instead of tokens.
func (r *Request) IsCookieMode() bool { return r.browser.mode }

// Session returns the secret of the session cookie; "" without one.
func (r *Request) Session() string { return r.browser.session }

// StartSession sets a session cookie and the CSRF token that belongs to it. The
// browser keeps it for keep, with 0 until it is closed.
func (r *Request) StartSession(secret string, keep time.Duration) {
	if r.browser.w != nil {
		r.browser.set(secret, keep)
	}
}

// EndSession replaces the session by a new one without a login.
func (r *Request) EndSession() { r.StartSession(newSession(), 0) }

func newSession() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails: crypto/rand ends the process instead
	return base64.RawURLEncoding.EncodeToString(secret)
}

func (b *browser) set(session string, keep time.Duration) {
	b.w.Header().Set("Cache-Control", "no-store")
	b.setCookie(http.Cookie{Name: b.sessionCookie(), Value: session, HttpOnly: true, MaxAge: int(keep / time.Second)})
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

// checkCSRF requires the token of the session from a request that changes something,
// if it is in cookie mode or its cookie authenticates it.
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
	if !b.mode && !bySession {
		if given != "" && b.refused != "" {
			return b.originError(a.cfg.PublicURL) // the page expects cookies and would get tokens, which it ignores
		}
		return nil
	}
	if decoded, err := url.QueryUnescape(given); err == nil {
		given = decoded
	}
	if b.session == "" || !hmac.Equal([]byte(given), []byte(csrfToken(b.session))) {
		if b.refused != "" {
			return b.originError(a.cfg.PublicURL)
		}
		return errCSRF
	}
	return nil
}

// originError says that pages of the refused origin cannot use cookies, and which address can.
func (b *browser) originError(publicURL string) error {
	refused := *errOrigin
	refused.Args = map[string]any{"origin": b.refused, "url": publicURL}
	return &refused
}

// csrf answers GET /csrf-cookie: 204 with the cookies of a session, the one that
// the browser has or a new one. The token is in a header too: a page on another host than the
// service cannot read the cookie, and only pages of first-party origins can read the header.
func (a *API) csrf(w http.ResponseWriter, r *http.Request) {
	b := a.browserOf(w, r)
	session := b.session
	if session == "" {
		session = newSession()
		b.set(session, 0)
	} else {
		// Only the readable cookie is set: the session keeps its lifetime.
		b.setCookie(http.Cookie{Name: csrfCookie, Value: csrfToken(session)})
	}
	w.Header().Set("X-Csrf-Token", csrfToken(session))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}
