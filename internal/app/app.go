// Package app assembles the service: it connects the domains, registers the background work and the
// route table, and runs the process.
package app

import (
	"log/slog"
	"net/netip"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant/domain"
)

// environment holds the external dependencies: real services in production, the sandbox in dev. The
// code of the service does not distinguish them.
type environment struct {
	clock          clock.Clock
	pspKey         settings.Secret
	pspBaseURL     string                  // "" is the provider's default
	documents      invoices.DocumentConfig // where the provider serves invoice documents
	pspDashboard   string                  // base URL of the provider's dashboard; "" is the provider's default
	webhookSecrets []string
	sender         mail.Sender
	logins         []oauth.Provider
	// reachable are the private networks that user-supplied URLs can point to: the sandbox's
	// network in dev, none in production.
	reachable []netip.Prefix
	// resolver looks up the DNS records of the domains of tenants; nil is the system's resolver.
	resolver domain.Resolver
	// unlogged are path prefixes whose requests are not logged: the sandbox's own traffic in dev,
	// none in production.
	unlogged []string
	// secrets protects secrets in the database. It is nil in most commands, which neither store nor
	// read secrets.
	secrets   *secrets.Key
	sandboxed bool // whether the sandbox replaces all dependencies
}

// service is the complete service on one database.
type service struct {
	*platform
	*domains

	api         *rest.API
	environment environment
	sandboxed   bool
}

// newService builds the service without starting it; a process runs it. s must contain the public
// URL.
func newService(s settings.Settings, db *sqldb.DB, out environment, log *slog.Logger) (*service, error) {
	platform, err := newPlatform(s, db, out, log)
	if err != nil {
		return nil, err
	}
	domains, err := newDomains(platform, out)
	if err != nil {
		return nil, err
	}
	svc := &service{platform: platform, domains: domains, environment: out, sandboxed: out.sandboxed}
	svc.registerBackground()
	registerMetrics(svc.metrics, metricSources{
		DB: db, Jobs: svc.jobs, Inbox: svc.receiver, Hooks: svc.hooks, Reporter: svc.reporter, Log: log,
	})
	svc.api, err = svc.newAPI()
	return svc, err
}
