package stripe

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/stripe/chaos"
	"github.com/tenantry/tenantry/sandbox/stripe/dashboard"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/meters"
	"github.com/tenantry/tenantry/sandbox/stripe/portal"
	"github.com/tenantry/tenantry/sandbox/theme"
)

// Config is what a Server needs.
type Config struct {
	// DB is the sandbox's own SQLite database, separate from the service's. Its
	// write transactions must begin immediately (_txlock=immediate) and wait
	// for each other (busy_timeout); any number of connections will do. New
	// creates the tables, whose names begin with stripe_.
	DB *sql.DB
	// Clock is the sandbox's time, which can be moved. It dates objects and
	// fires timers.
	Clock clock.Clock
	// SignatureClock is the real time; nil is the machine's. It signs and
	// retries webhooks, because receivers check signatures against their own
	// clock with a tolerance of five minutes.
	SignatureClock clock.Clock
	// PublicURL is where Handler is reached, without a path, such as
	// http://127.0.0.1:8080.
	PublicURL string
	// Alone serves the API at /v1, as Stripe does, instead of below
	// /sandbox/stripe, and to clients of any version of it.
	Alone bool
	// SecretKey is the key that clients must present.
	SecretKey string
	// WebhookURL receives every event, besides the endpoints that clients
	// create; empty for nobody.
	WebhookURL string
	// WebhookSecret signs what is sent to WebhookURL, which requires it.
	WebhookSecret string
	// HTTPClient sends webhooks; nil for one that gives up after ten seconds.
	HTTPClient *http.Client
	// Brand is how the pages that customers see look.
	Brand theme.Brand
	// Log receives failed deliveries and internal errors; nil for none.
	Log *slog.Logger
}

// Server is a payment provider that speaks Stripe's API. It is safe for
// concurrent use; one process at a time may use a database.
type Server struct {
	engine  *kernel.Engine
	chaos   *chaos.Control
	root    string // the path of the API
	handler http.Handler
}

// New returns a Server on cfg.DB and continues with the state that an earlier
// one left there.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
	if cfg.SignatureClock == nil {
		cfg.SignatureClock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	draws := chaos.NewDice()
	root := kernel.OwnRoot
	if cfg.Alone {
		root = ""
	}
	e, err := kernel.New(kernel.Config{
		DB: cfg.DB, Schema: meters.Schema, Clock: cfg.Clock, RealClock: cfg.SignatureClock,
		Site: strings.TrimSuffix(cfg.PublicURL, "/"), Root: root, AnyVersion: cfg.Alone, SecretKey: cfg.SecretKey,
		WebhookURL: cfg.WebhookURL, WebhookSecret: cfg.WebhookSecret, HTTPClient: cfg.HTTPClient, Log: cfg.Log,
		Deliveries: draws.NextEvent, Timers: timers(), Lists: lists(),
	})
	if err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
	s := &Server{engine: e, root: root}
	for _, prepare := range []func(context.Context, *kernel.Step) error{portal.Install, invoices.MoveLinks} {
		if err := e.Write(context.Background(), prepare); err != nil {
			return nil, fmt.Errorf("stripe sandbox: %w", err)
		}
	}
	if s.chaos, err = chaos.New(context.Background(), e, draws); err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
	s.handler = s.newHandler(cfg)
	return s, nil
}

func (cfg Config) check() error {
	switch public, err := url.Parse(cfg.PublicURL); {
	case cfg.DB == nil || cfg.Clock == nil:
		return errors.New("needs a database and a clock")
	case err != nil || public.Host == "" || strings.Trim(public.Path, "/") != "":
		return fmt.Errorf("public URL %q must be absolute and without a path", cfg.PublicURL)
	case cfg.SecretKey == "":
		return errors.New("needs a secret key")
	case cfg.WebhookURL != "" && cfg.WebhookSecret == "":
		return errors.New("webhooks need a secret")
	}
	return nil
}

// Run delivers webhooks and fires timers until ctx ends. It then aborts what is
// under way, which the next Run repeats, and returns nil.
func (s *Server) Run(ctx context.Context) error { return s.engine.Run(ctx) }

// Wake makes Run check both clocks. Call it after the clock was moved.
func (s *Server) Wake() { s.engine.Wake() }

// ListUpcoming returns what happens next by itself, the soonest first.
func (s *Server) ListUpcoming(ctx context.Context, limit int) ([]theme.Upcoming, error) {
	if err := s.engine.Settle(ctx); err != nil {
		return nil, err
	}
	return dashboard.ListUpcoming(ctx, s.engine.Read(), limit)
}

// LastEvents returns what happened last, the newest first.
func (s *Server) LastEvents(ctx context.Context, limit int) ([]theme.Event, error) {
	return dashboard.LastEvents(ctx, s.engine.Read(), limit)
}

// Handler serves the API below /sandbox/stripe/v1, or /v1 if it is alone; the PDFs
// of invoices below /sandbox/stripe/invoices and /sandbox/stripe/storage; the hosted
// pages below /sandbox/checkout, /sandbox/portal and /sandbox/invoices; the setting
// /sandbox/stripe/dunning, and what makes the provider misbehave:
// /sandbox/stripe/chaos, /sandbox/stripe/replay and the page /sandbox/chaos.
func (s *Server) Handler() http.Handler { return s.handler }
