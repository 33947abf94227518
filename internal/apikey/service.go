package apikey

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/lastused"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

const (
	// maxKeys is the maximum number of active keys per tenant.
	maxKeys = 50
	// endedRetention is how long an expired or revoked key stays in the list.
	endedRetention = 90 * 24 * time.Hour
)

// Tenants is the part of the tenant service that this package uses.
type Tenants interface {
	// LockLive locks a tenant until the transaction of ctx ends, and checks the caller's
	// permissions again.
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// MarkActive records an authenticated request of a tenant's key.
	MarkActive(tenantID uuid.UUID)
}

// Audit records changes in the audit log.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock
	Tenants Tenants     // nil if there are only platform keys, as in the CLI
	Audit   Audit       // nil disables auditing
	Events  hook.Outbox // nil disables events
	Log     *slog.Logger
}

// Service manages API keys.
type Service struct {
	deps  Deps
	store store
	keys  *querycache.Cache[lookup, foundKey]
	uses  *lastused.Recorder
}

// NewService returns a new Service.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	s.uses = lastused.New(s.store.markUsed, d.Log)
	s.keys = querycache.New(querycache.Config[lookup, foundKey]{
		DB: d.DB, Tables: keyTables(), Load: s.store.keysByHash,
	})
	return s
}

// KeyList describes the list of keys. By default the newest key comes first.
func KeyList() page.Spec {
	return page.Spec{
		Sorts: map[string]string{"created_at": "k.created_at"}, DefaultSort: "-created_at", Tiebreak: "k.id", PerPage: page.MaxPerPage,
	}
}

// List returns a page of the keys of a tenant, or of the platform if tenantID is nil, and their
// total number. It includes keys that ended in the last 90 days.
func (s *Service) List(ctx context.Context, tenantID *uuid.UUID, q page.Query) ([]Key, int64, error) {
	return s.store.list(ctx, tenantID, s.deps.Clock.Now().Add(-endedRetention), q)
}

// Get returns a key of a tenant, or of the platform if tenantID is nil. It returns a not-found
// error if the key does not exist.
func (s *Service) Get(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Key, error) {
	return s.store.get(ctx, tenantID, id)
}

// Create creates a key for a tenant, or for the platform if tenantID is nil. It returns the key and
// its secret, which cannot be retrieved later.
//
// Invariant: a tenant has at most maxKeys active keys, including rotated keys that are still in
// their overlap. Create locks the tenant before it counts the keys, so concurrent requests cannot
// exceed the limit.
func (s *Service) Create(ctx context.Context, tenantID *uuid.UUID, t Terms) (key Key, secret string, err error) {
	if err := checkScopes(tenantID, t.Scopes); err != nil {
		return Key{}, "", err
	}
	t.Scopes = sortedScopes(t.Scopes)
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		if err := s.lockOwner(ctx, tenantID); err != nil {
			return err
		}
		if err := checkCreatorPermissions(ctx, tenantID, t.Scopes); err != nil {
			return err
		}
		if tenantID != nil {
			switch live, err := s.store.countLive(ctx, *tenantID, now); {
			case err != nil:
				return err
			case live.Live >= maxKeys:
				return errTooManyKeys("name")
			}
		}
		if key, secret, err = s.insert(ctx, tenantID, t, now); err != nil {
			return err
		}
		if err := s.publish(ctx, hook.APIKeyCreated, tenantID, key); err != nil {
			return err
		}
		return s.record(ctx, "api_key.created", tenantID, key.ID, nil, auditFields(key))
	})
	return key, secret, err
}

