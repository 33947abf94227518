package account

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// lockEmailCode locks the row of an email, and creates a missing row. It returns whether a code was
// mailed to the email, and the times of recent requests, oldest first.
func (s store) lockEmailCode(ctx context.Context, email string, r codeRequest, grant Grant) (wasMailed bool, mails []time.Time, err error) {
	row, err := s.q(ctx).LockEmailCode(ctx, accountsql.LockEmailCodeParams{
		EmailHash: hashToken(email), RequestHash: hashToken(r.id), BrowserHash: browserHash(grant), MailedAt: sqldb.JSON("[]"), ExpiresAt: r.expiresAt,
	})
	if err != nil {
		return false, nil, sqldb.Wrap(err, "lock email code")
	}
	err = json.Unmarshal(row.MailedAt, &mails)
	return row.UserID != nil, mails, err
}

// replaceEmailCode makes a request the only valid request of an email. mails are the times of the
// recent mails, including the mail of this request.
func (s store) replaceEmailCode(ctx context.Context, email string, r codeRequest, grant Grant, mails []time.Time) error {
	times, err := json.Marshal(mails)
	if err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).ReplaceEmailCode(ctx, accountsql.ReplaceEmailCodeParams{
		EmailHash: hashToken(email), RequestHash: hashToken(r.id), BrowserHash: browserHash(grant), MailedAt: times, ExpiresAt: r.expiresAt,
	}), "replace email code")
}

// setEmailCode stores the code of a request. It reports false if the request is invalid, or
// already has a code.
func (s store) setEmailCode(ctx context.Context, request string, userID int64, hash string, now time.Time) (bool, error) {
	n, err := s.q(ctx).SetEmailCode(ctx, accountsql.SetEmailCodeParams{RequestHash: request, UserID: &userID, CodeHash: &hash, Now: now})
	return n > 0, sqldb.Wrap(err, "store email code")
}

// reservedCode is a code with one more counted attempt. hash is "" if no code was mailed.
type reservedCode struct {
	userID int64
	hash   string
}

// reserveEmailCode counts an attempt at the code of a request for the browser of grant. It returns
// errEmailCode if the request is invalid. Requests for addresses without an account are counted
// alike, so that they take the same time.
func (s store) reserveEmailCode(ctx context.Context, request string, grant Grant, now time.Time) (r reservedCode, err error) {
	row, err := s.q(ctx).ReserveEmailCode(ctx, accountsql.ReserveEmailCodeParams{
		RequestHash: request, BrowserHash: browserHash(grant), Most: emailCodeAttempts, Now: now,
	})
	if row.UserID != nil && row.CodeHash != nil {
		r = reservedCode{userID: *row.UserID, hash: *row.CodeHash}
	}
	return r, sqldb.WrapAbsent(err, "reserve attempt of email code", errEmailCode)
}

// useEmailCode uses up a code. It returns errEmailCode if the code was used or has become invalid.
func (s store) useEmailCode(ctx context.Context, request, hash string) error {
	n, err := s.q(ctx).UseEmailCode(ctx, accountsql.UseEmailCodeParams{RequestHash: request, CodeHash: &hash})
	if err == nil && n == 0 {
		return errEmailCode
	}
	return sqldb.Wrap(err, "use email code")
}

// deleteOldEmailCodes deletes the rows of requests that expired before the given time.
func (s store) deleteOldEmailCodes(ctx context.Context, before time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteOldEmailCodes(ctx, before), "delete old email codes")
}

// isVerified reports whether the email of a user is verified. It returns errNoUser if the user does
// not exist.
func (s store) isVerified(ctx context.Context, userID int64) (bool, error) {
	row, err := s.q(ctx).UserByID(ctx, userID)
	return row.EmailVerifiedAt != nil, sqldb.WrapAbsent(err, "read user", errNoUser)
}
