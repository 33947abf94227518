package app

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/app/handbook"
	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/console"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	ui "github.com/tenantry/tenantry/web"
)

// requestTimeout bounds the handling of one request.
const requestTimeout = 30 * time.Second

// newAPI puts the routes of all domains behind one set of guards.
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
		Limiter:             limit.New(limit.Config{Groups: s.RateLimits, Counter: svc.counter, Log: svc.log}),
		ClientIP: func(r *http.Request) string {
			return limit.AddrKey(limit.ClientIP(r, s.TrustedProxies))
		},
		Address:              func(r *http.Request) string { return limit.ClientIP(r, s.TrustedProxies).String() },
		FirstPartyOrigin:     svc.firstParty(),
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
		Book:                 texts.Book(),
	}, routes)
	if err := svc.mountFrontend(api); err != nil {
		return nil, err
	}
	if s.Brand.Logo.Picture != nil {
		api.Mount(brand.LogoPath, s.Brand.Logo.Handler())
	}
	return api, nil
}

// hasConsole reports whether the service shows the web console.
func (svc *service) hasConsole() bool { return ui.Included && !svc.settings.NoConsole }

// mountFrontend serves the page that ends delegated logins and the console. Without a console the
// service has plain pages where there is no frontend: no link in a mail leads nowhere.
func (svc *service) mountFrontend(api *rest.API) error {
	s := svc.settings
	own := svc.frontend.URL == svc.publicURL
	popup, err := oauth.Popup(svc.frontend, own, s.Brand, svc.publicURL)
	if err != nil {
		return err
	}
	callback := svc.frontend.Path(frontend.OAuthCallback)
	api.Mount(callback, popup)
	api.Mount(callback+".js", popup)
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
	return nil
}

// mountConsole serves the web console.
func (svc *service) mountConsole(api *rest.API, own bool) error {
	pages, err := console.New(console.Config{
		Files: ui.Files(), Addresses: svc.frontend, Own: own, PublicURL: svc.publicURL, Brand: svc.settings.Brand,
		Sandbox: svc.sandboxed,
	})
	if err != nil {
		return err
	}
	pages.Mount(api.Mount)
	return nil
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

// firstParty returns what reports whether a browser's Origin is the frontend's, that of
// another first-party host, reached by the frontend's scheme, or the console's. Only exactly these origins
// count: a page at http beside a frontend at https may be anybody's who sits on the
// network (rules: http#headers). In the sandbox every page of this machine is first-party, by
// whatever name and port: nobody else can have one.
func (svc *service) firstParty() func(origin string) bool {
	s := svc.settings
	origins := []string{originOf(s.FrontendURL.Scheme, s.FrontendURL.Host)}
	for _, host := range s.FirstPartyHosts {
		origins = append(origins, originOf(s.FrontendURL.Scheme, host))
	}
	if svc.hasConsole() {
		origins = append(origins, originOf(s.PublicURL.Scheme, s.PublicURL.Host))
	}
	return func(origin string) bool {
		return slices.Contains(origins, strings.ToLower(origin)) || svc.sandboxed && local(origin)
	}
}

// local reports whether an origin is a page of this machine.
func local(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || origin != u.Scheme+"://"+u.Host {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// originOf returns an origin as browsers write it: in lower case, without the port that
// the scheme has anyway.
func originOf(scheme, host string) string {
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	return strings.ToLower(scheme + "://" + host)
}
