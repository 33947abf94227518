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
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Config is what a Server needs.
type Config struct {
	// DB is the sandbox's own SQLite database, apart from the service's. Write
	// transactions must begin immediately (_txlock=immediate) and wait for each
	// other (busy_timeout); one connection or many both do. All tables begin
	// with stripe_ and are made by New.
	DB *sql.DB
	// Clock is the sandbox's time, which may be moved: objects are dated by it,
	// and what is due happens by it.
	Clock clock.Clock
	// SignatureClock is the real time; nil is the machine's. Webhooks are
	// signed, and retried, by it, because receivers hold the signature against
	// their own clock, with five minutes of tolerance.
	SignatureClock clock.Clock
	// PublicURL is where Handler is reached, without a path, such as
	// http://127.0.0.1:8080.
	PublicURL string
	// SecretKey is the key that clients must present.
	SecretKey string
	// WebhookURL gets every event; empty for nobody.
	WebhookURL string
	// WebhookSecret signs what is sent to WebhookURL, which requires it.
	WebhookSecret string
	// HTTPClient sends webhooks; nil is one that gives up after ten seconds.
	HTTPClient *http.Client
	// Log gets failed deliveries and internal errors; nil is slog.Default.
	Log *slog.Logger
}

// Server is a payment provider that speaks Stripe's API. It is safe for
// concurrent use; one process at a time may use a database.
type Server struct {
	cfg     Config
	pages   pages
	chaos   chaos
	writing sync.Mutex    // held by a write transaction
	deliver chan struct{} // there may be events to deliver
	timers  chan struct{} // there may be timers to set, or due
}

// New returns a Server on cfg.DB, with what an earlier one left there.
func New(cfg Config) (*Server, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	if cfg.SignatureClock == nil {
		cfg.SignatureClock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	// As many connections are kept as are used at once.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: maxDeliveries, IdleConnTimeout: time.Minute}}
	if cfg.HTTPClient != nil {
		*client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.HTTPClient = client
	pages, err := newPages()
	if err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
	if _, err := cfg.DB.ExecContext(context.Background(), schema); err != nil {
		return nil, fmt.Errorf("stripe sandbox: create tables: %w", err)
	}
	s := &Server{cfg: cfg, pages: pages, deliver: make(chan struct{}, 1), timers: make(chan struct{}, 1)}
	s.chaos.use(quiet())
	if err := s.loadChaos(context.Background()); err != nil {
		return nil, fmt.Errorf("stripe sandbox: %w", err)
	}
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

// Run delivers webhooks and lets happen what is due, until ctx ends. It then
// breaks off what is under way, which the next Run repeats, and returns nil.
func (s *Server) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { s.runTimers(ctx) })
	both.Go(func() { s.runDeliveries(ctx) })
	both.Wait()
	return nil
}

// Wake makes Run look at the clocks again. Call it after the clock was moved.
func (s *Server) Wake() {
	poke(s.timers)
	poke(s.deliver)
}

// poke signals without waiting; one signal that was not yet seen is enough.
func poke(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// pause waits for a signal, for the time to pass, or for ctx to end, of which
// it reports false.
func pause(ctx context.Context, d time.Duration, signal <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-signal:
	}
	return true
}