// checkScopes returns an error if keys of the tenant, or of the platform if tenantID is nil, cannot
// have one of the scopes.
func checkScopes(tenantID *uuid.UUID, scopes []string) error {
	known := authz.PlatformScopes()
	if tenantID != nil {
		known = authz.TenantScopes()
	}
	var broken []int
	for i, scope := range scopes {
		switch {
		case slices.Contains(known, scope):
		case authz.ActsAsPlatform(scope):
			return errPlatformScopes(known)
		default:
			broken = append(broken, i)
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return errScopes(broken, known)
}

// lockOwner locks the tenant that owns the keys and checks the caller's permissions again. For
// platform keys it only checks the permissions.
func (s *Service) lockOwner(ctx context.Context, tenantID *uuid.UUID) error {
	if tenantID == nil {
		return authz.Recheck(ctx)
	}
	_, err := s.deps.Tenants.LockLive(ctx, *tenantID)
	return err
}

// checkCreatorPermissions returns an error if the caller could not use one of the scopes in person. The CLI,
// which runs without a caller, can grant every scope.
func checkCreatorPermissions(ctx context.Context, tenantID *uuid.UUID, scopes []string) error {
	caller := authz.FromContext(ctx)
	if caller == nil {
		return nil
	}
	for _, scope := range scopes {
		lacks := func(permission string) bool { return !caller.CanOnPlatform(permission) }
		switch permission := authz.TenantPermissionOf(scope); {
		case tenantID == nil && slices.ContainsFunc(authz.PlatformPermissionsOf(scope), lacks):
			return errNotHeld
		case tenantID != nil && permission != "" && !caller.Can(permission):
			return errNotHeld
		}
	}
	return nil
}

// checkOverlap limits rotations with an overlap once a tenant has maxKeys active keys. Such a
// tenant may still have one rotated key in its overlap, so that every tenant can rotate without
// downtime.
func (s *Service) checkOverlap(ctx context.Context, tenantID *uuid.UUID, overlap time.Duration, now time.Time) error {
	if tenantID == nil || overlap == 0 {
		return nil
	}
	live, err := s.store.countLive(ctx, *tenantID, now)
	if err == nil && live.Live >= maxKeys && live.Rotated > 0 {
		err = errTooManyKeys("overlap_minutes")
	}
	return err
}

// publish adds an event about a key to the outbox.
func (s *Service) publish(ctx context.Context, t hook.Type, tenantID *uuid.UUID, key Key) error {
	if s.deps.Events == nil {
		return nil
	}
	return s.deps.Events.Add(ctx, hook.Event{Type: t, TenantID: tenantID, Data: hook.StaticData(view(key))})
}

// insert creates and stores a key, and returns it with its secret.
func (s *Service) insert(ctx context.Context, tenantID *uuid.UUID, t Terms, now time.Time) (Key, string, error) {
	secret := newSecret()
	key := Key{
		ID: sqldb.NewID(), Name: t.Name, Prefix: secret[:shownLength], Scopes: t.Scopes, CreatedAt: now, lifetimeDays: t.Days,
	}
	if t.Days != nil {
		expires := now.AddDate(0, 0, int(*t.Days))
		key.ExpiresAt = &expires
	}
	if caller := authz.FromContext(ctx); caller != nil {
		key.CreatedBy = &Person{ID: caller.UserID, Name: caller.Name}
	}
	return key, secret, s.store.insert(ctx, tenantID, key, hash(secret))
}

// Rename changes the name of a key.
func (s *Service) Rename(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, name string) (Key, error) {
	return s.change(ctx, tenantID, id, func(ctx context.Context, key *Key) error {
		before := auditFields(*key)
		key.Name = name
		if err := s.store.rename(ctx, tenantID, id, name); err != nil {
			return err
		}
		return s.record(ctx, "api_key.updated", tenantID, id, before, auditFields(*key))
	})
}

// Rotate creates a key with the name, scopes and lifetime of an existing key, and returns it with
// its secret. The old key expires after the overlap and counts as active until then. With an
// overlap of 0 it is revoked immediately. Rotate returns an error if the old key has ended or was
// rotated before.
func (s *Service) Rotate(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, overlap time.Duration) (key Key, secret string, err error) {
	_, err = s.change(ctx, tenantID, id, func(ctx context.Context, old *Key) error {
		now := s.deps.Clock.Now()
		if !old.isActive(now) || old.rotatedAt != nil {
			return errRevoked
		}
		if err := checkCreatorPermissions(ctx, tenantID, old.Scopes); err != nil {
			return err
		}
		if err := s.checkOverlap(ctx, tenantID, overlap, now); err != nil {
			return err
		}
		before := auditFields(*old)
		old.setEnd(now, overlap)
		if err := s.store.setEnd(ctx, tenantID, *old); err != nil {
			return err
		}
		if key, secret, err = s.insert(ctx, tenantID, Terms{Name: old.Name, Scopes: old.Scopes, Days: old.lifetimeDays}, now); err != nil {
			return err
		}
		if old.RevokedAt != nil {
			if err := s.publish(ctx, hook.APIKeyRevoked, tenantID, *old); err != nil {
				return err
			}
		}
		if err := s.publish(ctx, hook.APIKeyCreated, tenantID, key); err != nil {
			return err
		}
		if err := s.record(ctx, "api_key.rotated", tenantID, id, before, auditFields(*old)); err != nil {
			return err
		}
		return s.record(ctx, "api_key.created", tenantID, key.ID, nil, auditFields(key))
	})
	return key, secret, err
}

// Revoke revokes a key. The next request with the key fails. Revoking a key again does nothing.
func (s *Service) Revoke(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) error {
	_, err := s.change(ctx, tenantID, id, func(ctx context.Context, key *Key) error {
		if key.RevokedAt != nil {
			return nil
		}
		before, now := auditFields(*key), s.deps.Clock.Now()
		key.RevokedAt = &now
		if err := s.store.setEnd(ctx, tenantID, *key); err != nil {
			return err
		}
		if err := s.publish(ctx, hook.APIKeyRevoked, tenantID, *key); err != nil {
			return err
		}
		return s.record(ctx, "api_key.revoked", tenantID, id, before, auditFields(*key))
	})
	return err
}

// change runs do on a locked key in a transaction and returns the changed key.
func (s *Service) change(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, do func(ctx context.Context, key *Key) error) (key Key, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockOwner(ctx, tenantID); err != nil {
			return err
		}
		if key, err = s.store.lock(ctx, tenantID, id); err != nil {
			return err
		}
		return do(ctx, &key)
	})
	return key, err
}

// record adds an entry about a key to the audit log.
func (s *Service) record(ctx context.Context, action string, tenantID *uuid.UUID, id uuid.UUID, before, after map[string]any) error {
	if s.deps.Audit == nil {
		return nil
	}
	e := audit.Entry{Action: action, TenantID: tenantID, Resource: "api_key", ResourceID: id.String(), After: after}
	if before != nil {
		e.Before = before
	}
	return s.deps.Audit.Record(ctx, e)
}
