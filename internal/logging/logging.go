// Package logging builds the service's logger.
package logging

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/tracing"
)

// outageInterval is how often a message is logged during an outage.
const outageInterval = time.Minute

// Config configures a logger.
type Config struct {
	JSON  bool // one JSON object per line instead of text
	Level slog.Level
	// Expected lists the messages of warnings that are logged at INFO.
	Expected []string
	// IsOutage reports whether an outage of a dependency caused err, which fails background
	// work many times a second. During an outage each message is logged once a minute, with
	// the number of suppressed lines as the attribute left_out. Nil suppresses no lines.
	IsOutage func(err error) bool
	Clock    clock.Clock
}

// New returns a logger that writes each line to w immediately. A line has the request_id, trace_id
// and span_id of its context.
func New(w io.Writer, cfg Config) *slog.Logger {
	return slog.New(newHandler(w, cfg))
}

// NewBuffered returns a logger like New, but lines below WARN are written within 5 ms. Lines at
// WARN and above are written immediately, after the lines before them. Call flush before the
// process exits.
func NewBuffered(w io.Writer, cfg Config) (log *slog.Logger, flush func() error) {
	b := &buffer{out: w}
	h := newHandler(b, cfg)
	h.buffer = b
	return slog.New(h), b.Flush
}

func newHandler(w io.Writer, cfg Config) handler {
	options := &slog.HandlerOptions{Level: cfg.Level}
	h := handler{Handler: slog.NewTextHandler(w, options), filter: &filter{Config: cfg, outages: map[string]outage{}}}
	if cfg.JSON {
		h.Handler = slog.NewJSONHandler(w, options)
	}
	return h
}

type requestIDKey struct{}

// WithRequestID returns a context whose log lines have the ID of a request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// handler adds the attributes of the context to the lines that pass the filter.
type handler struct {
	slog.Handler

	filter *filter
	buffer *buffer // nil writes each line immediately
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	r = r.Clone()
	if !h.filter.acceptRecord(&r) || !h.Enabled(ctx, r.Level) {
		return nil
	}
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		r.AddAttrs(slog.String("request_id", id))
	}
	if traceID, spanID, ok := tracing.IDs(ctx); ok {
		r.AddAttrs(slog.String("trace_id", traceID), slog.String("span_id", spanID))
	}
	err := h.Handler.Handle(ctx, r)
	if h.buffer != nil && r.Level >= slog.LevelWarn {
		return errors.Join(err, h.buffer.Flush())
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}

// filter lowers expected warnings and suppresses the repeated lines of an outage. All handlers
// of a logger share it.
type filter struct {
	Config

	mu      sync.Mutex
	outages map[string]outage // by message
}

// outage is the state of one message.
type outage struct {
	logged     time.Time
	suppressed int // lines since then
}

// acceptRecord adjusts r and reports whether to log it.
func (f *filter) acceptRecord(r *slog.Record) bool {
	if r.Level < slog.LevelWarn {
		return true
	}
	if r.Level == slog.LevelWarn && slices.Contains(f.Expected, r.Message) {
		r.Level = slog.LevelInfo
		return true
	}
	if !f.hasOutage(r) {
		return true
	}
	suppressed, due := f.shouldLog(r.Message)
	if suppressed > 0 {
		r.AddAttrs(slog.Int("left_out", suppressed))
	}
	return due
}

// hasOutage reports whether an attribute of r is an error that an outage caused.
func (f *filter) hasOutage(r *slog.Record) (found bool) {
	if f.IsOutage == nil {
		return false
	}
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && f.IsOutage(err)
		return !found
	})
	return found
}

// shouldLog reports whether to log a message of an outage now. If so, it returns the number of lines
// that were suppressed since the last one.
func (f *filter) shouldLog(message string) (suppressed int, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, o := f.Clock.Now(), f.outages[message]
	if now.Sub(o.logged) < outageInterval {
		o.suppressed++
		f.outages[message] = o
		return 0, false
	}
	f.outages[message] = outage{logged: now}
	return o.suppressed, true
}
