package factor

import (
	"context"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/jobs"
)

// JobReset is the kind of job that mails a user that an administrator removed their factors (see
// Service.HandleReset). The mail is sent by a job, because the command does not read the mail settings.
const JobReset = "account.factors-reset"

type resetNotice struct {
	UserID int64 `json:"user_id"`
}

// Reset removes all factors of a user, and ends all logins and open challenges. It uses the
// transaction of ctx if there is one. For a platform admin it returns an error, unless byOperator
// is set.
//
// Invariant: Reset ends a login that is completed concurrently, or the login fails because its
// challenge is gone. Both lock the user.
func (s *Service) Reset(ctx context.Context, userID int64, byOperator bool) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.deps.Accounts.RevokeCredentials(ctx, userID); err != nil { // also locks the user
			return err
		}
		self, err := s.deps.Accounts.LockSelf(ctx, userID)
		if err != nil {
			return err
		}
		if self.IsPlatformAdmin && !byOperator {
			return errPlatformAdmin
		}
		if err := s.store.deleteAll(ctx, userID); err != nil {
			return err
		}
		if err := s.deps.Jobs.Enqueue(ctx, JobReset, resetNotice{userID}); err != nil {
			return err
		}
		return s.deps.Accounts.Record(ctx, userID, "factor.reset", nil, nil)
	})
}

// Erase deletes all factors of a user who deletes the account, and the user handle. The caller has
// locked the user.
func (s *Service) Erase(ctx context.Context, userID int64) error {
	if err := s.store.deleteAll(ctx, userID); err != nil {
		return err
	}
	return s.store.clearHandle(ctx, userID)
}

// ResetByEmail is Reset for the operator. It returns errNoAccount if no account uses the email.
func (s *Service) ResetByEmail(ctx context.Context, email string) error {
	user, found, err := s.deps.Accounts.Find(ctx, email)
	if err != nil {
		return err
	}
	if !found {
		return errNoAccount
	}
	return s.Reset(ctx, user.ID, true)
}

// HandleReset handles JobReset.
func (s *Service) HandleReset(ctx context.Context, job jobs.Job) error {
	var n resetNotice
	if err := job.Decode(&n); err != nil {
		return err
	}
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.mail(ctx, n.UserID, func(to recipient) error {
			return s.deps.Notices.FactorRemoved(ctx, to.locale, to.Email, to.Name, kindAll, "")
		})
	})
	if account.IsUserDeleted(err) {
		return nil
	}
	return err
}
