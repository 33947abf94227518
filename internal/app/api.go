package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
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
		Limiter:             limit.New(limit.Config{Groups: s.RateLimits, Counter: svc.counter, Log: svc.log}),
		ClientIP: func(r *http.Request) string {
			return limit.AddrKey(limit.ClientIP(r, s.TrustedProxies))
		},
		Address:          func(r *http.Request) string { return limit.ClientIP(r, s.TrustedProxies).String() },
		FirstPartyOrigin: firstParty(s.FirstPartyHosts),
		HTTPS:            s.PublicURL.Scheme == "https",
		PublicURL:        s.PublicURL.String(),
		Version:          "v1",
		Timeout:          requestTimeout,
		Observe:          svc.metrics.Request,
	}, svc.routes())
	popup, err := oauth.Popup(s.FrontendURL.String())
	if err != nil {
		return nil, err
	}
	api.Mount("/oauth/callback", popup)
	api.Mount("/oauth/callback.js", popup)
	return api, nil
}

// firstParty returns what reports whether a browser's Origin is one of the hosts.
// A host is compared with its port; http and https both count.
func firstParty(hosts []string) func(origin string) bool {
	return func(origin string) bool {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			return false
		}
		return slices.Contains(hosts, strings.ToLower(u.Host))
	}
}
