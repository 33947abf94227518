// Package credit adds and removes credit of tenants (rules: invoices#credit). The payment provider
// stores the balance and applies it to the next invoices.
package credit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/idempotency"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/tenant"
)

// JobSettle is the kind of job that looks up the outcome of an adjustment whose request died.
const JobSettle = "credit.settle"

const (
	// leaseTime is longer than a request can take. It is real time.
	leaseTime = 45 * time.Second
	// busyWait is how long a request waits for another adjustment of the same credit. It is shorter
	// than the request timeout.
	busyWait = 20 * time.Second
	// pollInterval is the interval at which the request checks whether the other adjustment has ended.
	pollInterval = 50 * time.Millisecond
)

// Currencies reports which currencies exist.
type Currencies interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB         *sqldb.DB
	Clock      clock.Clock
	Lease      clock.Clock // the system clock
	Jobs       *jobs.Queue
	Tenants    *tenant.Service
	Customers  *customer.Service
	Currencies Currencies
	Balances   customers.Balances
	Audit      *audit.Log
}

// Service implements the use cases of credit.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// Entry is an amount of credit that was given, or taken back if it is negative.
type Entry struct {
	ID        uuid.UUID
	Amount    money.Money
	Reason    string
	By        authz.Author
	CreatedAt time.Time

	tenantID    uuid.UUID
	customerID  string // at the provider
	origin      authz.Origin
	requestID   string // empty unless the request has an idempotency key
	leasedUntil time.Time
}

// adjustment returns the entry as the provider gets it.
func (e Entry) adjustment() customers.Adjustment {
	return customers.Adjustment{Key: e.ID.String(), CustomerID: e.customerID, Amount: e.Amount.AmountCents, Currency: e.Amount.Currency}
}

// isRetryOf reports whether a request is a retry of the request that made the earlier entry.
func (e Entry) isRetryOf(earlier Entry) bool {
	return e.requestID == earlier.requestID && e.Amount == earlier.Amount && e.Reason == earlier.Reason && e.By == earlier.By
}

// Statement is the credit of a tenant with the changes by the platform, newest first.
type Statement struct {
	Balance money.Money
	Entries []Entry
}

var (
	errAboveBalance     = fault.OnField("amount_cents", "validation.above_credit")
	errUnknownCurrency  = fault.OnField("currency", "validation.exists")
	errCurrencyMismatch = fault.NewCoded(fault.Invalid, fault.CurrencyMismatch)
	errBusy             = fault.NewCoded(fault.Conflict, fault.SubscriptionBusy)
	errNoEntry          = errors.New("no such credit entry")
)

// Statement returns the credit of a tenant, with the balance at the provider. A tenant without a
// balance has 0 in the currency of its subscription, otherwise in its preferred currency.
func (s *Service) Statement(ctx context.Context, tenantID uuid.UUID) (Statement, error) {
	t, err := s.deps.Tenants.GetLive(ctx, tenantID)
	if err != nil {
		return Statement{}, err
	}
	st := Statement{Balance: money.Money{Currency: t.PreferredCurrency}}
	if st.Entries, err = s.store.list(ctx, tenantID); err != nil {
		return st, err
	}
	subscribed, err := s.store.subscriptionCurrency(ctx, tenantID)
	if err != nil {
		return st, err
	}
	if subscribed != "" {
		st.Balance.Currency = subscribed
	}
	customerID, err := s.deps.Customers.Customer(ctx, tenantID)
	if err != nil || customerID == "" {
		return st, err
	}
	balances, err := s.deps.Balances.Read(ctx, customerID)
	if errors.Is(err, psp.ErrNotFound) { // deleted at the provider
		return st, nil
	}
	if err != nil {
		return st, err
	}
	if balances[st.Balance.Currency] == 0 && len(balances) > 0 {
		st.Balance.Currency = slices.Sorted(maps.Keys(balances))[0]
	}
	st.Balance.AmountCents = balances[st.Balance.Currency]
	return st, nil
}

