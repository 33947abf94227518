package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// requestTimeout bounds the handling of one request.
const requestTimeout = 30 * time.Second

// newAPI puts the routes of all domains behind one set of guards.
func (svc *service) newAPI() (*rest.API, error) {
	s := svc.settings
	api := rest.New(rest.Config{
		Messages:            svc.messages,
		Log:                 svc.log,
		Clock:               clock.System(),
		Authenticate:        svc.accounts.Authenticate,
		AuthenticateSession: svc.accounts.AuthenticateSession,
		AuthenticateKey:     svc.apiKeys.Authenticate,
		Limiter:             limit.New(limit.Config{Groups: s.RateLimits, Counter: svc.counter, Log: svc.log}),
		ClientIP: func(r *http.Request) string {
			return limit.AddrKey(limit.ClientIP(r, s.TrustedProxies))
		},
		Address:              func(r *http.Request) string { return limit.ClientIP(r, s.TrustedProxies).String() },
		FirstPartyOrigin:     firstParty(s.FrontendURL, s.FirstPartyHosts),
		RequireVerifiedEmail: s.RequireVerifiedEmail,
		HTTPS:                s.PublicURL.Scheme == "https",
		CookieDomain:         s.CookieDomain,
		PublicURL:            s.PublicURL.String(),
		Version:              "v1",
		Events:               events(),
		Outage:               outage,
		Timeout:              requestTimeout,
		Unlogged:             svc.unlogged,
		Observe:              svc.metrics.Request,
		Tracer:               svc.tracer,
		Panicked:             svc.metrics.Panicked,
	}, svc.routes())
	popup, err := oauth.Popup(s.FrontendURL.String(), s.Brand, svc.publicURL)
	if err != nil {
		return nil, err
	}
	api.Mount("/oauth/callback", popup)
	api.Mount("/oauth/callback.js", popup)
	if s.Brand.Logo.Picture != nil {
		api.Mount(brand.LogoPath, s.Brand.Logo.Handler())
	}
	return api, nil
}

// The refusals of what needs a database that cannot work for now.
var (
	errAway = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}
	errFull = &fault.Error{Kind: fault.Unavailable, Code: fault.StorageFull, Message: "error.storage_full", RetryAfter: time.Minute}
)

// outage returns the refusal for an error of a database that is away or whose disk is
// full (rules: http#errors).
func outage(err error) *fault.Error {
	switch {
	case sqldb.IsFull(err):
		return errFull
	case sqldb.IsUnavailable(err):
		return errAway
	default:
		return nil
	}
}

// firstParty returns what reports whether a browser's Origin is the frontend's or that of
// another first-party host, reached by the frontend's scheme. Only exactly these origins
// count: a page at http beside a frontend at https may be anybody's who sits on the
// network (rules: http#headers).
func firstParty(frontend *url.URL, hosts []string) func(origin string) bool {
	origins := []string{originOf(frontend.Scheme, frontend.Host)}
	for _, host := range hosts {
		origins = append(origins, originOf(frontend.Scheme, host))
	}
	return func(origin string) bool { return slices.Contains(origins, strings.ToLower(origin)) }
}

// originOf returns an origin as browsers write it: in lower case, without the port that
// the scheme has anyway.
func originOf(scheme, host string) string {
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return strings.ToLower(scheme + "://" + host)
}
