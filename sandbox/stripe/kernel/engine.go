package kernel

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tenantry/tenantry/sandbox/clock"
)

// Config is what an engine needs. All of it is required but WebhookURL,
// WebhookSecret and HTTPClient.
type Config struct {
	// DB is the database; New creates the tables.
	DB *sql.DB
	// Schema has the statements that create the tables of other packages, if
	// they are missing.
	Schema string
	// Clock dates objects and fires timers.
	Clock clock.Clock
	// RealClock is the real time. It signs and retries webhooks and expires
	// idempotency keys.
	RealClock clock.Clock
	// Site is the URL at which the sandbox is reached, without a path or a
	// trailing slash.
	Site string
	// Root is the path below which the API is served, such as /sandbox/stripe;
	// empty if its paths begin with /v1, as Stripe's do.
	Root string
	// AnyVersion accepts requests for other versions of the API. They are answered
	// in this one, with a header that says so.
	AnyVersion bool
	// SecretKey is what clients of the API must present.
	SecretKey string
	// WebhookURL receives every event, besides the endpoints that clients
	// create; empty for nobody.
	WebhookURL string
	// WebhookSecret signs what is sent to WebhookURL.
	WebhookSecret string
	// HTTPClient sends webhooks; nil for one that gives up after ten seconds.
	HTTPClient *http.Client
	// Log receives failed deliveries and internal errors.
	Log *slog.Logger
	// Deliveries decides how often, how late and in which order the next event
	// is delivered.
	Deliveries func() []Delivery
	// Timers has the action of each kind of timer.
	Timers map[string]Action
	// Lists has the readers of the lists that an object shows only when they
	// are expanded, by the object's type and the field, as in
	// customer.subscriptions.
	Lists map[string]ListReader
}

// Engine keeps the state, runs changes of it in transactions, answers the API,
// fires timers and delivers webhooks. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	writing sync.Mutex    // held during a write transaction
	deliver chan struct{} // signals that there may be events to deliver
	timers  chan struct{} // signals that a timer was set or the clock was moved
}

// New returns an engine on cfg.DB and creates the tables that are missing.
func New(cfg Config) (*Engine, error) {
	// As many idle connections are kept as there are deliveries at once.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: maxDeliveries, IdleConnTimeout: time.Minute}}
	if cfg.HTTPClient != nil {
		*client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.HTTPClient = client
	if _, err := cfg.DB.ExecContext(context.Background(), schema+cfg.Schema); err != nil {
		return nil, fmt.Errorf("create tables: %w", err)
	}
	e := &Engine{cfg: cfg, deliver: make(chan struct{}, 1), timers: make(chan struct{}, 1)}
	if err := e.configureEndpoint(context.Background()); err != nil {
		return nil, fmt.Errorf("configure webhooks: %w", err)
	}
	return e, nil
}

// Run delivers webhooks and fires timers until ctx ends. It then aborts what is
// under way, which the next Run repeats, and returns nil.
func (e *Engine) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { e.runTimers(ctx) })
	both.Go(func() { e.runDeliveries(ctx) })
	both.Wait()
	return nil
}

// Wake makes Run check both clocks. Call it after the clock was moved.
func (e *Engine) Wake() {
	wakeUp(e.timers)
	wakeUp(e.deliver)
}

// Log returns the log for failures that clients are not told about.
func (e *Engine) Log() *slog.Logger { return e.cfg.Log }

// Now returns the sandbox's time.
func (e *Engine) Now() time.Time { return e.cfg.Clock.Now() }

// IsStandalone reports whether the provider runs without the service.
func (e *Engine) IsStandalone() bool { return e.cfg.Root == "" }

// wakeUp sends a signal unless one is already waiting. It never blocks.
func wakeUp(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// pause waits until d has passed or there is a signal. It returns false once
// ctx has ended.
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
