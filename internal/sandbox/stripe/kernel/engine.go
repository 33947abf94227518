package kernel

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Config is what an engine needs. All of it is required but WebhookURL,
// WebhookSecret and HTTPClient.
type Config struct {
	// DB keeps everything; see schema for the tables.
	DB *sql.DB
	// Schema creates the tables that other packages need, if they are missing.
	Schema string
	// Clock dates objects and fires timers.
	Clock clock.Clock
	// RealClock signs webhooks, retries them and forgets idempotency keys.
	RealClock clock.Clock
	// Site is where the sandbox is reached, without a path or a slash at the end.
	Site string
	// SecretKey is what clients of the API must present.
	SecretKey string
	// WebhookURL gets every event; empty for nobody.
	WebhookURL string
	// WebhookSecret signs what is sent to WebhookURL.
	WebhookSecret string
	// HTTPClient sends webhooks; nil is one that gives up after ten seconds.
	HTTPClient *http.Client
	// Log gets failed deliveries and internal errors.
	Log *slog.Logger
	// Deliveries decides how often, how late and in which order the next event is
	// delivered.
	Deliveries func() []Delivery
	// Timers are the actions of timers by their kind.
	Timers map[string]Action
	// Lists read the lists that an object shows only when they are expanded, by
	// the object's type and the field, as in customer.subscriptions.
	Lists map[string]ListReader
}

// Engine keeps the state, runs changes of it in transactions, answers the API,
// fires timers and delivers webhooks. What the objects of the API mean is left
// to the packages above it.
type Engine struct {
	cfg     Config
	writing sync.Mutex    // held by a write transaction
	deliver chan struct{} // there may be events to deliver
	timers  chan struct{} // there may be timers to set, or due
}

// New returns an engine on cfg.DB and creates the tables that are missing.
func New(cfg Config) (*Engine, error) {
	// As many connections are kept as are used at once.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: maxDeliveries, IdleConnTimeout: time.Minute}}
	if cfg.HTTPClient != nil {
		*client = *cfg.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	cfg.HTTPClient = client
	if _, err := cfg.DB.ExecContext(context.Background(), schema+cfg.Schema); err != nil {
		return nil, fmt.Errorf("create tables: %w", err)
	}
	return &Engine{cfg: cfg, deliver: make(chan struct{}, 1), timers: make(chan struct{}, 1)}, nil
}

// Run delivers webhooks and fires timers until ctx ends. It then breaks off what
// is under way, which the next run repeats, and returns nil.
func (e *Engine) Run(ctx context.Context) error {
	var both sync.WaitGroup
	both.Go(func() { e.runTimers(ctx) })
	both.Go(func() { e.runDeliveries(ctx) })
	both.Wait()
	return nil
}

// Wake makes run look at the clocks again. Call it after the clock was moved.
func (e *Engine) Wake() {
	poke(e.timers)
	poke(e.deliver)
}

// Log is where failures go that a client is not told.
func (e *Engine) Log() *slog.Logger { return e.cfg.Log }

// HasReceiver reports whether somebody receives the events.
func (e *Engine) HasReceiver() bool { return e.cfg.WebhookURL != "" }

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
