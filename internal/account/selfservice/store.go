package selfservice

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/selfservice/selfservicesql"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *selfservicesql.Queries {
	return selfservicesql.New(s.db.Conn(ctx))
}

func (s store) changeProfile(ctx context.Context, user account.User, now time.Time) error {
	err := s.q(ctx).ChangeProfile(ctx, selfservicesql.ChangeProfileParams{ID: user.ID, Name: user.Name, Locale: user.Locale, UpdatedAt: now})
	if err != nil {
		return sqldb.Wrap(err, "change profile")
	}
	return search.NewIndex(s.db).PutUser(ctx, user.ID, user.Name, user.Email)
}

// credentials returns the unrevoked credentials of a user, including expired ones of families that
// are still active.
func (s store) credentials(ctx context.Context, userID int64, now time.Time) ([]credential, error) {
	rows, err := s.q(ctx).Credentials(ctx, selfservicesql.CredentialsParams{UserID: userID, Now: now})
	all := make([]credential, len(rows))
	for i, row := range rows {
		c := credential{expiresAt: row.ExpiresAt, login: Login{
			ID: row.Family, Kind: "token", IP: row.Ip, UserAgent: row.UserAgent, CreatedAt: row.LoginAt, LastUsedAt: row.CreatedAt,
		}}
		if row.Kind == "session" {
			c.login.Kind = row.Kind
		}
		if row.LastUsedAt != nil && row.LastUsedAt.After(row.CreatedAt) {
			c.login.LastUsedAt = *row.LastUsedAt
		}
		c.login.LastUsedAt = c.login.LastUsedAt.Truncate(time.Minute)
		all[i] = c
	}
	return all, sqldb.Wrap(err, "list credentials")
}

// isEmailTaken reports whether an account uses the email.
func (s store) isEmailTaken(ctx context.Context, email string) (bool, error) {
	n, err := s.q(ctx).EmailTaken(ctx, email)
	return n > 0, sqldb.Wrap(err, "find email")
}

// putVerification stores a verification link for an email. It replaces an older link.
func (s store) putVerification(ctx context.Context, userID int64, email, hash string, now time.Time) error {
	err := s.q(ctx).PutVerification(ctx, selfservicesql.PutVerificationParams{
		UserID: userID, Email: email, TokenHash: hash, ExpiresAt: now.Add(linkLifetime), CreatedAt: now,
	})
	return sqldb.Wrap(err, "store verification of email")
}

func (s store) deleteOtherVerifications(ctx context.Context, userID int64, kept string) error {
	err := s.q(ctx).DeleteOtherVerifications(ctx, selfservicesql.DeleteOtherVerificationsParams{UserID: userID, Kept: kept})
	return sqldb.Wrap(err, "delete other verifications of email")
}

// verification returns the user of a link, and whether the link changes the user's email. It
// returns errToken if the link is unknown or has expired.
func (s store) verification(ctx context.Context, hash string, now time.Time) (userID int64, isChange bool, err error) {
	row, err := s.q(ctx).Verification(ctx, selfservicesql.VerificationParams{TokenHash: hash, Now: now})
	return row.UserID, row.IsChange, sqldb.WrapAbsent(err, "read verification of email", errToken)
}

// takeVerification deletes a link and returns its email. It returns errToken if the link was used
// or has expired.
func (s store) takeVerification(ctx context.Context, userID int64, hash string, now time.Time) (string, error) {
	email, err := s.q(ctx).TakeVerification(ctx, selfservicesql.TakeVerificationParams{TokenHash: hash, UserID: userID, Now: now})
	return email, sqldb.WrapAbsent(err, "take verification of email", errToken)
}

func (s store) deleteExpiredVerifications(ctx context.Context, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteExpiredVerifications(ctx, now), "delete expired verifications of email")
}

// changeEmail sets a new, verified email. It returns errToken if another account uses the email.
func (s store) changeEmail(ctx context.Context, userID int64, email string, now time.Time) error {
	name, err := s.q(ctx).ChangeEmail(ctx, selfservicesql.ChangeEmailParams{ID: userID, Email: email, Now: &now})
	if err != nil {
		return sqldb.WrapAbsent(err, "change email", errToken)
	}
	return search.NewIndex(s.db).PutUser(ctx, userID, name, email)
}
