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

// Config configures a Server.
type Config struct {
	// DB is the sandbox's own SQLite database, separate from the service's database. Its write
	// transactions must begin immediately (_txlock=immediate) and wait for each other
	// (busy_timeout). It can have any number of connections. New creates the tables, whose names
	// start with stripe_.
	DB *sql.DB
	// Clock is the sandbox's time, which can be moved. It determines the creation time of objects
	// and when timers fire.
	Clock clock.Clock
	// SignatureClock is the real time. The default is the system clock. It is used to sign and
	// retry webhooks, because receivers check signatures against their own clock with a tolerance
	// of five minutes.
	SignatureClock clock.Clock
	// PublicURL is the URL of Handler, without a path, such as http://127.0.0.1:8080.
	PublicURL string
	// Alone serves the API at /v1, as Stripe does, instead of below /sandbox/stripe. It also
	// accepts requests for any API version.
	Alone bool
	// SecretKey is the key that clients must send.
	SecretKey string
	// WebhookURL receives all events, in addition to the endpoints that clients create. It can be
	// empty.
	WebhookURL string
	// WebhookSecret signs the events sent to WebhookURL. It is required if WebhookURL is set.
	WebhookSecret string
	// HTTPClient sends webhooks. By default, requests time out after ten seconds.
	HTTPClient *http.Client
	// Brand is the branding of the customer-facing pages.
	Brand theme.Brand
	// Log receives failed deliveries and internal errors. It can be nil.
	Log *slog.Logger
}

// Server is a payment provider with Stripe's API. It is safe for concurrent use. Only one process
// at a time can use a database.
type Server struct {
	engine  *kernel.Engine
	chaos   *chaos.Control
	root    string // the path prefix of the API
	handler http.Handler
}

// New returns a Server that uses cfg.DB and continues with the state stored there.
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

// Run delivers webhooks and fires timers until ctx ends. It then aborts deliveries in progress,
// which the next Run repeats, and returns nil.
func (s *Server) Run(ctx context.Context) error { return s.engine.Run(ctx) }

// Wake makes Run check both clocks. Call it after moving a clock.
func (s *Server) Wake() { s.engine.Wake() }

// ListUpcoming returns the next scheduled actions, soonest first.
func (s *Server) ListUpcoming(ctx context.Context, limit int) ([]theme.ScheduledAction, error) {
	if err := s.engine.Settle(ctx); err != nil {
		return nil, err
	}
	return dashboard.ListUpcoming(ctx, s.engine.Read(), limit)
}

// LastEvents returns the latest events, newest first.
func (s *Server) LastEvents(ctx context.Context, limit int) ([]theme.Event, error) {
	return dashboard.LastEvents(ctx, s.engine.Read(), limit)
}

// Handler serves the API below /sandbox/stripe/v1, or below /v1 if Config.Alone is set. It also
// serves invoice PDFs below /sandbox/stripe/invoices and /sandbox/stripe/storage, the hosted pages
// below /sandbox/checkout, /sandbox/portal and /sandbox/invoices, the setting
// /sandbox/stripe/dunning, and the fault injection: /sandbox/stripe/chaos, /sandbox/stripe/replay
// and the page /sandbox/chaos.
func (s *Server) Handler() http.Handler { return s.handler }