// check returns the invalid fields of an amount, whatever the tenant.
func (s *Service) check(ctx context.Context, amount money.Money) error {
	if err := fault.Join(s.checkCurrency(ctx, amount.Currency), checkZero(amount)); err != nil {
		return err
	}
	units, err := s.deps.Balances.Units(ctx, amount.Currency)
	if err != nil {
		return err
	}
	possible := units.NearestChargeable(max(amount.AmountCents, -amount.AmountCents))
	if len(possible) == 0 {
		return nil
	}
	texts := make([]string, len(possible))
	for i, n := range possible {
		texts[i] = strconv.FormatInt(n, 10)
	}
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "amount_cents", Message: "validation.psp_amount", Args: map[string]any{"possible": strings.Join(texts, ", ")},
	}}}
}

func (s *Service) checkCurrency(ctx context.Context, code string) error {
	exists, err := s.deps.Currencies.CurrencyExists(ctx, code)
	if err == nil && !exists {
		err = errUnknownCurrency
	}
	return err
}

func checkZero(amount money.Money) error {
	if amount.AmountCents == 0 {
		return fault.OnField("amount_cents", "validation.not_zero")
	}
	return nil
}

// Adjust adds credit to a tenant's balance, or removes credit. It creates the provider's customer
// if necessary.
//
// Invariant: a tenant has at most one pending entry. It is committed under the tenant's lock before
// the provider is called, and names the provider's adjustment. So concurrent requests run one after
// another, and after a crash the outcome is looked up: an adjustment is neither lost nor made
// twice.
func (s *Service) Adjust(ctx context.Context, tenantID uuid.UUID, amount money.Money, reason string) error {
	if err := s.check(ctx, amount); err != nil {
		return err
	}
	t, err := s.deps.Tenants.GetLive(ctx, tenantID)
	if err != nil {
		return err
	}
	customerID, err := s.deps.Customers.Ensure(ctx, t)
	if err != nil {
		return err
	}
	e := Entry{
		ID: sqldb.NewID(), Amount: amount, Reason: reason, By: authz.AuthorOf(ctx), tenantID: tenantID, customerID: customerID,
		origin: authz.OriginOf(ctx), requestID: idempotency.RequestID(ctx),
	}
	for began := s.deps.Lease.Now(); ; {
		claimed, other, err := s.claim(ctx, e)
		switch {
		case err != nil:
			return err
		case other.leasedUntil.After(s.deps.Lease.Now()):
			if s.deps.Lease.Now().Sub(began) >= busyWait || !clock.Pause(ctx, pollInterval) {
				return errBusy
			}
		case claimed.ID != uuid.Nil && claimed.ID != e.ID: // the entry of an earlier attempt
			done, err := s.settle(ctx, claimed)
			if err != nil || done && e.isRetryOf(claimed) {
				return err
			}
		case claimed.ID != uuid.Nil:
			return s.apply(ctx, claimed)
		default:
			return nil
		}
	}
}

// claim stores an entry, leased to the caller, and returns it. If another entry is pending and its
// lease has expired, claim leases and returns that entry. If the lease has not expired, claim
// returns the pending entry as other. If an earlier attempt of the same request has succeeded, it
// returns neither.
func (s *Service) claim(ctx context.Context, e Entry) (claimed, other Entry, _ error) {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		claimed, other = Entry{}, Entry{}
		if _, err := s.deps.Tenants.LockLive(ctx, e.tenantID); err != nil {
			return err
		}
		pending, err := s.store.pendingEntry(ctx, e.tenantID)
		if err == nil {
			if pending.leasedUntil.After(s.deps.Lease.Now()) {
				other = pending
				return nil
			}
			claimed = pending
			return s.store.lease(ctx, pending, s.deps.Lease.Now().Add(leaseTime))
		}
		if !errors.Is(err, errNoEntry) {
			return err
		}
		done, err := s.isRepeated(ctx, e)
		if err != nil || done {
			return err
		}
		e.CreatedAt, e.leasedUntil = s.deps.Clock.Now(), s.deps.Lease.Now().Add(leaseTime)
		claimed = e
		if err := s.store.insert(ctx, e); err != nil {
			return err
		}
		return s.enqueueSettle(ctx, e)
	})
	return claimed, other, err
}

// isRepeated reports whether an earlier attempt of the same request has succeeded.
func (s *Service) isRepeated(ctx context.Context, e Entry) (bool, error) {
	if e.requestID == "" {
		return false, nil
	}
	earlier, err := s.store.ofRequest(ctx, e.tenantID, e.requestID)
	if errors.Is(err, errNoEntry) {
		return false, nil
	}
	return err == nil && e.isRetryOf(earlier) && s.deps.Clock.Now().Sub(earlier.CreatedAt) < idempotency.Lifetime, err
}

