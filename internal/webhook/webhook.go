// Package webhook tells endpoints outside what happens: those of a tenant of what happens
// to it, those of the platform of everything (rules: webhooks). An event is stored in the
// transaction of its change, with a delivery for each endpoint that wants it; a sender in
// the background signs and sends deliveries, by the rules of Standard Webhooks.
package webhook

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// maxOfTenant and maxOfPlatform are how many endpoints there are at most.
	maxOfTenant   = 10
	maxOfPlatform = 20
	// everything is what stands for all types of events.
	everything = "*"
)

// Why an endpoint is disabled, unless by hand.
const (
	reasonGone    = "gone"    // it answered 410
	reasonFailing = "failing" // nothing was delivered for givenUp
)

// Endpoint is where events are sent.
type Endpoint struct {
	ID             uuid.UUID
	TenantID       *uuid.UUID // nil for the platform's
	URL            string
	Types          []string // or everything alone
	Description    *string
	Enabled        bool
	DisabledReason *string // nil where it is enabled, or was disabled by hand
	CreatedAt      time.Time
	LastDeliveryAt *time.Time // of the last success

	secrets      secrets
	failingSince *time.Time // the first failure since the last success
}

// isSubscribed reports whether an endpoint that chose types gets events of a type.
func isSubscribed(types []string, t hook.Type) bool {
	return slices.Contains(types, everything) || slices.Contains(types, string(t))
}

// Terms are what the owner of an endpoint decides.
type Terms struct {
	URL         string
	Types       []string
	Description *string
}

// auditFields is what the trail keeps of an endpoint, by the names in the API. The secrets are
// not part of it.
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

// Delivery is an event for one endpoint.
type Delivery struct {
	ID            uuid.UUID
	EventID       uuid.UUID
	Type          string
	Status        string
	Attempts      []Attempt
	NextAttemptAt *time.Time // nil once nothing more is tried
	CreatedAt     time.Time
}

// Attempt is one try to deliver.
type Attempt struct {
	At         time.Time `json:"at"`
	StatusCode *int      `json:"status_code"` // nil without an answer
	DurationMS int64     `json:"duration_ms"`
	Error      *string   `json:"error"` // why there was no answer, nil where there was one
}
