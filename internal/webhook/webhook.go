// Package webhook delivers events to HTTP endpoints. A tenant's endpoints receive the events of the
// tenant, the platform's endpoints receive all events (rules: webhooks). An event is stored in the
// transaction of the change it describes, with one delivery per subscribed endpoint. A background
// sender signs and sends the deliveries according to Standard Webhooks.
package webhook

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// maxOfTenant and maxOfPlatform limit the number of endpoints per owner.
	maxOfTenant   = 10
	maxOfPlatform = 20
	// everything subscribes an endpoint to all event types.
	everything = "*"
)

// Reasons for disabling an endpoint automatically.
const (
	reasonGone    = "gone"    // it answered 410
	reasonFailing = "failing" // no delivery succeeded for disableAfter
)

// Endpoint is a URL that receives events.
type Endpoint struct {
	ID             uuid.UUID
	TenantID       *uuid.UUID // nil for the platform's endpoints
	URL            string
	Types          []string // event types, or the single element everything
	Description    *string
	Enabled        bool
	DisabledReason *string // nil if enabled or disabled by hand
	CreatedAt      time.Time
	LastDeliveryAt *time.Time // time of the last success

	secrets      secrets
	failingSince *time.Time // time of the first failure since the last success
}

// isSubscribed reports whether an endpoint with the given types receives events of type t.
func isSubscribed(types []string, t hook.Type) bool {
	return slices.Contains(types, everything) || slices.Contains(types, string(t))
}

// Terms are the settings that the owner of an endpoint chooses.
type Terms struct {
	URL         string
	Types       []string
	Description *string
}

// auditFields returns the fields of an endpoint for the audit trail, under their API names. It
// omits the secrets.
func auditFields(e Endpoint) map[string]any {
	return map[string]any{
		"url": safehttp.Redact(e.URL), "events": e.Types, "description": e.Description, "enabled": e.Enabled, "disabled_reason": e.DisabledReason,
	}
}

// The statuses of a delivery.
const (
	pending   = "pending"
	delivered = "delivered"
	failed    = "failed"
)

// Delivery is an event addressed to one endpoint.
type Delivery struct {
	ID            uuid.UUID
	EventID       uuid.UUID
	Type          string
	Status        string
	Attempts      []Attempt
	NextAttemptAt *time.Time // nil if no attempt is left
	CreatedAt     time.Time
}

// Attempt is one try to deliver an event.
type Attempt struct {
	Number     int       `json:"number"` // counts the attempts of the delivery from 1
	At         time.Time `json:"at"`
	StatusCode *int      `json:"status_code"` // nil without a response
	DurationMS int64     `json:"duration_ms"`
	Error      *string   `json:"error"` // why there was no response, or nil
}
