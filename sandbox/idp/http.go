package idp

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/tenantry/tenantry/sandbox/theme"
)

// Handler serves everything below /sandbox/idp.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, route := range []struct {
		method, path string
		handle       func(p *Provider, w http.ResponseWriter, r *http.Request)
	}{
		{"GET", "", (*Provider).describe},
		{"GET", "/.well-known/openid-configuration", (*Provider).discovery},
		{"GET", "/jwks", (*Provider).keys},
		{"GET", "/authorize", (*Provider).showConsent},
		{"POST", "/authorize", (*Provider).consent},
		{"POST", "/token", (*Provider).token},
		{"GET", "/userinfo", (*Provider).userInfo},
	} {
		mux.HandleFunc(route.method+" "+Path+route.path, func(w http.ResponseWriter, r *http.Request) { route.handle(p, w, r) })
		mux.HandleFunc(route.method+" "+Path+"/{name}"+route.path, func(w http.ResponseWriter, r *http.Request) {
			named, err := p.ofTenant(r.Context(), r.PathValue("name"))
			if err != nil {
				p.fail(w, err)
				return
			}
			route.handle(named, w, r)
		})
	}
	return mux
}

// describe handles GET /sandbox/idp.
func (p *Provider) describe(w http.ResponseWriter, _ *http.Request) {
	now := p.cfg.Clock.Now()
	err := theme.Write(w, http.StatusOK, p.about, "'self'", struct {
		theme.Frame

		Issuer, Client, Secret, Back string
	}{theme.Frame{Title: "Sign-in", Here: "Sign-in", Now: theme.DescribeTime(now, now)}, p.Issuer(), p.cfg.ClientID, p.shownSecret(), p.shownCallbacks()})
	if err != nil {
		p.fail(w, err)
	}
}

// shownSecret returns the client secret of a tenant's issuer. It returns "" for the provider of all
// tenants, whose secret is configured automatically.
func (p *Provider) shownSecret() string {
	if p.name == "" {
		return ""
	}
	return p.cfg.ClientSecret
}

func (p *Provider) shownCallbacks() string {
	if p.name == "" {
		return strings.Join(p.cfg.RedirectURIs, " ")
	}
	return p.cfg.PublicURL + tenantCallback
}

// discovery returns the provider's metadata (OpenID Connect Discovery 1.0). Endpoints that browsers
// do not visit have the URL at which the service reaches them.
func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	back := p.cfg.BackURL + p.path()
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer":                                p.Issuer(),
		"authorization_endpoint":                p.Issuer() + "/authorize",
		"token_endpoint":                        back + "/token",
		"userinfo_endpoint":                     back + "/userinfo",
		"jwks_uri":                              back + "/jwks",
		"response_types_supported":              []string{"code"},
		"grant_types_supported":                 []string{"authorization_code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{p.key.Algorithm},
		"scopes_supported":                      []string{"openid", "email", "profile"},
		"claims_supported":                      []string{"sub", "email", "email_verified", "name"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"code_challenge_methods_supported":      []string{"S256"},

		"authorization_response_iss_parameter_supported": true,
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{p.key.Public()}})
}

// claims are the claims of an ID token.
type claims struct {
	jwt.Claims
	Nonce           string `json:"nonce,omitempty"`
	AccessTokenHash string `json:"at_hash,omitempty"`
	person
}

type person struct {
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	Name          string `json:"name,omitempty"`
}

func (g grant) person() person {
	return person{Email: g.email, EmailVerified: g.emailVerified, Name: g.name}
}

// token handles POST /sandbox/idp/token (OpenID Connect Core, section 3.1.3).
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		refuseToken(w, http.StatusBadRequest, "invalid_request")
		return
	}
	if !p.isClient(r) {
		w.Header().Set("WWW-Authenticate", `Basic realm="sandbox"`)
		refuseToken(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	if r.PostForm.Get("grant_type") != "authorization_code" {
		refuseToken(w, http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	g, err := p.takeCode(r.Context(), r.PostForm.Get("code"))
	switch {
	case err != nil && !errors.Is(err, errNoGrant):
		p.fail(w, err)
		return
	case err != nil, g.redirectURI != r.PostForm.Get("redirect_uri"), !equal(g.challenge, hash(r.PostForm.Get("code_verifier"))):
		refuseToken(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	accessToken, err := p.store(r.Context(), kindToken, g, tokenLifetime)
	if err != nil {
		p.fail(w, err)
		return
	}
	idToken, err := p.sign(g, accessToken)
	if err != nil {
		p.fail(w, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": accessToken, "token_type": "Bearer", "expires_in": int(tokenLifetime.Seconds()),
		"scope": "openid email profile", "id_token": idToken,
	})
}

// isClient checks the client's secret, in the header or in the form.
func (p *Provider) isClient(r *http.Request) bool {
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	} else { // both are form-encoded (RFC 6749, section 2.3.1)
		var err1, err2 error
		id, err1 = url.QueryUnescape(id)
		secret, err2 = url.QueryUnescape(secret)
		if err1 != nil || err2 != nil {
			return false
		}
	}
	return equal(id, p.cfg.ClientID) && equal(secret, p.cfg.ClientSecret)
}

func (p *Provider) sign(g grant, accessToken string) (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	now := p.cfg.Clock.Now()
	return jwt.Signed(signer).Claims(claims{
		Claims: jwt.Claims{
			Issuer: p.Issuer(), Subject: g.subject(), Audience: jwt.Audience{p.cfg.ClientID},
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(tokenLifetime)),
		},
		Nonce: g.nonce, AccessTokenHash: halfHash(accessToken), person: g.person(),
	}).Serialize()
}

// userInfo handles GET /sandbox/idp/userinfo.
func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	g, err := p.findByToken(r.Context(), token)
	if err != nil && !errors.Is(err, errNoGrant) {
		p.fail(w, err)
		return
	}
	if err != nil || !strings.EqualFold(scheme, "Bearer") {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		refuseToken(w, http.StatusUnauthorized, "invalid_token")
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Subject string `json:"sub"`
		person
	}{g.subject(), g.person()})
}

func refuseToken(w http.ResponseWriter, status int, code string) {
	writeJSON(w, status, map[string]string{"error": code})
}

// fail responds with the error message, because the users of the sandbox are its operators.
func (p *Provider) fail(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "server_error", "message": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
