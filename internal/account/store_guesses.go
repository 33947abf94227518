package account

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// lockGuesses locks and returns the counter of wrong passwords of an email. It creates the counter
// if it does not exist.
func (s store) lockGuesses(ctx context.Context, email string, now time.Time) (guessCounter, error) {
	hash := hashToken(email)
	row, err := s.q(ctx).LockWrongPasswords(ctx, accountsql.LockWrongPasswordsParams{EmailHash: hash, BeganAt: now})
	return guessCounter{count: row.Count, began: row.BeganAt, closed: row.ClosedUntil}, sqldb.Wrap(err, "lock failed login counter")
}

func (s store) setGuesses(ctx context.Context, email string, g guessCounter) error {
	err := s.q(ctx).UpdateWrongPasswords(ctx, accountsql.UpdateWrongPasswordsParams{
		EmailHash: hashToken(email), Count: g.count, BeganAt: g.began, ClosedUntil: g.closed,
	})
	return sqldb.Wrap(err, "count failed login")
}

// clearGuesses deletes the counter of an email.
func (s store) clearGuesses(ctx context.Context, email string) error {
	return sqldb.Wrap(s.q(ctx).DeleteWrongPasswords(ctx, hashToken(email)), "clear wrong passwords")
}

// deleteOldGuesses deletes the counters of accounts that reopened before the given time.
func (s store) deleteOldGuesses(ctx context.Context, before time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteOldWrongPasswords(ctx, before), "delete old wrong passwords")
}
