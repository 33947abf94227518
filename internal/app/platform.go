package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/frontend"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/metrics"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats"
	"github.com/tenantry/tenantry/internal/tracing"
)

// platform holds the dependencies that all domains share.
type platform struct {
	settings settings.Settings
	log      *slog.Logger
	db       *sqldb.DB
	clock    clock.Clock
	jobs     *jobs.Queue
	metrics  *metrics.Metrics
	tracer   *tracing.Tracer // nil if tracing is off
	messages *i18n.Catalog
	provider *psp.Client
	receiver *inbox.Receiver
	calls    *stats.CallMonitor // statistics of calls to the provider
	outbox   *mail.Outbox
	letters  *letters.Letters
	counter  limit.Counter // for rate limits; nil counts in memory
	unlogged []string      // see environment

	// firstParty reports whether an origin is first-party.
	firstParty func(origin string) bool

	publicURL string             // without a trailing slash
	frontend  frontend.Addresses // the frontend's pages

	close func() error // releases resources other than the database, after the last request
}

func newPlatform(s settings.Settings, db *sqldb.DB, out environment, log *slog.Logger) (*platform, error) {
	p := &platform{
		settings: s, log: log, db: db, clock: out.clock,
		metrics:   metrics.New(clock.System()),
		calls:     stats.NewCalls(clock.System()),
		unlogged:  out.unlogged,
		publicURL: strings.TrimSuffix(s.PublicURL.String(), "/"),
		frontend:  s.Addresses(),
		close:     func() error { return nil },
	}
	p.metrics.Build(Version(), revision(), runtime.Version(), string(db.Dialect()))
	if db.ObserveCommits(p.metrics.CommitWaited, p.metrics.RecordCommit) {
		p.metrics.ObserveCommits()
	}
	p.firstParty = p.firstPartyOrigins(out.sandboxed)
	var err error
	if s.Traces {
		if p.tracer, err = tracing.New(context.Background(), Version(), os.Getenv, log); err != nil {
			return nil, err
		}
		db.Trace(p.tracer)
	}
	if p.messages, err = i18n.Load(); err != nil {
		return nil, err
	}
	p.messages.RestrictTo(s.OfferedLocales())
	p.provider, err = psp.NewClient(psp.Config{
		SecretKey: out.pspKey.Reveal(), BaseURL: out.pspBaseURL, Log: log,
		Observe: p.observeCall, Decimals: currency.Decimals(db),
	})
	if err != nil {
		return nil, fmt.Errorf("payment provider: %w", err)
	}
	if s.RedisURL != "" {
		redis, err := limit.NewRedis(s.RedisURL.Reveal())
		if err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		p.counter, p.close = redis, redis.Close
	}
	p.jobs = jobs.New(jobs.Deps{DB: db, Clock: p.clock, Lease: clock.System(), Log: log, Observe: p.metrics.Job, Tracer: p.tracer})
	p.receiver, err = inbox.NewReceiver(inbox.ReceiverDeps{
		DB: db, Jobs: p.jobs, Client: p.provider, Clock: p.clock, Secrets: out.webhookSecrets, Log: log,
	})
	if err != nil {
		return nil, err
	}
	p.outbox = mail.NewOutbox(p.jobs, out.sender)
	p.letters, err = letters.New(letters.Config{
		FrontendURL: p.frontend.URL, Paths: p.frontend.Paths, PublicURL: p.publicURL, Brand: s.Brand, Templates: s.Templates, Locales: s.Locales, Optional: s.OptionalMails, Practice: s.StripeURL != nil, Passwordless: !s.AllowsLogin(settings.PasswordLogin), Outbox: p.outbox, Clock: p.clock, Log: log,
	})
	return p, err
}

// observeCall counts and traces a call to the payment provider.
func (p *platform) observeCall(ctx context.Context, operation string) (context.Context, func(outcome string)) {
	count := p.metrics.ProviderCall(operation)
	ctx, end := p.tracer.Call(ctx, "stripe", operation)
	remember := p.calls.Begin()
	return ctx, func(outcome string) { count(outcome); end(outcome); remember(outcome) }
}
