package usage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// Recordings that wait too long for a lock return ErrBusy and store nothing. The same recordings
// are accepted once the lock is released.
func TestRecordingsThatWaitTooLong(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		if _, err := w.Record(t.Context(), tenantID, usagetest.Recording("calls", "1")); err != nil {
			t.Fatal(err)
		}
		w.SetBatchTimeout(300 * time.Millisecond)
		keyed := func(key string) usage.Recording { return usagetest.WithKey(usagetest.Recording("calls", "1"), key) }
		record := func() [4]error { // the errors of two calls and of the two events of a third
			var errs [4]error
			var all sync.WaitGroup
			all.Go(func() { _, errs[0] = w.Record(t.Context(), tenantID, keyed("a")) })
			all.Go(func() { _, errs[1] = w.Record(t.Context(), tenantID, keyed("b")) })
			all.Go(func() {
				outcomes, err := w.RecordBatch(t.Context(), tenantID, []usage.Recording{keyed("c"), keyed("d")})
				if err != nil {
					t.Error(err)
					return
				}
				errs[2], errs[3] = outcomes[0].Err, outcomes[1].Err
			})
			all.Wait()
			return errs
		}
		err := db.Tx(t.Context(), func(ctx context.Context) error {
			if _, err := db.Conn(ctx).ExecContext(ctx, `UPDATE usage_streams SET cap = cap WHERE tenant_id = $1::uuid`, tenantID); err != nil {
				return err
			}
			for i, err := range record() {
				if !errors.Is(err, usage.ErrBusy) {
					t.Errorf("%d: got %v, want ErrBusy", i, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Count(t, tenantID); got != 1 {
			t.Errorf("%d events are stored, want the first", got)
		}
		w.SetBatchTimeout(time.Minute)
		for i, err := range record() {
			if err != nil {
				t.Errorf("%d: %v after the lock was released", i, err)
			}
		}
		if got := w.Count(t, tenantID); got != 5 {
			t.Errorf("%d events are stored, want 5", got)
		}
	})
}
