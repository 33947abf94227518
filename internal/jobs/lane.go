package jobs

import (
	"context"
	"time"
)

// mainLane is the lane of all handlers that were not given to another.
const mainLane = ""

// Lane is a set of kinds of jobs with workers of their own. Jobs that may wait long
// for another service, and pile up while it is slow, belong in a lane, so that they
// take no worker from the rest.
type Lane struct {
	q     *Queue
	kinds []string
	wake  chan struct{}
	// attempts is how often its jobs are tried; 0 is as often as any others.
	attempts int
}

// Lane returns the lane of a name, to register handlers in it. Lanes are not stored:
// every instance decides for itself which kinds share one.
func (q *Queue) Lane(name string) *Lane {
	l := q.lanes[name]
	if l == nil {
		l = &Lane{q: q, wake: make(chan struct{}, 1)}
		q.lanes[name] = l
	}
	return l
}

// Handle registers the handler of a kind of job. An instance picks up only kinds that
// it has a handler for, so that during an update the old version leaves new kinds to
// the new one. It panics if the kind has a handler.
func (q *Queue) Handle(kind string, h Handler) { q.Lane(mainLane).Handle(kind, h) }

// Every runs f once per interval, by the service's clock, in one of all
// instances, and for the first time when the service first knows of it. Runs
// that were missed, because the service was down or time was moved, are made up
// by a single one. After an error it runs again sooner, with growing pauses up
// to the interval. It panics if the name is taken or every is not positive.
func (q *Queue) Every(name string, every time.Duration, f func(ctx context.Context) error) {
	q.Lane(mainLane).Every(name, every, f)
}

// Handle is Queue.Handle for a kind of this lane.
func (l *Lane) Handle(kind string, h Handler) {
	if l.q.laneOf[kind] != nil {
		panic("jobs: two handlers for " + kind)
	}
	l.q.handlers[kind], l.q.laneOf[kind] = h, l
	l.kinds = append(l.kinds, kind)
}

// Attempts has the jobs of the lane tried so many times before they are dead. It is for
// those that fail while a service outside does, which can take days to mend.
func (l *Lane) Attempts(n int) { l.attempts = n }

// Every is Queue.Every for a function of this lane.
func (l *Lane) Every(name string, every time.Duration, f func(ctx context.Context) error) {
	if every <= 0 {
		panic("jobs: no interval for " + name)
	}
	kind := periodicKind(name)
	l.Handle(kind, func(ctx context.Context, _ Job) error { return f(ctx) })
	l.q.periods[kind] = every
}

// wakeUp makes the lane look for work; it never blocks.
func (l *Lane) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default: // It is about to look anyway.
	}
}
