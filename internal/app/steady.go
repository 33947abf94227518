package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// steadyEvery is how often a message is logged while the database is away.
const steadyEvery = time.Minute

// steady keeps the log readable while the database is away: everything that works in the
// background fails then, once a second or more often. Of the warnings and errors whose cause
// is the outage one of each message is logged a minute, with the number of those left out
// since the last.
type steady struct {
	slog.Handler
	said *said
}

// said is what was logged of an outage.
type said struct {
	clock clock.Clock
	mu    sync.Mutex
	lines map[string]*line // by message
}

type line struct {
	last time.Time
	left int // out since then
}

func newSteady(next slog.Handler, c clock.Clock) steady {
	return steady{next, &said{clock: c, lines: map[string]*line{}}}
}

// Handle implements slog.Handler.
func (s steady) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || !ofOutage(r) {
		return s.Handler.Handle(ctx, r)
	}
	left, due := s.said.due(r.Message)
	if !due {
		return nil
	}
	if left > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", left))
	}
	return s.Handler.Handle(ctx, r)
}

// due reports whether a message is logged now, and how many were not since the last.
func (s *said) due(message string) (left int, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, l := s.clock.Now(), s.lines[message]
	if l != nil && now.Sub(l.last) < steadyEvery {
		l.left++
		return 0, false
	}
	if l != nil {
		left = l.left
	}
	s.lines[message] = &line{last: now}
	return left, true
}

// ofOutage reports whether a line has an error that comes from a database that is away.
func ofOutage(r slog.Record) (found bool) {
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		found = ok && sqldb.IsUnavailable(err)
		return !found
	})
	return found
}

// WithAttrs implements slog.Handler.
func (s steady) WithAttrs(attrs []slog.Attr) slog.Handler {
	return steady{s.Handler.WithAttrs(attrs), s.said}
}

// WithGroup implements slog.Handler.
func (s steady) WithGroup(name string) slog.Handler { return steady{s.Handler.WithGroup(name), s.said} }