// apply adjusts the balance at the provider for a new entry, and records it. If the outcome is
// unknown, the entry stays pending.
func (s *Service) apply(ctx context.Context, e Entry) error {
	err := s.checkBalance(ctx, e)
	if err != nil {
		return errors.Join(err, s.discard(ctx, e))
	}
	err = s.deps.Balances.Adjust(ctx, e.adjustment())
	switch {
	case err == nil:
		return s.record(ctx, e)
	case errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrNotFound):
		return errors.Join(err, s.discard(ctx, e))
	default:
		return errors.Join(err, s.store.lease(context.WithoutCancel(ctx), e, s.deps.Lease.Now()))
	}
}

// checkBalance rejects an amount in another currency than the balance or the subscription, and a
// deduction that exceeds the balance.
func (s *Service) checkBalance(ctx context.Context, e Entry) error {
	subscribed, err := s.store.subscriptionCurrency(ctx, e.tenantID)
	if err != nil {
		return err
	}
	balances, err := s.deps.Balances.Read(ctx, e.customerID)
	if err != nil {
		return err
	}
	for _, other := range append(slices.Sorted(maps.Keys(balances)), subscribed) {
		if other != "" && other != e.Amount.Currency {
			return errCurrencyMismatch.With("currency", other)
		}
	}
	if e.Amount.AmountCents < 0 && -e.Amount.AmountCents > balances[e.Amount.Currency] {
		return errAboveBalance
	}
	return nil
}

// settle looks up the outcome of an entry that is leased to the caller and whose request has failed
// or died. It records the entry, or deletes it if the provider does not have it.
func (s *Service) settle(ctx context.Context, e Entry) (done bool, _ error) {
	done, err := s.deps.Balances.IsDone(ctx, e.adjustment())
	switch {
	case err == nil && done:
		return true, s.record(ctx, e)
	case err == nil, errors.Is(err, psp.ErrNotFound): // the balance was deleted with the customer
		return false, s.discard(ctx, e)
	default:
		return false, errors.Join(err, s.store.lease(context.WithoutCancel(ctx), e, s.deps.Lease.Now()))
	}
}

// record stores that an entry was applied, once, and adds it to the audit trail.
func (s *Service) record(ctx context.Context, e Entry) error {
	ctx = context.WithoutCancel(ctx) // the balance has changed
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, e.tenantID); err != nil {
			return err
		}
		first, err := s.store.apply(ctx, e, s.deps.Clock.Now())
		if err != nil || !first {
			return err
		}
		return s.deps.Audit.Record(e.origin.NewContext(ctx), audit.Entry{
			Action: "credit.adjusted", TenantID: &e.tenantID, Resource: "credit", ResourceID: e.ID.String(),
			After: map[string]any{"amount_cents": e.Amount.AmountCents, "currency": e.Amount.Currency, "reason": e.Reason},
		})
	})
}

func (s *Service) discard(ctx context.Context, e Entry) error {
	return s.store.discard(context.WithoutCancel(ctx), e)
}

// enqueueSettle enqueues JobSettle for after the entry's lease.
func (s *Service) enqueueSettle(ctx context.Context, e Entry) error {
	at := s.deps.Clock.Now().Add(leaseTime)
	return s.deps.Jobs.Enqueue(ctx, JobSettle, e.tenantID, jobs.Key(e.ID.String()), jobs.At(at))
}

// HandleSettle handles JobSettle. Usually the entry has been applied by then.
func (s *Service) HandleSettle(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	var expired bool
	var e Entry
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		var err error
		if e, err = s.store.pendingEntry(ctx, tenantID); err != nil {
			return err
		}
		if expired = !e.leasedUntil.After(s.deps.Lease.Now()); !expired {
			return s.enqueueSettle(ctx, e)
		}
		return s.store.lease(ctx, e, s.deps.Lease.Now().Add(leaseTime))
	})
	if errors.Is(err, errNoEntry) {
		return nil
	}
	if err == nil && expired {
		_, err = s.settle(ctx, e)
	}
	return err
}
