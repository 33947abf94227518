package apikey

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// asked is what is looked up: the hash of a secret, and the tenant in the path, for which
// a key of the platform speaks.
type asked struct {
	hash   string
	tenant uuid.UUID // Nil where the path has none
}

// found is a key that is not revoked, with what the guards of a request need to know.
type found struct {
	id         uuid.UUID
	name       string
	scopes     string
	platform   bool
	expiresAt  *time.Time
	lastUsedAt *time.Time

	tenantID   *uuid.UUID // its own, or for a key of the platform the one that was asked for
	tenantName *string
	onboarded  bool
}

// Authenticate looks up who a key speaks for. tenantID is the tenant in the path of the
// request, uuid.Nil where there is none. Requests that come at the same time share one
// query, as they do for tokens, and nothing is cached: a key that ends is dead for the
// very next request. Keys that are unknown, have ended, or whose tenant is gone get the
// same refusal.
func (s *Service) Authenticate(ctx context.Context, secret string, tenantID uuid.UUID) (*authz.Caller, error) {
	if !wellFormed(secret) {
		return nil, errUnauthenticated
	}
	k, known, err := s.known.Get(ctx, asked{hash(secret), tenantID})
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	if !known || k.expiresAt != nil && !k.expiresAt.After(now) {
		return nil, errUnauthenticated
	}
	if minute := now.Truncate(time.Minute); k.lastUsedAt == nil || k.lastUsedAt.Before(minute) {
		s.uses.add(k.id, minute)
	}
	caller := &authz.Caller{
		Name: k.name, Key: &authz.Key{ID: k.id, Scopes: strings.Split(k.scopes, ","), Platform: k.platform},
	}
	if k.tenantID != nil {
		caller.Tenant = &authz.Membership{TenantID: *k.tenantID, TenantName: *k.tenantName, OnboardingComplete: k.onboarded}
	}
	return caller, nil
}

// uses are the keys that were used since the last time that it was stored when.
type uses struct {
	mu sync.Mutex
	at map[uuid.UUID]time.Time
}

func (u *uses) add(id uuid.UUID, at time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[uuid.UUID]time.Time{}
	}
	u.at[id] = at
}

// take returns the uses and forgets them.
func (u *uses) take() map[uuid.UUID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.at
	u.at = nil
	return at
}

// useInterval is how often it is stored which keys were used. A key is written at most
// once a minute, because last_used_at is to the minute.
const useInterval = 2 * time.Second

// Run stores when keys were used until ctx ends, so that no request waits for it.
func (s *Service) Run(ctx context.Context) error {
	ticker := time.NewTicker(useInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			s.storeUses(context.WithoutCancel(ctx))
			return nil
		case <-ticker.C:
			s.storeUses(ctx)
		}
	}
}

// storeUses stores what was used since the last time. What fails is left out: the next
// use says it again.
func (s *Service) storeUses(ctx context.Context) {
	used := s.uses.take()
	if len(used) == 0 {
		return
	}
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		for id, at := range used {
			if err := s.store.markUsed(ctx, id, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		s.deps.Log.WarnContext(ctx, "it was not stored when keys were used", "error", err)
	}
}
