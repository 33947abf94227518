package rest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// panicLogEvery is how often a panic of one place is written to the log, with its stack.
// All of them are counted: a bug on a busy route would fill the disk.
const panicLogEvery = time.Minute

// panicError is a panic on its way to the log.
type panicError struct {
	reason any
	place  string // function and line
	stack  string
}

func (e *panicError) Error() string { return fmt.Sprint("panic: ", e.reason) }

// caught makes a panicError of what a deferred function has recovered.
func caught(reason any) *panicError {
	return &panicError{reason: reason, place: panicPlace(), stack: string(debug.Stack())}
}

// panicPlace returns where the panic began that is being recovered: the first frame above
// those of the runtime.
func panicPlace() string {
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

// panics remembers when each place was last logged. Places are in the program's text, so
// their number is bounded.
type panics struct {
	mu     sync.Mutex
	places map[string]*panicPlaceLog
}

type panicPlaceLog struct {
	logged time.Time
	silent int // panics since
}

// due reports whether a panic of a place is to be logged now, and how many before it were
// not.
func (p *panics) due(place string, now time.Time) (silent int, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, known := p.places[place]
	if known && now.Sub(l.logged) < panicLogEvery {
		l.silent++
		return 0, false
	}
	if known {
		silent = l.silent
	}
	p.places[place] = &panicPlaceLog{logged: now}
	return silent, true
}

// logPanic counts a panic, and logs it unless its place was logged a short time ago.
func (a *API) logPanic(ctx context.Context, e *panicError) {
	a.cfg.Panicked()
	silent, due := a.panics.due(e.place, a.cfg.Clock.Now())
	if !due {
		return
	}
	a.cfg.Log.ErrorContext(ctx, "panic", "reason", fmt.Sprint(e.reason), "place", e.place,
		"not_logged_before", silent, "stack", e.stack)
}
