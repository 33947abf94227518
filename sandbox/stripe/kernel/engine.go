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

// Config configures an engine. WebhookURL, WebhookSecret and HTTPClient are optional.
type Config struct {
	// DB is the database. New creates the tables.
	DB *sql.DB
	// Schema contains the statements that create the missing tables of other packages.
	Schema string
	// Clock determines the creation time of objects and when timers fire.
	Clock clock.Clock
	// RealClock is the real time. It is used to sign and retry webhooks and to expire idempotency
	// keys.
	RealClock clock.Clock
	// Site is the public URL of the sandbox, without a path or a trailing slash.
	Site string
	// Root is the path prefix of the API, such as /sandbox/stripe. It is empty if the paths start
	// with /v1, like Stripe's.
	Root string
	// AnyVersion accepts requests for other API versions. The response uses APIVersion and has a
	// header that says so.
	AnyVersion bool
	// SecretKey is the key that API clients must send.
	SecretKey string
	// WebhookURL receives all events, in addition to the endpoints that clients create. It can be
	// empty.
	WebhookURL string
	// WebhookSecret signs the events sent to WebhookURL.
	WebhookSecret string
	// HTTPClient sends webhooks. By default, requests time out after ten seconds.
	HTTPClient *http.Client
	// Log receives failed deliveries and internal errors.
	Log *slog.Logger
	// Deliveries returns the deliveries of the next event: their number, delay and order.
	Deliveries func() []Delivery
	// Timers maps the kinds of timers to their actions.
	Timers map[string]Action
	// Lists contains the readers of the lists that are returned only when they are expanded. The
	// keys are the object's type and the field, as in customer.subscriptions.
	Lists map[string]ListReader
}

// Engine stores the state, changes it in transactions, serves the API, fires timers and delivers
// webhooks. It is safe for concurrent use.
type Engine struct {
	cfg     Config
	writing sync.Mutex    // held during a write transaction
	deliver chan struct{} // signals that events may be queued
	timers  chan struct{} // signals that a timer was set or the clock was moved
}

// New returns an engine that uses cfg.DB. It creates missing tables.
func New(cfg Config) (*Engine, error) {
	// Keep an idle connection for each concurrent delivery.
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

// Run delivers webhooks and fires timers until ctx ends. It then aborts deliveries in progress,
// which the next Run repeats, and returns nil.
func (e *Engine) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { e.runTimers(ctx) })
	both.Go(func() { e.runDeliveries(ctx) })
	both.Wait()
	return nil
}

// Wake makes Run check both clocks. Call it after moving a clock.
func (e *Engine) Wake() {
	wakeUp(e.timers)
	wakeUp(e.deliver)
}

// Log returns the log for failures that are not reported to clients.
func (e *Engine) Log() *slog.Logger { return e.cfg.Log }

// Now returns the sandbox's time.
func (e *Engine) Now() time.Time { return e.cfg.Clock.Now() }

// IsStandalone reports whether the provider runs without the service.
func (e *Engine) IsStandalone() bool { return e.cfg.Root == "" }

// wakeUp sends a signal unless one is pending. It never blocks.
func wakeUp(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// pause waits for d or for a signal. It returns false if ctx has ended.
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
