package usage_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// reserving reserves units with a key and checks the error.
func reserving(t *testing.T, w *usagetest.World, tenantID uuid.UUID, code, quantity, key string, want error) usage.Reservation {
	t.Helper()
	r, err := w.Reserve(t.Context(), tenantID, code, usagetest.Quantity(quantity), key, time.Hour)
	if !errors.Is(err, want) {
		t.Fatalf("reserving %s of %s as %s: got %v, want %v", quantity, code, key, err, want)
	}
	return r
}

// settling settles a reservation and checks the error.
func settling(t *testing.T, w *usagetest.World, tenantID, id uuid.UUID, quantity string, want error) usage.Event {
	t.Helper()
	e, err := w.Settle(t.Context(), tenantID, id, usage.Recording{Quantity: usagetest.Quantity(quantity)})
	if !errors.Is(err, want) {
		t.Fatalf("settling with %s: got %v, want %v", quantity, err, want)
	}
	return e
}

func wantUsed(t *testing.T, w *usagetest.World, tenantID uuid.UUID, code, used, reserved string) {
	t.Helper()
	if d := w.Detail(t, tenantID, code); d.Current != usagetest.Total(used) || d.Reserved != usagetest.Total(reserved) {
		t.Errorf("%s: %s used and %s reserved, want %s and %s", code, d.Current, d.Reserved, used, reserved)
	}
}

// newReserver returns a tenant with a limit of 10 per day on the meter calls, a hard sum meter.
func newReserver(t *testing.T, db *sqldb.DB) (*usagetest.World, uuid.UUID) {
	t.Helper()
	w := usagetest.New(t, db, "2026-11-21 12:00")
	w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetDaily, usage.EnforcementHard))
	tenantID := w.NewTenant(t)
	w.Plans.Grant(tenantID, usage.Allowance{Limits: map[string]int64{"calls": 10}})
	return w, tenantID
}

// Reserved units count against the limit and the grants, but not as usage. A settlement is always
// stored.
func TestReservationsCount(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		give(t, w, tenantID, "calls", "5", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "2"), nil)
		a := reserving(t, w, tenantID, "calls", "6", "a", nil)
		wantUsed(t, w, tenantID, "calls", "2", "6")
		b := reserving(t, w, tenantID, "calls", "4", "b", nil)
		wantRemaining(t, w, tenantID, "calls", "5") // a reservation does not lower the remaining units
		reserving(t, w, tenantID, "calls", "3.000001", "c", usage.ErrQuotaExceeded)
		record(t, w, tenantID, usagetest.Recording("calls", "3.000001"), usage.ErrQuotaExceeded)
		record(t, w, tenantID, usagetest.Recording("calls", "3"), nil) // reserved: the limit and 2 granted units
		wantRemaining(t, w, tenantID, "calls", "2")
		settling(t, w, tenantID, a.ID, "7", nil)
		wantUsed(t, w, tenantID, "calls", "12", "4")
		if err := w.Release(t.Context(), tenantID, b.ID); err != nil {
			t.Fatal(err)
		}
		wantUsed(t, w, tenantID, "calls", "12", "0")
		c := reserving(t, w, tenantID, "calls", "1", "c", nil)
		settling(t, w, tenantID, c.ID, "100", nil)
		wantUsed(t, w, tenantID, "calls", "112", "0")
		wantRemaining(t, w, tenantID, "calls", "0")
		if wrong := w.Recount(t); wrong != 0 {
			t.Errorf("%d counters are wrong", wrong)
		}
	})
}

