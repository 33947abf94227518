package impersonation

import (
	"context"

	"github.com/google/uuid"
)

// EndDead ends the impersonations that hang on credentials of a user that
// authenticate nobody any more, in the transaction of ctx: after a logout, or
// when all of them were revoked.
func (s *Service) EndDead(ctx context.Context, userID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.q(ctx).ImpersonatingOfUser(ctx, userID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, true)
	})
}

// EndFamily ends the impersonations that hang on credentials of one login, and
// revokes these, in the transaction of ctx: after a refresh the admin has a new
// token that is their own, and what the old one stood for must not change under
// a request that still carries it.
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

// EndOf ends the impersonations of a target, in the transaction of ctx: of
// somebody who has become a platform admin, whom nobody may impersonate.
func (s *Service) EndOf(ctx context.Context, targetID int64) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ids, err := s.store.q(ctx).ImpersonatingTarget(ctx, &targetID)
		if err != nil {
			return err
		}
		return s.endAll(ctx, ids, false)
	})
}

// Sweep ends the impersonations that hang on credentials which have expired or
// were revoked, each once, however many instances sweep.
func (s *Service) Sweep(ctx context.Context) error {
	ids, err := s.store.q(ctx).DeadImpersonating(ctx, s.deps.Clock.Now())
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.end(ctx, id, true); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) endAll(ctx context.Context, ids []uuid.UUID, onlyDead bool) error {
	for _, id := range ids {
		if _, err := s.end(ctx, id, onlyDead); err != nil {
			return err
		}
	}
	return nil
}

// end ends the impersonation of one credential and tells whether there was one.
// onlyDead leaves a credential alone that still authenticates somebody, such as
// a session whose end has just moved.
func (s *Service) end(ctx context.Context, id uuid.UUID, onlyDead bool) (ended bool, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		ended = false // anew each time: Tx may repeat
		c, err := s.store.lockCredential(ctx, id)
		if err != nil || c == nil || c.target == nil || onlyDead && !c.dead(s.deps.Clock.Now()) {
			return err
		}
		if err := s.store.setTarget(ctx, id, nil); err != nil {
			return err
		}
		ended = true
		return s.bus.Ended.publish(ctx, Ended{factsOf(ctx, c.userID, *c.target)})
	})
	return ended, err
}
