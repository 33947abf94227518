package factor

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/factor/factorsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *factorsql.Queries { return factorsql.New(s.db.Conn(ctx)) }

// storedTOTP is the authenticator app of a user.
type storedTOTP struct {
	secret      string // encrypted
	lastStep    int64
	isConfirmed bool
	createdAt   time.Time
	lastUsedAt  *time.Time
}

// totp returns the authenticator app of a user, and whether there is one.
func (s store) totp(ctx context.Context, userID int64) (storedTOTP, bool, error) {
	row, err := s.q(ctx).TOTP(ctx, userID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return storedTOTP{}, false, nil
	}
	return storedTOTP{
		secret: row.Secret, lastStep: row.LastStep, isConfirmed: row.ConfirmedAt != nil, createdAt: row.CreatedAt, lastUsedAt: row.LastUsedAt,
	}, true, sqldb.Wrap(err, "read authenticator app")
}

func (s store) putTOTP(ctx context.Context, userID int64, sealed string, now time.Time) error {
	err := s.q(ctx).PutTOTP(ctx, factorsql.PutTOTPParams{UserID: userID, Secret: sealed, CreatedAt: now})
	return sqldb.Wrap(err, "store authenticator app")
}

func (s store) confirmTOTP(ctx context.Context, userID, step int64, now time.Time) error {
	err := s.q(ctx).ConfirmTOTP(ctx, factorsql.ConfirmTOTPParams{UserID: userID, ConfirmedAt: &now, LastStep: step})
	return sqldb.Wrap(err, "confirm authenticator app")
}

func (s store) useTOTP(ctx context.Context, userID, step int64, now time.Time) error {
	err := s.q(ctx).UseTOTP(ctx, factorsql.UseTOTPParams{UserID: userID, LastStep: step, LastUsedAt: &now})
	return sqldb.Wrap(err, "record use of authenticator app")
}

func (s store) deleteTOTP(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteTOTP(ctx, userID), "delete authenticator app")
}

// hasFactor reports whether a user has a second factor.
func (s store) hasFactor(ctx context.Context, userID int64) (bool, error) {
	has, err := s.q(ctx).HasFactor(ctx, userID)
	return has, sqldb.Wrap(err, "find second factor")
}

// updateEnabled stores whether the user has a second factor. The caller has locked the user and
// changed the factors.
func (s store) updateEnabled(ctx context.Context, userID int64) error {
	has, err := s.hasFactor(ctx, userID)
	if err != nil {
		return err
	}
	err = s.q(ctx).SetFactorEnabled(ctx, factorsql.SetFactorEnabledParams{ID: userID, MfaEnabled: has})
	return sqldb.Wrap(err, "store second factor of user")
}

// allTOTP returns the authenticator apps of all users, by email.
func (s store) allTOTP(ctx context.Context) ([]factorsql.AllTOTPRow, error) {
	rows, err := s.q(ctx).AllTOTP(ctx)
	return rows, sqldb.Wrap(err, "list authenticator apps")
}

// countRecoveryCodes returns the number of recovery codes of a user, and how many are unused.
func (s store) countRecoveryCodes(ctx context.Context, userID int64) (codes, remaining int64, err error) {
	row, err := s.q(ctx).CountRecoveryCodes(ctx, userID)
	return row.Codes, row.Remaining, sqldb.Wrap(err, "count recovery codes")
}

func (s store) insertRecoveryCode(ctx context.Context, userID int64, hash string, now time.Time) error {
	err := s.q(ctx).InsertRecoveryCode(ctx, factorsql.InsertRecoveryCodeParams{UserID: userID, CodeHash: hash, CreatedAt: now})
	return sqldb.Wrap(err, "insert recovery code")
}

// useRecoveryCode marks a recovery code as used. It reports false if the code is unknown or already
// used.
func (s store) useRecoveryCode(ctx context.Context, userID int64, hash string, now time.Time) (bool, error) {
	n, err := s.q(ctx).UseRecoveryCode(ctx, factorsql.UseRecoveryCodeParams{UserID: userID, CodeHash: hash, UsedAt: &now})
	return n > 0, sqldb.Wrap(err, "use recovery code")
}

func (s store) deleteRecoveryCodes(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteRecoveryCodes(ctx, userID), "delete recovery codes")
}

// user returns a user, without loading the passkeys, and the user handle, which can be empty. It
// returns errAbsent if the user does not exist.
func (s store) user(ctx context.Context, userID int64) (u passkeyUser, handle string, err error) {
	row, err := s.q(ctx).FactorUser(ctx, userID)
	if row.PasskeyHandle != nil {
		handle = *row.PasskeyHandle
	}
	return passkeyUser{name: row.Name, email: row.Email}, handle, sqldb.WrapAbsent(err, "read user", errAbsent)
}

