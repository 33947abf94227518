package creditnote

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// JobSettle is the kind of job that looks up the outcome of an interrupted request.
const JobSettle = "credit_note.settle"

const (
	// leaseTime is longer than a request can take. It is real time, like busyWait.
	leaseTime = 45 * time.Second
	// busyWait is how long a request waits for another request of the same tenant. It is shorter than
	// the request timeout.
	busyWait = 20 * time.Second
	// pollInterval is the interval between checks whether the other request has ended.
	pollInterval = 50 * time.Millisecond
)

// Documents downloads the provider's documents. *invoices.Documents implements it.
type Documents interface {
	Fetch(ctx context.Context, link string) (invoices.Document, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Lease     clock.Clock // the system clock
	Jobs      *jobs.Queue
	Tenants   *tenant.Service
	Invoices  *invoice.Service
	Notes     invoices.CreditNotes
	Documents Documents
	Audit     *audit.Log
	Events    hook.Outbox // nil publishes no events
	// Returned is called in the transaction that records a credit note or refunds of a tenant.
	Returned func(ctx context.Context, tenantID uuid.UUID) error
	Log      *slog.Logger
}

// Service implements the use cases of credit notes.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// preview returns the amounts that a credit note would have, and stores no credit note.
func (s *Service) preview(ctx context.Context, tenantID, invoiceID uuid.UUID, r request) (state, plan, error) {
	st, err := s.load(ctx, tenantID, invoiceID)
	if err != nil {
		return st, plan{}, err
	}
	p, err := s.plan(ctx, st, r)
	return st, p, err
}

// load reads an invoice, its payments and its credit notes from the provider, and records the credit
// notes that were made there.
func (s *Service) load(ctx context.Context, tenantID, invoiceID uuid.UUID) (state, error) {
	c, err := s.deps.Invoices.Creditable(ctx, tenantID, invoiceID)
	if err != nil {
		return state{}, err
	}
	st := state{Creditable: c}
	if c.Invoice.Status == invoice.StatusDraft {
		return st, nil
	}
	if st.payments, err = s.deps.Notes.Payments(ctx, c.Remote.ID); err != nil {
		return st, err
	}
	remote, err := s.deps.Notes.List(ctx, c.Remote.ID)
	if err != nil {
		return st, err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		return s.adopt(ctx, &st, remote)
	})
	return st, err
}

// create issues a credit note.
//
// Invariant: a tenant has at most one pending request. The request is committed under the tenant's
// lock before the provider is called, and its ID names the provider's credit note. So concurrent
// requests run one after another, and after a crash or an error the outcome is looked up: a credit
// note is neither lost nor made twice.
func (s *Service) create(ctx context.Context, tenantID, invoiceID uuid.UUID, r request) (Note, error) {
	r.By, r.RequestID = authz.OriginOf(ctx), idempotency.RequestID(ctx)
	for began := s.deps.Lease.Now(); ; {
		c, err := s.claim(ctx, tenantID, invoiceID, r)
		switch {
		case err != nil:
			return Note{}, err
		case c.done != uuid.Nil:
			return s.store.get(ctx, tenantID, c.done)
		case c.isBusy:
			if s.deps.Lease.Now().Sub(began) >= busyWait || !clock.Pause(ctx, pollInterval) {
				return Note{}, errBusy
			}
		case c.isOurs:
			if err := s.apply(ctx, c.note); err != nil {
				return Note{}, err
			}
			return s.store.get(ctx, tenantID, c.note.ID)
		default: // an earlier request with an unknown outcome
			if err := s.settle(ctx, c.note); err != nil {
				return Note{}, err
			}
		}
	}
}

// claim is the result of an attempt to claim a tenant's credit notes.
type claim struct {
	note   Note      // leased to the caller
	isOurs bool      // note is the caller's new request, not an earlier one
	done   uuid.UUID // the credit note of an earlier attempt of the same request
	isBusy bool      // another request is being processed, or the invoice is being voided
}

func (s *Service) claim(ctx context.Context, tenantID, invoiceID uuid.UUID, r request) (c claim, _ error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		c = claim{}
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		pending, err := s.store.pendingNote(ctx, tenantID)
		if err == nil {
			c.note, c.isBusy = pending, pending.leasedUntil.After(s.deps.Lease.Now())
			if c.isBusy {
				return nil
			}
			return s.store.lease(ctx, pending, s.deps.Lease.Now().Add(leaseTime))
		}
		if !errors.Is(err, errNoNote) {
			return err
		}
		if c.done, err = s.findRepeated(ctx, tenantID, invoiceID, r); err != nil || c.done != uuid.Nil {
			return err
		}
		if c.isBusy, err = s.deps.Invoices.IsVoiding(ctx, tenantID, invoiceID); err != nil || c.isBusy {
			return err
		}
		c.isOurs = true
		c.note, err = s.insertPending(ctx, tenantID, invoiceID, r)
		return err
	})
	return c, err
}

