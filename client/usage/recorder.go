// Package usage records usage in the background: a [Recorder] takes events at once, sends them in
// batches, and tries again until the service has taken or refused each of them.
//
//	recorder, err := usage.NewRecorder(c, usage.Options{
//		Journal:   "/var/lib/shop/usage.journal",
//		OnRefused: func(e usage.Event, err error) { log.Printf("%s: %v", e.Tenant, err) },
//	})
//	if err != nil {
//		return err
//	}
//	defer recorder.Close(context.Background())
//	…
//	err = recorder.Record(ctx, usage.Event{Tenant: tenant, Meter: "api-calls"})
//
// Every event has an idempotency key from the beginning, so that it counts once however often it
// is sent. With a journal an event that was accepted survives the end of the process and of the
// machine; without one it is lost if the process ends before [Recorder.Close] has returned nil.
//
// A quota is decided when an event arrives. Ask [client.Client.ListQuotas] before work that must
// not be done without one, or record such an event yourself by [client.Client.RecordUsage].
package usage

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

// What Record returns for an event that it does not accept.
var (
	ErrFull   = errors.New("usage: the queue is full")
	ErrClosed = errors.New("usage: the recorder is closed")
)

// Sender sends a batch; a *client.Client does.
type Sender interface {
	RecordUsageBatch(ctx context.Context, tenantID string, body api.RecordUsageBatchRequest) (*api.BatchResultList, error)
}

var _ Sender = (*client.Client)(nil)

