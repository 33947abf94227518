// Package inbox takes the payment provider's notifications: it checks and stores them,
// has a job handle each, and catches up with those that never came (rules:
// psp#notifications).
package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/errorreport"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobEvent is the kind of the jobs that handle the notifications about one object
// (see Receiver.HandleEvent).
const JobEvent = "psp.event"

// Lane is the lane of jobs that wait for the provider. While it is slow, or sends
// thousands of notifications at once, mails and everything else go on.
const Lane = "psp"

// bodyLimit bounds a notification, in bytes (rules: psp#notifications).
const bodyLimit = 1 << 20

// Handler reads the object of an event back from the provider and stores what it
// finds. It may run more than once for an event, but never at the same time as for
// another event of the same object. After an error it runs again later.
type Handler func(ctx context.Context, e psp.Event) error

// ReceiverDeps is what a Receiver works with. All but Log are required.
type ReceiverDeps struct {
	DB     *sqldb.DB
	Jobs   *jobs.Queue
	Client *psp.Client
	Clock  clock.Clock
	// Secrets are the endpoint's signing secrets: one, or the old and the new
	// one while they are exchanged.
	Secrets []string
	Log     *slog.Logger // nil discards
}

// Receipt is the answer to a notification that was taken.
type Receipt struct {
	Received bool `json:"received" doc:"Always true: it is stored, and handled soon."`
}

// Receiver accepts the provider's notifications. It is the http.Handler of
// POST /api/v1/webhooks/stripe; a job handles what was accepted.
type Receiver struct {
	db       *sqldb.DB
	inbox    store
	jobs     *jobs.Queue
	client   *psp.Client
	clock    clock.Clock
	secrets  []string
	log      *slog.Logger
	handlers []registration
}

type registration struct {
	kind   string
	handle Handler
}

// NewReceiver returns a receiver. It is an error if there is no secret or an empty
// one, with which anybody could sign.
func NewReceiver(d ReceiverDeps) (*Receiver, error) {
	if len(d.Secrets) == 0 {
		return nil, errors.New("inbox: the secret that signs the provider's notifications is missing")
	}
	for _, secret := range d.Secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, errors.New("inbox: a secret that signs the provider's notifications is empty")
		}
	}
	r := &Receiver{
		db: d.DB, inbox: store{d.DB}, jobs: d.Jobs, client: d.Client,
		clock: d.Clock, secrets: d.Secrets, log: d.Log,
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r, nil
}

// HandleKind registers a handler for a kind of event, such as "invoice.paid", or for all
// kinds with a prefix if kind ends with a dot, such as "invoice.". All that match
// run, in the order of their registration. It must not be called once jobs run. It
// panics on a prefix whose types are not known (see typesBelow), since CatchUp would
// not find their events.
//
// Where several events about one object wait together, the handler of a kind gets
// each event of that kind. The handler of a prefix only looks at the present state
// of the object, so it gets the last event alone, and many notifications at once
// cost one call to the provider.
func (r *Receiver) HandleKind(kind string, handle Handler) {
	if strings.HasSuffix(kind, ".") && typesBelow[kind] == nil {
		panic("inbox: no types of events are known for " + kind)
	}
	r.handlers = append(r.handlers, registration{kind, handle})
}

// Types returns the types of the events that have a handler, sorted. These are the
// ones to select for the notifications at the provider. Thin events are left out: they
// are not in the list of events, and have destinations of their own.
func (r *Receiver) Types() []string {
	var types []string
	for _, reg := range r.handlers {
		if below, ok := typesBelow[reg.kind]; ok {
			types = append(types, below...)
		} else {
			types = append(types, reg.kind)
		}
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == errorreport.EventErrors || t == errorreport.EventNoMeter })
	slices.Sort(types)
	return slices.Compact(types)
}

// ServeHTTP accepts one notification. It answers 200 once the notification is
// stored, 400 unless it is recent and signed by one of the secrets, and 413 above
// 1 MiB. After any other failure the provider sends it again.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx := req.Context()
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, bodyLimit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			writeError(w, http.StatusRequestEntityTooLarge, "The request body is too large.")
			return
		}
		writeError(w, http.StatusBadRequest, "The request body could not be read.")
		return
	}
	event, err := r.verify(body, req.Header.Get("Stripe-Signature"))
	if err != nil {
		r.log.WarnContext(ctx, "a notification was refused", "error", err)
		writeError(w, http.StatusBadRequest, "This is not a notification that the payment provider signed just now.")
		return
	}
	if _, err := r.accept(ctx, event); err != nil {
		r.log.ErrorContext(ctx, "a notification could not be stored", "event", event.ID, "error", err)
		status := http.StatusInternalServerError
		if sqldb.IsUnavailable(err) || sqldb.IsFull(err) { // the provider sends it again in any case
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "1")
		}
		writeError(w, status, "The notification could not be stored.")
		return
	}
	writeJSON(w, http.StatusOK, Receipt{Received: true})
}

// accept stores an event and the job to handle it together, once per event id.
// It reports whether the event was new. It ignores an event about an object without
// an id, such as an invoice that is only announced: there is nothing to read back.
func (r *Receiver) accept(ctx context.Context, e psp.Event) (isNew bool, err error) {
	if e.ObjectID == "" {
		return false, nil
	}
	// This finds most repeated events without a transaction.
	if known, err := r.inbox.isStored(ctx, e.ID); err != nil || known {
		return false, err
	}
	err = r.db.Tx(ctx, func(ctx context.Context) error {
		inserted, err := r.inbox.insert(ctx, e, r.clock.Now())
		isNew = inserted
		if err != nil || !inserted {
			return err
		}
		return r.jobs.Enqueue(ctx, JobEvent, e, jobs.Key(e.ObjectID))
	})
	return isNew, err
}

// HandleEvent is the handler of JobEvent: it handles all notifications that wait
// about the object of the job's event.
func (r *Receiver) HandleEvent(ctx context.Context, job jobs.Job) error {
	var e psp.Event
	if err := job.Decode(&e); err != nil {
		return err
	}
	if e.ObjectID == "" { // stored by a version that did not ignore it
		return r.inbox.markHandled(ctx, []psp.Event{e}, r.clock.Now())
	}
	waiting, err := r.inbox.listPending(ctx, e)
	if err != nil {
		return err
	}
	for _, reg := range r.handlers {
		for _, e := range reg.filterEvents(waiting) {
			if err := reg.handle(ctx, e); err != nil {
				return fmt.Errorf("%s %s: %w", e.Type, e.ID, err)
			}
		}
	}
	return r.inbox.markHandled(ctx, waiting, r.clock.Now())
}

// Backlog returns how many notifications are stored and not handled yet, up to 10,000, and for
// how long the oldest of those has been waiting.
func (r *Receiver) Backlog(ctx context.Context) (waiting int64, lag time.Duration, err error) {
	waiting, oldest, err := r.inbox.backlog(ctx)
	if err != nil || waiting == 0 {
		return 0, 0, err
	}
	return waiting, max(0, r.clock.Now().Sub(oldest)), nil
}

// filterEvents returns those of the events about one object that the handler gets (see On).
func (reg registration) filterEvents(events []psp.Event) []psp.Event {
	var its []psp.Event
	for _, e := range events {
		switch {
		case reg.kind == e.Type:
			its = append(its, e)
		case strings.HasSuffix(reg.kind, ".") && strings.HasPrefix(e.Type, reg.kind):
			its = []psp.Event{e}
		}
	}
	return its
}

func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"message": message})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the connection is gone.
	_ = json.NewEncoder(w).Encode(body)
}
