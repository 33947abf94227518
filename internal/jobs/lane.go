package jobs

import (
	"context"
	"time"
)

// mainLane is the lane of handlers that are not in another lane.
const mainLane = ""

// Lane is a set of job kinds with their own workers. Jobs that wait for a remote service, and pile
// up while it is slow, belong in a separate lane so that they do not occupy the workers of other
// jobs.
type Lane struct {
	q     *Queue
	kinds []string
	wake  chan struct{}
	// attempts is the maximum number of attempts; 0 means the queue's default.
	attempts int
}

// Lane returns the lane with a name, for registering handlers. Lanes are not stored: each instance
// decides which kinds share a lane.
func (q *Queue) Lane(name string) *Lane {
	l := q.lanes[name]
	if l == nil {
		l = &Lane{q: q, wake: make(chan struct{}, 1)}
		q.lanes[name] = l
	}
	return l
}

// Handle registers the handler of a kind. An instance runs only kinds that it has a handler for, so
// during an update the old version leaves new kinds to the new version. Handle panics if the kind
// already has a handler.
func (q *Queue) Handle(kind string, h Handler) { q.Lane(mainLane).Handle(kind, h) }

// Every runs f once per interval, by the service's clock, on one of the instances. The first run is
// when an instance first registers the name. If runs were missed during downtime, or because the
// clock was moved, f runs once for all of them. After an error, f runs again sooner, with pauses
// that increase up to the interval. Every panics if the name is taken or every is not positive.
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

// Attempts sets the number of attempts before a job of the lane is dead. Use it for jobs that
// depend on a remote service, whose outage can last for days.
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

// wakeUp makes the lane look for work. It does not block.
func (l *Lane) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}