// Options are how a [Recorder] works. The zero value is ready.
type Options struct {
	// Journal is the file that keeps accepted events until the service has them. One recorder
	// uses it at a time. Empty: they are in memory alone.
	Journal string
	// Queue is how many accepted events may wait, 10,000 by default.
	Queue int
	// RefuseWhenFull has Record return [ErrFull] at once while the queue is full. By default it
	// waits for room until its context ends.
	RefuseWhenFull bool
	// Interval is how long an event waits for others to be sent with, one second by default.
	Interval time.Duration
	// Parallel is how many batches are under way at once, 4 by default; of one tenant it is one,
	// in the order of Record.
	Parallel int
	// OnRefused is told of each event that the service will not take, with the reason, such as
	// [client.ErrQuotaExceeded]. The event is not tried again. It is called by several goroutines.
	OnRefused func(Event, error)
	// OnError is told of errors after which a batch is tried again, and of a journal that cannot
	// be written. It is called by several goroutines.
	OnError func(error)
	// Now is the clock; time.Now by default.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.Queue <= 0 {
		o.Queue = 10_000
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.OnRefused == nil {
		o.OnRefused = func(Event, error) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// item is an accepted event.
type item struct {
	event  Event
	number uint64 // grows with each event of the recorder
	size   int    // in a request
	slot   bool   // whether it takes room in the queue
}

// line is what waits of one tenant, in the order of Record.
type line struct {
	items   []item
	sending bool // a goroutine sends from it
	hurry   int  // of how many items nobody waits for others any more
}

// Recorder records usage. Its methods can be called from several goroutines.
type Recorder struct {
	options Options
	sender  Sender
	journal *journal      // nil without a file
	room    chan struct{} // has one element for each event that takes room
	senders chan struct{} // has one element for each batch under way

	stop    context.Context // ends when Close gives up
	giveUp  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	lines   map[string]*line // by tenant
	waiting int              // accepted and not settled
	last    uint64           // number of the last accepted event
	settled chan struct{}    // is closed and replaced when an event is settled
	closing chan struct{}    // is closed when Close begins
	closed  bool
	entries sync.WaitGroup // calls of Record that may still accept
}

// NewRecorder returns a recorder that sends with c. Events that a journal still has are sent
// first.
func NewRecorder(c Sender, options Options) (*Recorder, error) {
	o := options.withDefaults()
	r := &Recorder{
		options: o, sender: c,
		room: make(chan struct{}, o.Queue), senders: make(chan struct{}, o.Parallel),
		lines: map[string]*line{}, settled: make(chan struct{}), closing: make(chan struct{}),
	}
	r.stop, r.giveUp = context.WithCancel(context.Background())
	if o.Journal != "" {
		j, kept, err := openJournal(o.Journal)
		if err != nil {
			r.giveUp()
			return nil, err
		}
		r.journal = j
		for _, e := range kept {
			whole, size, err := e.prepared(o.Now)
			if err != nil { // written by another version of this package
				o.OnRefused(e, err)
				continue
			}
			r.enqueue(item{event: whole, size: size})
		}
	}
	r.hurry()
	r.running.Add(1)
	go r.tick()
	return r, nil
}

// Record accepts an event: from then on it is sent until the service has taken or refused it.
// With a journal it is on the disk when Record returns nil. An error says that it was not
// accepted: [ErrInvalid], [ErrFull], [ErrClosed], the end of ctx, or the journal's.
func (r *Recorder) Record(ctx context.Context, e Event) error {
	e, size, err := e.prepared(r.options.Now)
	if err != nil {
		return err
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.entries.Add(1)
	r.mu.Unlock()
	defer r.entries.Done()
	if err := r.enter(ctx); err != nil {
		return err
	}
	if r.journal != nil {
		if err := r.journal.accept(e); err != nil {
			<-r.room
			return err
		}
	}
	r.enqueue(item{event: e, size: size, slot: true})
	return nil
}

// enter takes room in the queue.
func (r *Recorder) enter(ctx context.Context) error {
	select {
	case r.room <- struct{}{}:
		return nil
	default:
	}
	if r.options.RefuseWhenFull {
		return ErrFull
	}
	r.hurry()
	select {
	case r.room <- struct{}{}:
		return nil
	case <-r.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enqueue adds an accepted event to its tenant's line.
func (r *Recorder) enqueue(it item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[it.event.Tenant]
	if l == nil {
		l = &line{}
		r.lines[it.event.Tenant] = l
	}
	r.last++
	it.number = r.last
	l.items = append(l.items, it)
	r.waiting++
	if len(l.items) >= maxBatch {
		l.hurry = len(l.items)
		r.start(it.event.Tenant, l)
	}
}

// hurry has all that waits sent now.
func (r *Recorder) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tenant, l := range r.lines {
		l.hurry = len(l.items)
		r.start(tenant, l)
	}
}

// start has a goroutine send from a line, unless one does. The caller holds the lock.
func (r *Recorder) start(tenant string, l *line) {
	if l.sending || l.hurry == 0 || r.stop.Err() != nil {
		return
	}
	l.sending = true
	r.running.Add(1)
	go r.drain(tenant, l)
}

// tick sends what has waited for the interval.
func (r *Recorder) tick() {
	defer r.running.Done()
	ticker := time.NewTicker(r.options.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.hurry()
		case <-r.stop.Done():
			return
		}
	}
}

// Flush sends all at once, and returns nil when the service has taken or refused every event that
// was accepted before.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	for {
		r.hurry()
		r.mu.Lock()
		left, settled := r.waits(last), r.settled
		r.mu.Unlock()
		if !left {
			return nil
		}
		select {
		case <-settled:
		case <-r.stop.Done():
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waits reports whether an event up to a number waits. The caller holds the lock.
func (r *Recorder) waits(last uint64) bool {
	for _, l := range r.lines {
		if len(l.items) > 0 && l.items[0].number <= last {
			return true
		}
	}
	return false
}

// Waiting is how many accepted events the service has neither taken nor refused yet.
func (r *Recorder) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting
}

// Close takes no more events, sends those that wait, and returns nil when none is left. If ctx
// ends before, it returns ctx's error: what is left is then in the journal or, without one, lost.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.closed = true
	close(r.closing)
	r.mu.Unlock()
	r.entries.Wait()
	err := r.Flush(ctx)
	r.giveUp()
	r.running.Wait()
	if r.journal != nil {
		err = errors.Join(err, r.journal.close())
	}
	return err
}
