package sheet

import "github.com/google/uuid"

// NamedTenant is the tenant of an entry in a list across tenants.
type NamedTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}
