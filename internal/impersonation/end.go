package impersonation

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// EndOrphaned ends the impersonations that depend on revoked or expired credentials of a user, in
// the transaction of ctx, which has locked the user. Call it after a logout and after credentials
// were revoked.
func (s *Service) EndOrphaned(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingOfUser(ctx, userID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, true)
	})
}

// EndFamily ends the impersonations that depend on credentials of one login, and revokes those
// credentials, in the transaction of ctx, which has locked the user. A refresh calls it, because
// the new tokens act as the admin, but the old tokens must not.
func (s *Service) EndFamily(ctx context.Context, userID int64, family uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingOfFamily(ctx, userID, family)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.store.revoke(ctx, id, s.deps.Clock.Now()); err != nil {
				return err
			}
		}
		return s.endAll(ctx, ids, false)
	})
}

// ImpersonatorsOf returns the users who currently impersonate a user.
func (s *Service) ImpersonatorsOf(ctx context.Context, targetID int64) ([]int64, error) {
	return s.store.impersonatorsOf(ctx, targetID)
}

// EndForTarget ends the impersonations of a target, in the transaction of ctx, which has locked the
// target and the impersonators. Call it when the target leaves the tenant or becomes a platform
// admin, because platform admins cannot be impersonated.
func (s *Service) EndForTarget(ctx context.Context, targetID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingTarget(ctx, targetID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, false)
	})
}

// Expire ends the impersonations by an admin who has lost the permission impersonation.start, in
// the transaction of ctx, which has locked the admin. Their credentials keep the target and reject
// all requests except stop, status and logout, so that a request intended for the target never acts
// as the admin.
func (s *Service) Expire(ctx context.Context, adminID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingOfUser(ctx, adminID)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c, err := s.store.lockCredential(ctx, id)
			if err != nil {
				return err
			}
			if err := s.logEnd(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// logEnd records that the impersonation of a locked credential has ended. The credential keeps its
// target, so that a request intended for the target never acts as the admin.
func (s *Service) logEnd(ctx context.Context, c credential) error {
	if c.target == nil || c.ended {
		return nil
	}
	if err := s.store.setEnded(ctx, c.id, s.deps.Clock.Now()); err != nil {
		return err
	}
	return s.bus.Ended.publish(ctx, EndEvent{factsOf(ctx, c.userID, *c.target, c.limits)})
}

// LogEnd records the end of the impersonation by the caller of ctx if it has expired.
func (s *Service) LogEnd(ctx context.Context) error {
	caller := authz.FromContext(ctx)
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.store.lockUser(ctx, caller.Impersonator.UserID); err != nil {
			return err
		}
		c, err := s.store.lockCredential(ctx, caller.TokenID)
		if errors.Is(err, errNoCredential) || err == nil && !c.isOverdue(s.deps.Clock.Now()) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.logEnd(ctx, c)
	})
}

// Sweep ends the impersonations that depend on expired or revoked credentials, and records the end
// of other expired impersonations. Each end is recorded once, even if several instances sweep
// concurrently.
func (s *Service) Sweep(ctx context.Context) error {
	ids, err := s.store.listOverdue(ctx, s.deps.Clock.Now())
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.sweep(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) sweep(ctx context.Context, id uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		owner, err := s.store.ownerOf(ctx, id)
		if errors.Is(err, errNoCredential) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := s.store.lockUser(ctx, owner); err != nil {
			return err
		}
		if ended, err := s.end(ctx, id, true); err != nil || ended {
			return err
		}
		c, err := s.store.lockCredential(ctx, id)
		if errors.Is(err, errNoCredential) || err == nil && !c.isOverdue(s.deps.Clock.Now()) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.logEnd(ctx, c)
	})
}

func (s *Service) endAll(ctx context.Context, ids []uuid.UUID, onlyDead bool) error {
	for _, id := range ids {
		if _, err := s.end(ctx, id, onlyDead); err != nil {
			return err
		}
	}
	return nil
}

// end ends the impersonation of a credential and reports whether there was one. The caller has
// locked the credential's user. onlyDead skips a credential that is still valid, for example
// because its session was just extended.
func (s *Service) end(ctx context.Context, id uuid.UUID, onlyDead bool) (ended bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ended = false // reset at each retry of Tx
		c, err := s.store.lockCredential(ctx, id)
		if errors.Is(err, errNoCredential) {
			return nil
		}
		if err != nil || c.target == nil || onlyDead && !c.isDead(s.deps.Clock.Now()) {
			return err
		}
		if err := s.store.stop(ctx, c, s.deps.Clock.Now()); err != nil {
			return err
		}
		ended = true
		if c.ended { // already logged
			return nil
		}
		return s.bus.Ended.publish(ctx, EndEvent{factsOf(ctx, c.userID, *c.target, c.limits)})
	})
	return ended, err
}
