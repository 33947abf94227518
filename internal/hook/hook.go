// Package hook has the events that endpoints outside can be told of, and the way in which
// domains hand them over (rules: webhooks#types).
package hook

import (
	"context"

	"github.com/google/uuid"
)

// Type says what happened. The names are part of the contract.
type Type string

// The types of events.
const (
	TenantCreated        Type = "tenant.created"
	TenantUpdated        Type = "tenant.updated"
	TenantDeleted        Type = "tenant.deleted"
	MemberJoined         Type = "member.joined"
	MemberRoleChanged    Type = "member.role_changed"
	MemberRemoved        Type = "member.removed"
	InvitationCreated    Type = "invitation.created"
	InvitationAccepted   Type = "invitation.accepted"
	InvitationRevoked    Type = "invitation.revoked"
	SubscriptionCreated  Type = "subscription.created"
	SubscriptionUpdated  Type = "subscription.updated"
	SubscriptionCanceled Type = "subscription.canceled"
	SubscriptionPastDue  Type = "subscription.past_due"
	InvoiceIssued        Type = "invoice.issued"
	InvoicePaid          Type = "invoice.paid"
	InvoiceVoided        Type = "invoice.voided"
	QuotaWarning         Type = "usage.quota_warning"
	QuotaReached         Type = "usage.quota_reached"
	APIKeyCreated        Type = "api_key.created"
	APIKeyRevoked        Type = "api_key.revoked"
	Test                 Type = "webhook.test"
)

// Types returns all types, in the order of the reference.
func Types() []Type {
	return []Type{
		TenantCreated, TenantUpdated, TenantDeleted, MemberJoined, MemberRoleChanged, MemberRemoved,
		InvitationCreated, InvitationAccepted, InvitationRevoked,
		SubscriptionCreated, SubscriptionUpdated, SubscriptionCanceled, SubscriptionPastDue,
		InvoiceIssued, InvoicePaid, InvoiceVoided, QuotaWarning, QuotaReached, APIKeyCreated, APIKeyRevoked, Test,
	}
}

// Event is something that has happened.
type Event struct {
	Type Type
	// TenantID is whose event it is, nil for one of the platform.
	TenantID *uuid.UUID
	// Data returns the resource as the API shows it after the change. It is called in the
	// transaction of the change, and only where somebody listens; its ctx has no caller,
	// and the tenant's language.
	Data func(ctx context.Context) (any, error)
}

// Outbox takes events in the transaction of the change, so that neither is stored without
// the other.
type Outbox interface {
	Add(ctx context.Context, e Event) error
}

// Publish hands an event of a tenant to an outbox, unless that is nil.
func Publish(ctx context.Context, to Outbox, t Type, tenantID uuid.UUID, data func(ctx context.Context) (any, error)) error {
	if to == nil {
		return nil
	}
	return to.Add(ctx, Event{Type: t, TenantID: &tenantID, Data: data})
}

// StaticData returns the Data of an event whose resource is at hand.
func StaticData(resource any) func(context.Context) (any, error) {
	return func(context.Context) (any, error) { return resource, nil }
}