// An idempotency key identifies one reservation per meter. The event that settles the reservation
// gets the key.
func TestKeysOfReservations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		record(t, w, tenantID, usagetest.WithKey(usagetest.Recording("calls", "1"), "event"), nil)
		reserving(t, w, tenantID, "calls", "1", "event", usage.ErrDuplicate)
		a := reserving(t, w, tenantID, "calls", "2", "a", nil)
		if again := reserving(t, w, tenantID, "calls", "2", "a", nil); again.ID != a.ID || !again.ExpiresAt.Equal(a.ExpiresAt) {
			t.Errorf("another reservation: %v, want %v", again, a)
		}
		wantUsed(t, w, tenantID, "calls", "1", "2")
		reserving(t, w, tenantID, "calls", "1", "a", usage.ErrOtherQuantity)
		record(t, w, tenantID, usagetest.WithKey(usagetest.Recording("calls", "2"), "a"), usage.ErrDuplicate)
		// After its release or expiry, the reservation is opened again under the same ID.
		for range 2 {
			if err := w.Release(t.Context(), tenantID, a.ID); err != nil {
				t.Fatal(err)
			}
		}
		settling(t, w, tenantID, a.ID, "2", usage.ErrNoReservation)
		record(t, w, tenantID, usagetest.WithKey(usagetest.Recording("calls", "2"), "a"), usage.ErrDuplicate)
		reserving(t, w, tenantID, "calls", "1", "a", usage.ErrOtherQuantity)
		if again := reserving(t, w, tenantID, "calls", "2", "a", nil); again.ID != a.ID {
			t.Errorf("another reservation: %v, want %v", again, a)
		}
		w.Clock.Set(w.Clock.Now().Add(time.Hour))
		wantUsed(t, w, tenantID, "calls", "1", "0")
		if again := reserving(t, w, tenantID, "calls", "2", "a", nil); again.ID != a.ID || !again.ExpiresAt.Equal(w.Clock.Now().Add(time.Hour)) {
			t.Errorf("another reservation: %v, want %v", again, a)
		}
		event := settling(t, w, tenantID, a.ID, "2", nil)
		for _, err := range []error{
			w.Release(t.Context(), tenantID, a.ID),
			func() error { _, err := w.Settle(t.Context(), tenantID, a.ID, usage.Recording{}); return err }(),
			func() error {
				_, err := w.Reserve(t.Context(), tenantID, "calls", usagetest.Quantity("2"), "a", time.Hour)
				return err
			}(),
		} {
			if !errors.Is(err, usage.ErrSettled) || usage.ExtraOf(err)["event_id"] != event.ID.String() {
				t.Errorf("got %v, want the event %s", err, event.ID)
			}
		}
		record(t, w, tenantID, usagetest.WithKey(usagetest.Recording("calls", "2"), "a"), usage.ErrDuplicate)
		wantUsed(t, w, tenantID, "calls", "3", "0")
	})
}

// A reservation stops counting at the moment of its expiry, without a job. It can be settled for
// another day.
func TestExpiredReservations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		a, b := reserving(t, w, tenantID, "calls", "5", "a", nil), reserving(t, w, tenantID, "calls", "5", "b", nil)
		record(t, w, tenantID, usagetest.Recording("calls", "1"), usage.ErrQuotaExceeded)
		w.Clock.Set(w.Clock.Now().Add(time.Hour - time.Microsecond))
		record(t, w, tenantID, usagetest.Recording("calls", "1"), usage.ErrQuotaExceeded)
		w.Clock.Set(w.Clock.Now().Add(time.Microsecond))
		wantUsed(t, w, tenantID, "calls", "0", "0")
		record(t, w, tenantID, usagetest.Recording("calls", "10"), nil)
		w.Clock.Set(w.Clock.Now().Add(day - time.Microsecond))
		settling(t, w, tenantID, a.ID, "4", nil)
		w.Clock.Set(w.Clock.Now().Add(time.Microsecond))
		settling(t, w, tenantID, b.ID, "4", usage.ErrNoReservation)
		settling(t, w, tenantID, uuid.New(), "4", usage.ErrNoReservation)
		settling(t, w, w.NewTenant(t), b.ID, "4", usage.ErrNoReservation)
		wantUsed(t, w, tenantID, "calls", "4", "0")
	})
}

// Only sum and count meters accept reservations. On a count meter, a reservation always holds 1.
// Reserved units also count against caps.
func TestReservableMeters(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		w.Apply(t, usagetest.Meter("files", usage.Count, usage.ResetDaily, usage.EnforcementUnenforced),
			usagetest.Meter("peak", usage.Max, usage.ResetDaily, usage.EnforcementHard), usagetest.Meter("level", usage.LastValue, usage.ResetDaily, usage.EnforcementHard))
		for _, code := range []string{"peak", "level"} {
			if _, err := w.Reserve(t.Context(), tenantID, code, 1, "a", time.Hour); err != usage.ErrNotReservable { //nolint:errorlint // a field error matches itself
				t.Errorf("%s: %v", code, err)
			}
		}
		reserving(t, w, tenantID, "unknown", "1", "a", usage.ErrUnknownMeter)
		exec(t, db, `UPDATE usage_streams SET cap = 2`)
		exec(t, db, `INSERT INTO usage_streams (tenant_id, meter_id, cap) SELECT $1, id, 2 FROM meters WHERE code = 'files'`, tenantID)
		a := reserving(t, w, tenantID, "files", "700", "a", nil)
		wantUsed(t, w, tenantID, "files", "0", "1")
		record(t, w, tenantID, usagetest.Recording("files", "5"), nil)
		record(t, w, tenantID, usagetest.Recording("files", "5"), usage.ErrQuotaExceeded)
		reserving(t, w, tenantID, "files", "1", "b", usage.ErrQuotaExceeded)
		settling(t, w, tenantID, a.ID, "9", nil)
		wantUsed(t, w, tenantID, "files", "2", "0")
	})
}

