package account

import (
	"context"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A correct login deletes the counter while a wrong one waits for it: the wrong one then counts
// from zero.
func TestCounterIsDeletedByAnotherLogin(t *testing.T) {
	t.Parallel()
	db := dbtest.New(t, sqldb.Postgres) // SQLite has one writer
	s := store{db: db}
	const email = "ada@example.com"
	now := time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	lock := func(ctx context.Context) error {
		_, err := s.lockGuesses(ctx, email, now)
		return err
	}
	if err := db.Tx(t.Context(), lock); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	err := db.Tx(t.Context(), func(ctx context.Context) error {
		if err := lock(ctx); err != nil {
			return err
		}
		go func() { second <- db.Tx(t.Context(), lock) }()
		select {
		case err := <-second:
			t.Errorf("the second login did not wait: %v", err)
		case <-time.After(200 * time.Millisecond):
		}
		return s.clearGuesses(ctx, email)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}
