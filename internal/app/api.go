package app

import (
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/tenantry/tenantry"
	parts "github.com/tenantry/tenantry/clients/elements"
	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/app/handbook"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/console"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/guides"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	ui "github.com/tenantry/tenantry/web"
)

// requestTimeout bounds the handling of one request.
const requestTimeout = 30 * time.Second

// newAPI creates the API with the routes of all domains, behind one set of guards.
func (svc *service) newAPI() (*rest.API, error) {
	s, texts := svc.settings, handbook.Read()
	routes := svc.routes()
	for i, r := range routes {
		routes[i].Entry = texts.Entry(r.Method, r.Path)
	}
	api := rest.New(rest.Config{
		Messages:            svc.messages,
		Log:                 svc.log,
		Clock:               clock.System(),
		Authenticate:        svc.accounts.Authenticate,
		AuthenticateSession: svc.accounts.AuthenticateSession,
		AuthenticateKey:     svc.apiKeys.Authenticate,
		LogImpersonationEnd: svc.impersonation.LogEnd,
		Limiter:             limit.New(limit.Config{Groups: s.RateLimits, Counter: svc.counter, Log: svc.log}),
		ClientIP: func(r *http.Request) string {
			return limit.AddrKey(limit.ClientIP(r, s.TrustedProxies))
		},
		Address:              svc.clientAddress,
		FirstPartyOrigin:     svc.firstParty,
		RequireVerifiedEmail: s.RequireVerifiedEmail,
		AdminRequireMFA:      s.AdminRequireMFA,
		HTTPS:                s.PublicURL.Scheme == "https",
		CookieDomain:         s.CookieDomain,
		PublicURL:            s.PublicURL.String(),
		Version:              "v1",
		Events:               events(),
		Outage:               outage,
		Timeout:              requestTimeout,
		Idempotency:          svc.idempotency,
		Unlogged:             svc.unlogged,
		Observe:              svc.metrics.Request,
		Record:               svc.recordRequest(),
		Tracer:               svc.tracer,
		Panicked:             svc.metrics.CountPanic,
		Book:                 texts.Book(),
	}, routes)
	if err := svc.mountFrontend(api); err != nil {
		return nil, err
	}
	guides.New(guides.Config{Texts: tenantry.Texts, Fonts: ui.Files(), Description: api.Document}).Mount(api.Mount)
	if s.Brand.Logo.Picture != nil {
		api.Mount(brand.LogoPath, s.Brand.Logo.Handler())
	}
	return api, nil
}

// recordRequest returns the function that records requests, or nil if the log is off.
func (svc *service) recordRequest() func(*http.Request, *authz.Caller, string, int, string, time.Duration) {
	if svc.settings.RequestLogDuration() == 0 {
		return nil
	}
	return svc.requestLog.Record
}

// clientAddress returns the address of the client of a request.
func (p *platform) clientAddress(r *http.Request) string {
	return limit.ClientIP(r, p.settings.TrustedProxies).String()
}

// hasConsole reports whether the service shows the web console.
func (p *platform) hasConsole() bool { return ui.Included && !p.settings.NoConsole }

// firstPartyOrigins returns a function that reports whether an origin is first-party.
func (p *platform) firstPartyOrigins(sandboxed bool) func(origin string) bool {
	s := p.settings
	var own *url.URL // the console's origin; nil without a console
	if p.hasConsole() {
		own = s.PublicURL
	}
	var ours func(netip.Addr) bool
	if sandboxed {
		ours = frontend.ThisMachine(s.Addr)
	}
	return frontend.FirstParty(s.FrontendURL, s.FirstPartyHosts, own, ours)
}

// mountFrontend serves the page that completes delegated logins, and the console. If there is
// neither a console nor a separate frontend, it serves plain pages, so every link in a mail works.
func (svc *service) mountFrontend(api *rest.API) error {
	s := svc.settings
	own := svc.frontend.URL == svc.publicURL
	signIn := ""
	if svc.hasConsole() {
		signIn = svc.publicURL + "/sign-in"
	}
	popup, err := oauth.Popup(svc.frontend, own, signIn, s.Brand, svc.publicURL)
	if err != nil {
		return err
	}
	callback := svc.frontend.Path(frontend.OAuthCallback)
	api.Mount(callback, popup)
	api.Mount(callback+".js", popup)
	if parts.Included {
		api.Mount(console.ElementsPath, console.ServeElements(parts.Files()))
	}
	if svc.hasConsole() {
		return svc.mountConsole(api, own)
	}
	if !own {
		return nil
	}
	pages, err := frontend.NewPages(frontend.Config{Addresses: svc.frontend, PublicURL: svc.publicURL, Brand: s.Brand})
	if err != nil {
		return err
	}
	pages.Mount(api.Mount)
	api.MountNotFound(http.HandlerFunc(pages.ServeNotFound))
	return nil
}

// mountConsole serves the web console. own reports that there is no separate frontend.
func (svc *service) mountConsole(api *rest.API, own bool) error {
	pages, err := console.New(console.Config{
		Files: ui.Files(), Addresses: svc.frontend, Own: own, PublicURL: svc.publicURL, Brand: svc.settings.Brand,
		Sandbox: svc.sandboxed, Practice: !svc.sandboxed && svc.settings.StripeURL != nil,
	})
	if err != nil {
		return err
	}
	pages.Mount(api.Mount)
	api.MountNotFound(http.HandlerFunc(pages.ServeNotFound))
	return nil
}

// The responses to requests that need an unavailable database.
var (
	errAway = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}
	errFull = &fault.Error{Kind: fault.Unavailable, Code: fault.StorageFull, Message: "error.storage_full", RetryAfter: time.Minute}
)

// outage returns the response to a database error if the database is unavailable or its disk is
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