func (s store) setHandle(ctx context.Context, userID int64, handle string) error {
	err := s.q(ctx).SetPasskeyHandle(ctx, factorsql.SetPasskeyHandleParams{ID: userID, Handle: handle})
	return sqldb.Wrap(err, "store user handle")
}

func (s store) clearHandle(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).ClearPasskeyHandle(ctx, userID), "clear user handle")
}

// passkeys returns the passkeys of a user, oldest first.
func (s store) passkeys(ctx context.Context, userID int64) ([]Passkey, error) {
	rows, err := s.q(ctx).Passkeys(ctx, userID)
	if err != nil {
		return nil, sqldb.Wrap(err, "list passkeys")
	}
	list := make([]Passkey, len(rows))
	for i, row := range rows {
		list[i] = Passkey{ID: row.ID, Name: row.Name, CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt}
		if err := json.Unmarshal(row.Record, &list[i].record); err != nil {
			return nil, sqldb.Wrap(err, "read record of passkey")
		}
	}
	return list, nil
}

// ownerOfPasskey returns the user with a passkey. It returns errAbsent for an unknown passkey.
func (s store) ownerOfPasskey(ctx context.Context, credentialID string) (int64, error) {
	id, err := s.q(ctx).OwnerOfPasskey(ctx, credentialID)
	return id, sqldb.WrapAbsent(err, "find passkey", errAbsent)
}

// insertPasskey stores a passkey. It returns errCredential if any account has registered it.
func (s store) insertPasskey(ctx context.Context, userID int64, p Passkey) error {
	record, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	n, err := s.q(ctx).InsertPasskey(ctx, factorsql.InsertPasskeyParams{
		ID: p.ID, UserID: userID, Name: p.Name, CredentialID: encodeID(p.record.ID), Record: record, CreatedAt: p.CreatedAt,
	})
	if err == nil && n == 0 {
		return errCredential
	}
	return sqldb.Wrap(err, "insert passkey")
}

func (s store) renamePasskey(ctx context.Context, userID int64, p Passkey) error {
	_, err := s.q(ctx).RenamePasskey(ctx, factorsql.RenamePasskeyParams{ID: p.ID, UserID: userID, Name: p.Name})
	return sqldb.Wrap(err, "rename passkey")
}

// usePasskey stores the updated record of a passkey and the time of its use.
func (s store) usePasskey(ctx context.Context, p Passkey, now time.Time) error {
	record, err := json.Marshal(p.record)
	if err != nil {
		return err
	}
	err = s.q(ctx).UsePasskey(ctx, factorsql.UsePasskeyParams{ID: p.ID, Record: record, LastUsedAt: &now})
	return sqldb.Wrap(err, "record use of passkey")
}

func (s store) deletePasskey(ctx context.Context, userID int64, id uuid.UUID) error {
	_, err := s.q(ctx).DeletePasskey(ctx, factorsql.DeletePasskeyParams{ID: id, UserID: userID})
	return sqldb.Wrap(err, "delete passkey")
}

func (s store) insertChallenge(ctx context.Context, id uuid.UUID, kind string, userID *int64, session []byte, now time.Time) error {
	err := s.q(ctx).InsertPasskeyChallenge(ctx, factorsql.InsertPasskeyChallengeParams{
		ID: id, Kind: kind, UserID: userID, Session: session, ExpiresAt: now.Add(challengeLifetime), CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert passkey challenge")
}

// challenge returns the user ID of a challenge (0 for a login) and its session data. It returns
// errAbsent for an unknown or expired challenge.
func (s store) challenge(ctx context.Context, id uuid.UUID, kind string, now time.Time) (userID int64, session []byte, err error) {
	row, err := s.q(ctx).PasskeyChallenge(ctx, factorsql.PasskeyChallengeParams{ID: id, Kind: kind, Now: now})
	if row.UserID != nil {
		userID = *row.UserID
	}
	return userID, row.Session, sqldb.WrapAbsent(err, "read passkey challenge", errAbsent)
}

// takeChallenge deletes a challenge. It returns errUnverified if it no longer exists.
func (s store) takeChallenge(ctx context.Context, id uuid.UUID) error {
	n, err := s.q(ctx).TakePasskeyChallenge(ctx, id)
	if err == nil && n == 0 {
		return errUnverified
	}
	return sqldb.Wrap(err, "take passkey challenge")
}

func (s store) deleteOldChallenges(ctx context.Context, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteOldPasskeyChallenges(ctx, now), "delete expired passkey challenges")
}

// deleteAll deletes all factors, recovery codes and passkey challenges of a user.
func (s store) deleteAll(ctx context.Context, userID int64) error {
	q := s.q(ctx)
	for _, remove := range []func(context.Context, int64) error{
		q.DeleteTOTP, q.DeletePasskeys, q.DeleteRecoveryCodes, q.DeletePasskeyChallenges,
	} {
		if err := remove(ctx, userID); err != nil {
			return sqldb.Wrap(err, "delete factors of user")
		}
	}
	return s.updateEnabled(ctx, userID)
}
