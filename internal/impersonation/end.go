package impersonation

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// EndOrphaned ends the impersonations that depend on credentials of a user that
// authenticate nobody any more, in the transaction of ctx, which has locked the user. It
// is called after a logout and after credentials were revoked.
func (s *Service) EndOrphaned(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingOfUser(ctx, userID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, true)
	})
}

// EndFamily ends the impersonations that depend on credentials of one login, and
// revokes those credentials, in the transaction of ctx, which has locked the user. It is called at a refresh: the
// new tokens are the admin's own, and a request with an old token must not suddenly
// act as the admin.
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

// ImpersonatorsOf lists who impersonates a user at the moment.
func (s *Service) ImpersonatorsOf(ctx context.Context, targetID int64) ([]int64, error) {
	return s.store.impersonatorsOf(ctx, targetID)
}

// EndForTarget ends the impersonations of a target, in the transaction of ctx, which has locked
// the target and the impersonators. It is called when the target leaves the tenant, or
// becomes a platform admin, whom nobody may impersonate.
func (s *Service) EndForTarget(ctx context.Context, targetID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.impersonatingTarget(ctx, targetID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, false)
	})
}

// Expire ends the impersonations by an admin from whom impersonation.start was taken, in the
// transaction of ctx, which has locked the admin. Their credentials keep the target and
// refuse every request except stop, status and logout, so that a request that was
// meant to act as the target never acts as the admin.
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
			if c.target == nil || c.ended {
				continue
			}
			if err := s.store.setEnded(ctx, id, s.deps.Clock.Now()); err != nil {
				return err
			}
			if err := s.bus.Ended.publish(ctx, EndEvent{factsOf(ctx, c.userID, *c.target)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Sweep ends the impersonations that depend on credentials which have expired or were
// revoked, each once even if several instances sweep.
func (s *Service) Sweep(ctx context.Context) error {
	ids, err := s.store.listOrphaned(ctx, s.deps.Clock.Now())
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
		_, err = s.end(ctx, id, true)
		return err
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

// end ends the impersonation of one credential, whose user is locked, and reports whether
// there was one.
// onlyDead skips a credential that still authenticates somebody, such as a session that
// has just been extended.
func (s *Service) end(ctx context.Context, id uuid.UUID, onlyDead bool) (ended bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ended = false // again at each try of Tx
		c, err := s.store.lockCredential(ctx, id)
		if errors.Is(err, errNoCredential) {
			return nil
		}
		if err != nil || c.target == nil || onlyDead && !c.isDead(s.deps.Clock.Now()) {
			return err
		}
		if err := s.store.setTarget(ctx, id, nil); err != nil {
			return err
		}
		ended = true
		if c.ended { // it is logged
			return nil
		}
		return s.bus.Ended.publish(ctx, EndEvent{factsOf(ctx, c.userID, *c.target)})
	})
	return ended, err
}
