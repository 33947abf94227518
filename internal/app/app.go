// Package app puts the service together: the wiring of the domains, everything
// that runs in the background, the route table, and the life of the process.
package app

import (
	"log/slog"
	"net/netip"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/app/collectors"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// environment is the world beyond the service: real in production, the sandbox's
// in dev. The service cannot tell which.
type environment struct {
	clock          clock.Clock
	pspKey         settings.Secret
	pspBaseURL     string // "" is the provider's own
	pspFileHosts   []string
	pspDashboard   string // where the provider's pages about the account are; "" are its own
	webhookSecrets []string
	sender         mail.Sender
	logins         []oauth.Provider
	// reachable are the private networks that URLs from outside may lead to: the
	// sandbox's own, none in production.
	reachable []netip.Prefix
	// unlogged are the beginnings of paths whose requests are not logged: what the sandbox
	// talks about with itself, none in production.
	unlogged  []string
	sandboxed bool // whether all of it is the sandbox's
}

// service is the whole service, on one database.
type service struct {
	*platform
	*domains

	api         *rest.API
	environment environment
	sandboxed   bool
}

// newService builds the service, which does nothing yet: process runs it. s must
// know its public URL.
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
	collectors.Register(svc.metrics, collectors.Sources{
		DB: db, Jobs: svc.jobs, Inbox: svc.receiver, Hooks: svc.hooks, Reporter: svc.reporter, Log: log,
	})
	svc.api, err = svc.newAPI()
	return svc, err
}
