// Package apikey has the keys with which programs authenticate: those of a tenant, and
// those of the platform, which open the same routes for every tenant (rules:
// api-keys#keys). A key belongs to its tenant and stays when its maker leaves.
package apikey

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Key is an API key without its secret, of which only a hash is stored.
type Key struct {
	ID         uuid.UUID
	Name       string
	Prefix     string   // the first characters of the secret
	Scopes     []string // sorted
	CreatedBy  *Person  // nil for a key of the command line, or whose maker is gone
	CreatedAt  time.Time
	LastUsedAt *time.Time // to the minute; nil for never
	ExpiresAt  *time.Time // nil for never
	RevokedAt  *time.Time

	lifetimeDays *int64     // what a key that takes its place gets; nil is for ever
	rotatedAt    *time.Time // when another key took its place
}

// Person names a user.
type Person struct {
	ID   int64
	Name string
}

// isActive reports whether the key authenticates at a time.
func (k Key) isActive(at time.Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || k.ExpiresAt.After(at))
}

// setEnd makes the key one that another has taken the place of at a time, and that ends
// after the overlap: at once without one, and never later than it would have.
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

// Terms are what the maker of a key decides.
type Terms struct {
	Name   string
	Scopes []string
	Days   *int64 // of its life; nil is for ever
}

// sortedScopes returns scopes sorted, each once.
func sortedScopes(scopes []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(scopes)))
}

// auditFields is what the trail keeps of a key, by the names in the API.
func auditFields(k Key) map[string]any {
	return map[string]any{
		"name": k.Name, "prefix": k.Prefix, "scopes": k.Scopes, "expires_at": k.ExpiresAt, "revoked_at": k.RevokedAt,
	}
}
