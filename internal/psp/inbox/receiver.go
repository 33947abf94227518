// Package inbox receives the payment provider's notifications: it verifies and stores them, handles
// each in a job, and catches up on notifications that never arrived (rules: psp#notifications).
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
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobEvent is the kind of job that handles the notifications about one object (see
// Receiver.HandleEvent).
const JobEvent = "psp.event"

// Lane is the lane of jobs that wait for the provider. If the provider is slow or sends thousands
// of notifications at once, mails and other jobs are not delayed.
const Lane = "psp"

// bodyLimit is the maximum size of a notification, in bytes (rules: psp#notifications).
const bodyLimit = 1 << 20

// Handler reads the object of an event back from the provider and stores its state. It can run more
// than once for an event, but never concurrently with another event of the same object. After an
// error it runs again later.
type Handler func(ctx context.Context, e psp.Event) error

// ReceiverDeps are the dependencies of a Receiver. All but Log are required.
type ReceiverDeps struct {
	DB     *sqldb.DB
	Jobs   *jobs.Queue
	Client *psp.Client
	Clock  clock.Clock
	// Secrets are the endpoint's signing secrets: usually one, or the old and the new one during a
	// rotation.
	Secrets []string
	Log     *slog.Logger // nil discards
}

// Receipt is the response to an accepted notification.
type Receipt struct {
	Received bool `json:"received" doc:"Always true. The event is stored and will be processed soon."`
}

// Receiver accepts the provider's notifications. It is the http.Handler of POST
// /api/v1/webhooks/stripe. A job handles the accepted notifications.
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

// NewReceiver returns a Receiver. It returns an error if a secret is missing or empty, because then
// anyone could sign.
func NewReceiver(d ReceiverDeps) (*Receiver, error) {
	if len(d.Secrets) == 0 {
		return nil, errors.New("inbox: the webhook signing secret is missing")
	}
	for _, secret := range d.Secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, errors.New("inbox: a webhook signing secret is empty")
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

// HandleKind registers a handler for one event type, such as "invoice.paid", or for all types with
// a prefix if kind ends with a dot, such as "invoice.". All matching handlers run, in the order of
// their registration. HandleKind must not be called while jobs run. It panics if the types of a
// prefix are unknown (see typesBelow), because CatchUp would not find their events.
//
// If several events about one object are pending, the handler of a type receives each event of that
// type. The handler of a prefix only reads the current state of the object, so it receives only the
// last event, and many concurrent notifications cost one call to the provider.
func (r *Receiver) HandleKind(kind string, handle Handler) {
	if strings.HasSuffix(kind, ".") && typesBelow[kind] == nil {
		panic("inbox: no types of events are known for " + kind)
	}
	r.handlers = append(r.handlers, registration{kind, handle})
}

// Types returns the event types that have a handler, sorted. Select these for the webhook endpoint
// at the provider. Thin events are omitted, because they are not in the list of events and have
// destinations of their own.
func (r *Receiver) Types() []string {
	var types []string
	for _, reg := range r.handlers {
		if below, ok := typesBelow[reg.kind]; ok {
			types = append(types, below...)
		} else {
			types = append(types, reg.kind)
		}
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == EventErrors || t == EventNoMeter })
	slices.Sort(types)
	return slices.Compact(types)
}

// ServeHTTP accepts one notification. It returns 200 once the notification is stored, 400 if the
// signature is invalid or not recent, and 413 if the body exceeds 1 MiB. After any other failure
// the provider sends the notification again.
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
		r.log.WarnContext(ctx, "payment provider notification rejected", "error", err)
		writeError(w, http.StatusBadRequest, "This is not a notification that the payment provider signed just now.")
		return
	}
	if _, err := r.accept(ctx, event); err != nil {
		r.log.ErrorContext(ctx, "failed to store payment provider notification", "event", event.ID, "error", err)
		status := http.StatusInternalServerError
		if sqldb.IsUnavailable(err) || sqldb.IsFull(err) { // the provider retries in any case
			status = http.StatusServiceUnavailable
			w.Header().Set("Retry-After", "1")
		}
		writeError(w, status, "The notification could not be stored.")
		return
	}
	writeJSON(w, http.StatusOK, Receipt{Received: true})
}

// accept stores an event together with the job that handles it, once per event ID. It reports
// whether the event is new. It ignores an event whose object has no ID, such as an upcoming
// invoice, because there is nothing to read back.
func (r *Receiver) accept(ctx context.Context, e psp.Event) (isNew bool, err error) {
	if e.ObjectID == "" {
		return false, nil
	}
	// This detects most repeated events without a transaction.
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

// HandleEvent handles JobEvent: it handles all pending notifications about the object of the job's
// event.
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

// Backlog returns the number of stored but unhandled notifications, up to 10,000, and how long the
// oldest has been waiting.
func (r *Receiver) Backlog(ctx context.Context) (waiting int64, lag time.Duration, err error) {
	waiting, oldest, err := r.inbox.backlog(ctx)
	if err != nil || waiting == 0 {
		return 0, 0, err
	}
	return waiting, max(0, r.clock.Now().Sub(oldest)), nil
}

// filterEvents returns the events about one object that the handler receives (see HandleKind).
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
	// An error means that the client has disconnected.
	_ = json.NewEncoder(w).Encode(body)
}
