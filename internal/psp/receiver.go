package psp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobEvent is the kind of the job that handles what was told about one object.
const JobEvent = "psp.event"

// Lane is where jobs run that wait for the provider: while it is slow, or tells
// of thousands of things at once, mails and everything else go on.
const Lane = "psp"

// bodyLimit bounds a notification, in bytes (spec: requests over 1 MiB are 413).
const bodyLimit = 1 << 20

// Handler applies what an event hints at: it reads the object back and stores
// what it finds. It may run more than once for an event, but not at the same time
// as for another event of the same object. An error makes it run again later.
type Handler func(ctx context.Context, e Event) error

// ReceiverDeps is what a Receiver works with. All but Log are required.
type ReceiverDeps struct {
	DB     *sqldb.DB
	Jobs   *jobs.Queue
	Client *Client
	Clock  clock.Clock
	// Secrets are the endpoint's signing secrets: one, or the old and the new
	// one while they are exchanged.
	Secrets []string
	Log     *slog.Logger // nil discards
}

// Receiver takes the provider's notifications. As an http.Handler it is
// POST /api/v1/webhooks/stripe; what it accepted is handled by a job.
type Receiver struct {
	db       *sqldb.DB
	inbox    store
	jobs     *jobs.Queue
	client   *Client
	clock    clock.Clock
	secrets  []string
	log      *slog.Logger
	handlers []registration
}

type registration struct {
	kind   string
	handle Handler
}

// NewReceiver makes a receiver and registers its job. It refuses to work without
// secrets: an empty one would let anybody sign.
func NewReceiver(d ReceiverDeps) (*Receiver, error) {
	if len(d.Secrets) == 0 {
		return nil, errors.New("psp: the secret that signs the provider's notifications is missing")
	}
	for _, secret := range d.Secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, errors.New("psp: a secret that signs the provider's notifications is empty")
		}
	}
	r := &Receiver{
		db: d.DB, inbox: store{d.DB}, jobs: d.Jobs, client: d.Client,
		clock: d.Clock, secrets: d.Secrets, log: d.Log,
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	d.Jobs.Lane(Lane).Handle(JobEvent, r.handleJob)
	return r, nil
}

// On registers a handler for a kind of event, such as "invoice.paid", or for all
// kinds with a prefix if kind ends with a dot, such as "invoice.". All that match
// run, in the order of their registration. It must not be called once jobs run.
//
// Of several events about one object that wait together, the handler of a kind
// gets each of its kind; that of a prefix, which only looks at what the object now
// is, gets the last, so that a storm of notifications costs one look.
func (r *Receiver) On(kind string, handle Handler) {
	r.handlers = append(r.handlers, registration{kind, handle})
}

// ServeHTTP takes one notification: 200 once it is stored, also if it was
// before; 400 unless it is signed by a secret and recent; 413 over 1 MiB. After
// any other failure the provider sends it again.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ctx := req.Context()
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, bodyLimit))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, "The request body is too large.")
			return
		}
		refuse(w, http.StatusBadRequest, "The request body could not be read.")
		return
	}
	event, err := r.verify(body, req.Header.Get("Stripe-Signature"))
	if err != nil {
		r.log.WarnContext(ctx, "a notification was refused", "error", err)
		refuse(w, http.StatusBadRequest, "This is not a notification that the payment provider signed just now.")
		return
	}
	if _, err := r.accept(ctx, event); err != nil {
		r.log.ErrorContext(ctx, "a notification could not be stored", "event", event.ID, "error", err)
		refuse(w, http.StatusInternalServerError, "The notification could not be stored.")
		return
	}
	answer(w, http.StatusOK, map[string]bool{"received": true})
}

// verify checks a notification's signature, by any secret and with the library's
// limit for its age, and reads it. The version of the API that it was written in
// doesn't matter: only ids are taken from it.
func (r *Receiver) verify(body []byte, signature string) (Event, error) {
	var errs []error
	for _, secret := range r.secrets {
		e, err := webhook.ConstructEventWithOptions(body, signature, secret, webhook.ConstructEventOptions{
			IgnoreAPIVersionMismatch: true,
		})
		if err == nil {
			return newEvent(&e)
		}
		errs = append(errs, err)
	}
	return Event{}, errors.Join(errs...)
}

// accept stores an event and the job to handle it together, once per event id.
// It tells whether the event was new.
func (r *Receiver) accept(ctx context.Context, e Event) (isNew bool, err error) {
	// Most that come twice are found without a transaction.
	if known, err := r.inbox.known(ctx, e.ID); err != nil || known {
		return false, err
	}
	err = r.db.Tx(ctx, func(ctx context.Context) error {
		inserted, err := r.inbox.insert(ctx, e, r.clock.Now())
		isNew = inserted
		if err != nil || !inserted {
			return err
		}
		return r.jobs.Enqueue(ctx, JobEvent, e, jobs.Key(cmp.Or(e.ObjectID, e.ID)))
	})
	return isNew, err
}

// handleJob handles all that waits about the object of the job's event.
func (r *Receiver) handleJob(ctx context.Context, job jobs.Job) error {
	var e Event
	if err := job.Decode(&e); err != nil {
		return err
	}
	waiting, err := r.inbox.waiting(ctx, e)
	if err != nil {
		return err
	}
	for _, reg := range r.handlers {
		for _, e := range reg.of(waiting) {
			if err := reg.handle(ctx, e); err != nil {
				return fmt.Errorf("%s %s: %w", e.Type, e.ID, err)
			}
		}
	}
	return r.inbox.markHandled(ctx, waiting, r.clock.Now())
}

// of are the events, of those about one object, that a handler gets (see On).
func (reg registration) of(events []Event) []Event {
	var its []Event
	for _, e := range events {
		switch {
		case reg.kind == e.Type:
			its = append(its, e)
		case strings.HasSuffix(reg.kind, ".") && strings.HasPrefix(e.Type, reg.kind):
			its = []Event{e}
		}
	}
	return its
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"message": message})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The connection may be gone; then there is nobody to tell.
	_ = json.NewEncoder(w).Encode(body)
}
