// Package apikey manages the API keys of tenants and of the platform. A platform key can call the
// same routes for every tenant (rules: api-keys#keys). A tenant key belongs to the tenant and
// remains valid when its creator leaves.
package apikey

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Key is an API key without its secret. Only a hash of the secret is stored.
type Key struct {
	ID         uuid.UUID
	Name       string
	Prefix     string   // the first characters of the secret
	Scopes     []string // sorted
	CreatedBy  *Person  // nil for keys created by the CLI or by a deleted user
	CreatedAt  time.Time
	LastUsedAt *time.Time // truncated to the minute; nil if never used
	ExpiresAt  *time.Time // nil if the key does not expire
	RevokedAt  *time.Time

	lifetimeDays *int64     // lifetime of a key created by rotation; nil if it does not expire
	rotatedAt    *time.Time // nil unless the key was rotated
}

// Person identifies a user.
type Person struct {
	ID   int64
	Name string
}

// isActive reports whether the key is neither revoked nor expired at the given time.
func (k Key) isActive(at time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || k.ExpiresAt.After(at))
}

// setEnd marks the key as rotated and lets it expire after the overlap. A rotation never extends
// the life of a key. Without an overlap it revokes the key immediately.
func (k *Key) setEnd(at time.Time, overlap time.Duration) {
	k.rotatedAt = &at
	until := at.Add(overlap)
	if k.ExpiresAt == nil || until.Before(*k.ExpiresAt) {
		k.ExpiresAt = &until
	}
	if overlap == 0 {
		k.RevokedAt = &at
	}
}

// Terms holds the properties that the creator of a key chooses.
type Terms struct {
	Name   string
	Scopes []string
	Days   *int64 // lifetime; nil if the key does not expire
}

// sortedScopes returns the scopes sorted and without duplicates.
func sortedScopes(scopes []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(scopes)))
}

// auditFields returns the audited fields of a key under their API names.
func auditFields(k Key) map[string]any {
	return map[string]any{
		"name": k.Name, "prefix": k.Prefix, "scopes": k.Scopes, "expires_at": k.ExpiresAt, "revoked_at": k.RevokedAt,
	}
}