// A tenant has at most 10,000 open reservations, on all meters together.
func TestMaximumOfReservations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		w.Apply(t, usagetest.Meter("files", usage.Count, usage.ResetDaily, usage.EnforcementUnenforced))
		last := reserving(t, w, tenantID, "files", "1", "last", nil)
		exec(t, db, `INSERT INTO usage_reservations (tenant_id, id, meter_id, idempotency_key, quantity, expires_at)
SELECT r.tenant_id, CASE WHEN n = 0 THEN $1::uuid ELSE $2::uuid END, r.meter_id, r.idempotency_key || n, r.quantity, r.expires_at
FROM usage_reservations r CROSS JOIN (SELECT 0 AS n UNION ALL SELECT 1) c`, uuid.New(), uuid.New())
		fill(t, w, tenantID, 10_000-3-5)
		var opened, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				code := []string{"calls", "files"}[i/2%2]
				switch _, err := w.Instances[i%2].Reserve(t.Context(), tenantID, code, 1, strconv.Itoa(i), time.Hour); {
				case err == nil:
					opened.Add(1)
				case errors.Is(err, usage.ErrTooManyReservations):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if opened.Load() != 5 || refused.Load() != 35 {
			t.Errorf("%d opened, %d refused", opened.Load(), refused.Load())
		}
		reserving(t, w, w.NewTenant(t), "files", "1", "a", nil)
		settling(t, w, tenantID, last.ID, "1", nil)
		reserving(t, w, tenantID, "files", "1", "next", nil)
		reserving(t, w, tenantID, "files", "1", "another", usage.ErrTooManyReservations)
	})
}

// fill stores open reservations of a tenant on the meter files.
func fill(t *testing.T, w *usagetest.World, tenantID uuid.UUID, n int) {
	t.Helper()
	var meterID uuid.UUID
	w.Each(t, `SELECT id FROM meters WHERE code = 'files'`, nil, func(scan func(...any) error) error { return scan(&meterID) })
	until := w.Clock.Now().Add(time.Hour)
	for n > 0 {
		some := min(n, 500)
		rows := make([]any, 0, 6*some)
		for range some {
			id := uuid.New()
			rows = append(rows, tenantID, id, meterID, id.String(), 1, until)
		}
		values, args := sqldb.Values(w.DB, 1, rows, "uuid", "uuid", "uuid", "text", "bigint", "timestamptz")
		exec(t, w.DB, `INSERT INTO usage_reservations (tenant_id, id, meter_id, idempotency_key, quantity, expires_at) `+values+` ON CONFLICT DO NOTHING`, args...)
		n -= some
	}
}

// Several concurrent settlements of a reservation store one event. Concurrent reservations and
// events together do not exceed a limit.
func TestReservationsUnderConcurrency(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w, tenantID := newReserver(t, db)
		give(t, w, tenantID, "calls", "10", nil)
		var settled, other, accepted atomic.Int64
		var wg sync.WaitGroup
		for i := range 60 {
			wg.Go(func() {
				svc := w.Instances[i%2]
				r, err := svc.Reserve(t.Context(), tenantID, "calls", usagetest.Quantity("1"), strconv.Itoa(i%30), time.Hour)
				if errors.Is(err, usage.ErrQuotaExceeded) || errors.Is(err, usage.ErrSettled) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				switch _, err := svc.Settle(t.Context(), tenantID, r.ID, usage.Recording{Quantity: usagetest.Quantity("1")}); {
				case err == nil:
					settled.Add(1)
				case errors.Is(err, usage.ErrSettled):
					other.Add(1)
				default:
					t.Error(err)
				}
			})
			wg.Go(func() {
				switch _, err := w.Instances[i%2].Record(t.Context(), tenantID, usagetest.Recording("calls", "1")); {
				case err == nil:
					accepted.Add(1)
				case !errors.Is(err, usage.ErrQuotaExceeded):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := settled.Load() + accepted.Load(); n != 20 || w.Count(t, tenantID) != 20 {
			t.Errorf("%d settled and %d recorded, want 20 together; %d stored", settled.Load(), accepted.Load(), w.Count(t, tenantID))
		}
		wantUsed(t, w, tenantID, "calls", "20", "0")
		wantRemaining(t, w, tenantID, "calls", "0")
	})
}