// findRepeated returns the credit note of an earlier attempt of the same request. With an
// idempotency key, that is an attempt with the same key. Without a key, it is an attempt with the
// same parameters whose credit note no response has returned.
func (s *Service) findRepeated(ctx context.Context, tenantID, invoiceID uuid.UUID, r request) (uuid.UUID, error) {
	notes, err := s.store.ofInvoice(ctx, tenantID, invoiceID)
	if err != nil {
		return uuid.Nil, err
	}
	for _, n := range notes {
		if !r.isRetryOf(n, invoiceID) || s.deps.Clock.Now().Sub(n.createdAt) >= idempotency.Lifetime {
			continue
		}
		if r.RequestID != "" || !n.isAnswered {
			return n.ID, s.store.answer(ctx, n)
		}
	}
	return uuid.Nil, nil
}

func (s *Service) insertPending(ctx context.Context, tenantID, invoiceID uuid.UUID, r request) (Note, error) {
	pspID, err := s.deps.Invoices.ProviderID(ctx, tenantID, invoiceID)
	if err != nil {
		return Note{}, err
	}
	n := Note{
		ID: sqldb.NewID(), TenantID: tenantID, InvoiceID: invoiceID, Status: statusPending, Settlement: r.Settlement, Reason: r.Reason, Memo: r.Memo,
		pspInvoiceID: pspID, request: &r, leasedUntil: s.deps.Lease.Now().Add(leaseTime), createdAt: s.deps.Clock.Now(),
	}
	if err := s.store.insert(ctx, n); err != nil {
		return Note{}, err
	}
	return n, s.enqueueSettle(ctx, n)
}

// apply creates a new credit note at the provider and records it. If the outcome is unknown, the
// request stays pending.
func (s *Service) apply(ctx context.Context, n Note) error {
	st, p, err := s.preview(ctx, n.TenantID, n.InvoiceID, *n.request)
	if err == nil {
		n.Subtotal, n.Tax, n.Total, n.Lines = st.money(p.subtotal), st.money(p.tax), st.money(p.total), p.lines
		err = s.store.prepare(ctx, n)
	}
	if err != nil {
		return errors.Join(err, s.discard(ctx, n))
	}
	params, err := s.params(ctx, n, st)
	if err != nil {
		return errors.Join(err, s.discard(ctx, n))
	}
	made, err := s.deps.Notes.Create(ctx, params)
	switch {
	case err == nil:
		return s.record(ctx, n, st, made, true)
	case errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound):
		return errors.Join(errNotCreditable.Wrap(err), s.discard(ctx, n))
	default:
		return errors.Join(err, s.store.lease(context.WithoutCancel(ctx), n, s.deps.Lease.Now()))
	}
}

// settle looks up the outcome of a request that is leased to the caller and got no usable response. It
// records the credit note, or deletes the request if the provider does not have it.
func (s *Service) settle(ctx context.Context, n Note) error {
	made, err := s.deps.Notes.Find(ctx, n.pspInvoiceID, n.ID.String())
	if errors.Is(err, psp.ErrNotDone) || errors.Is(err, psp.ErrNotFound) {
		return s.discard(ctx, n)
	}
	var st state
	if err == nil {
		st.Creditable, err = s.deps.Invoices.Creditable(ctx, n.TenantID, n.InvoiceID)
	}
	if err != nil {
		return errors.Join(err, s.store.lease(context.WithoutCancel(ctx), n, s.deps.Lease.Now()))
	}
	return s.record(ctx, n, st, made, false)
}

// record stores a credit note that the provider has made for a request, once, and reads its effects
// back.
func (s *Service) record(ctx context.Context, n Note, st state, made invoices.CreditNote, isAnswered bool) error {
	ctx = context.WithoutCancel(ctx) // the provider has the credit note
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, n.TenantID); err != nil {
			return err
		}
		if err := s.issue(ctx, n, st.Creditable, made); err != nil {
			return err
		}
		if isAnswered {
			return s.store.answer(ctx, n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.readBack(ctx, st); err != nil {
		// A notification follows.
		s.deps.Log.WarnContext(ctx, "failed to read the invoice of a credit note", "credit_note", n.ID, "error", err)
	}
	return nil
}

// readBack stores the refunds and the state of an invoice.
func (s *Service) readBack(ctx context.Context, st state) error {
	if st.isOpen() {
		_, err := s.deps.Invoices.Store(ctx, st.Remote.ID)
		return err
	}
	return s.followRefunds(ctx, st.Remote.ID)
}

func (s *Service) discard(ctx context.Context, n Note) error {
	return s.store.discard(context.WithoutCancel(ctx), n)
}

// enqueueSettle schedules JobSettle for the end of the lease of a request.
func (s *Service) enqueueSettle(ctx context.Context, n Note) error {
	return s.deps.Jobs.Enqueue(ctx, JobSettle, n.TenantID, jobs.Key(n.ID.String()), jobs.At(s.deps.Clock.Now().Add(leaseTime)))
}

// HandleSettle handles JobSettle. Usually the credit note has been recorded by then.
func (s *Service) HandleSettle(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	var expired bool
	var n Note
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		var err error
		if n, err = s.store.pendingNote(ctx, tenantID); err != nil {
			return err
		}
		if expired = !n.leasedUntil.After(s.deps.Lease.Now()); !expired {
			return s.enqueueSettle(ctx, n)
		}
		return s.store.lease(ctx, n, s.deps.Lease.Now().Add(leaseTime))
	})
	if errors.Is(err, errNoNote) {
		return nil
	}
	if err == nil && expired {
		err = s.settle(ctx, n)
	}
	return err
}
