// Package panics turns what a deferred function has recovered into errors, and says which of them
// to log.
package panics

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// logEvery is how often a panic of one place is written to the log, with its stack.
// All of them are counted: a bug on a busy route would fill the disk.
const logEvery = time.Minute

// Error is a panic on its way to the log.
type Error struct {
	reason any
	place  string // function and line
	stack  string
}

func (e *Error) Error() string { return fmt.Sprint("panic: ", e.reason) }

// Caught makes an Error of what a deferred function has recovered.
func Caught(reason any) *Error {
	return &Error{reason: reason, place: placeOf(), stack: string(debug.Stack())}
}

// placeOf returns where the panic began that is being recovered: the first frame above
// those of the runtime.
func placeOf() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for raised := false; ; {
		f, more := frames.Next()
		ours := !strings.HasPrefix(f.Function, "runtime.")
		if raised && ours {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		raised = raised || !ours
		if !more {
			return "unknown"
		}
	}
}

// Log writes panics to a log. It remembers when each place was last logged. Places are in the
// program's text, so their number is bounded.
type Log struct {
	log   *slog.Logger
	clock clock.Clock

	mu     sync.Mutex
	places map[string]*placeLog
}

type placeLog struct {
	logged time.Time
	silent int // panics since
}

// NewLog returns a Log.
func NewLog(log *slog.Logger, c clock.Clock) *Log {
	return &Log{log: log, clock: c, places: map[string]*placeLog{}}
}

// due reports whether a panic of a place is to be logged now, and how many before it were
// not.
func (l *Log) due(place string) (silent int, due bool) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.places[place]
	if known && now.Sub(last.logged) < logEvery {
		last.silent++
		return 0, false
	}
	if known {
		silent = last.silent
	}
	l.places[place] = &placeLog{logged: now}
	return silent, true
}

// Note logs a panic unless its place was logged a short time ago.
func (l *Log) Note(ctx context.Context, e *Error) {
	if silent, due := l.due(e.place); due {
		l.log.ErrorContext(ctx, "panic", "reason", fmt.Sprint(e.reason), "place", e.place,
			"not_logged_before", silent, "stack", e.stack)
	}
}
