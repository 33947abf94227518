// Package usage records usage in the background. A [Recorder] accepts events immediately, sends
// them in batches, and retries until the service has accepted or refused each event.
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
// Every event has an idempotency key, so it counts once even if it is sent several times. With a
// journal, accepted events survive a crash of the process or the machine. Without a journal, they
// are lost if the process ends before [Recorder.Close] has returned nil.
//
// The service checks quotas when an event arrives. For work that must not exceed a quota, call
// [client.Client.ListQuotas] before the work, or record the event directly with
// [client.Client.RecordUsage].
package usage

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

// Errors of Record.
var (
	ErrFull   = errors.New("usage: the queue is full")
	ErrClosed = errors.New("usage: the recorder is closed")
)

// Sender sends a batch. It is implemented by *client.Client.
type Sender interface {
	RecordUsageBatch(ctx context.Context, tenantID string, body api.RecordUsageBatchRequest) (*api.BatchResultList, error)
}

var _ Sender = (*client.Client)(nil)

// Options configure a [Recorder]. The zero value has useful defaults.
type Options struct {
	// Journal is the path of the file that stores accepted events until the service has accepted
	// them. Only one recorder at a time can use it. If it is empty, events are kept only in memory.
	Journal string
	// Queue is the maximum number of pending events, 10,000 by default.
	Queue int
	// RefuseWhenFull makes Record return [ErrFull] if the queue is full. By default, Record blocks
	// until there is space or its context ends.
	RefuseWhenFull bool
	// Interval is the maximum time that an event waits for a batch, one second by default.
	Interval time.Duration
	// Parallel is the maximum number of concurrent batches, 4 by default. The batches of one tenant
	// are sent one at a time, in the order in which the events were recorded.
	Parallel int
	// OnRefused is called for each event that the service refuses, with the reason, such as
	// [client.ErrQuotaExceeded]. The event is not retried. OnRefused must be safe for concurrent
	// use.
	OnRefused func(Event, error)
	// OnError is called with errors after which a batch is retried, and with errors of the journal.
	// It must be safe for concurrent use.
	OnError func(error)
	// Now is the clock, time.Now by default.
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
	number uint64 // sequence number
	size   int    // size in a request, in bytes
	slot   bool   // whether it uses a slot of the queue
}

// line is the queue of one tenant, in the order in which the events were recorded.
type line struct {
	items   []item
	sending bool // whether a goroutine is sending from it
	hurry   int  // the number of items to send without waiting for a full batch
}

// Recorder records usage. It is safe for concurrent use.
type Recorder struct {
	options Options
	sender  Sender
	journal *journal      // nil if not configured
	room    chan struct{} // semaphore with one element for each used slot
	senders chan struct{} // semaphore with one element for each batch in progress

	stop    context.Context // canceled when Close gives up
	giveUp  context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	lines   map[string]*line // by tenant
	waiting int              // accepted and not settled
	last    uint64           // sequence number of the last accepted event
	settled chan struct{}    // closed and replaced when an event is settled
	closing chan struct{}    // closed when Close begins
	closed  bool
	entries sync.WaitGroup // calls of Record that can still accept an event
}

// NewRecorder returns a recorder that sends with c. It first sends the pending events of the
// journal.
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
			whole, size, err := e.prepare(o.Now)
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

// Record accepts an event. The event is sent until the service has accepted or refused it. With a
// journal, it is durable when Record returns nil. If the event is not accepted, Record returns
// [ErrInvalid], [ErrFull], [ErrClosed], the error of ctx, or an error of the journal.
func (r *Recorder) Record(ctx context.Context, e Event) error {
	e, size, err := e.prepare(r.options.Now)
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
	if err := r.acquireSlot(ctx); err != nil {
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

// acquireSlot acquires a slot of the queue.
func (r *Recorder) acquireSlot(ctx context.Context) error {
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

// enqueue adds an accepted event to its tenant's queue.
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

// hurry starts sending all pending events.
func (r *Recorder) hurry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for tenant, l := range r.lines {
		l.hurry = len(l.items)
		r.start(tenant, l)
	}
}

// start starts a goroutine that sends from a line, unless one is running. The caller holds the
// lock.
func (r *Recorder) start(tenant string, l *line) {
	if l.sending || l.hurry == 0 || r.stop.Err() != nil {
		return
	}
	l.sending = true
	r.running.Add(1)
	go r.drain(tenant, l)
}

// tick sends pending events at each interval.
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

// Flush sends all pending events. It returns nil after the service has accepted or refused every
// event that was recorded before the call.
func (r *Recorder) Flush(ctx context.Context) error {
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	for {
		r.hurry()
		r.mu.Lock()
		left, settled := r.isPending(last), r.settled
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

// isPending reports whether an event with a sequence number up to last is pending. The caller holds the
// lock.
func (r *Recorder) isPending(last uint64) bool {
	for _, l := range r.lines {
		if len(l.items) > 0 && l.items[0].number <= last {
			return true
		}
	}
	return false
}

// Waiting returns the number of pending events.
func (r *Recorder) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting
}

// Close rejects new events, sends the pending events, and returns nil when none are left. If ctx
// ends first, it returns the error of ctx. The remaining events are then in the journal or, without
// a journal, lost.
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
