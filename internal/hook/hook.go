// Package hook defines the events that webhooks can deliver, and the outbox through which packages
// publish them (rules: webhooks#types).
package hook

import (
	"context"

	"github.com/google/uuid"
)

// Type is the type of an event. The names are part of the API contract.
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
	InvoiceRefunded      Type = "invoice.refunded"
	CreditNoteIssued     Type = "credit_note.issued"
	QuotaWarning         Type = "usage.quota_warning"
	QuotaReached         Type = "usage.quota_reached"
	EntitlementsChanged  Type = "entitlements.changed"
	GrantCreated         Type = "grant.created"
	GrantUsedUp          Type = "grant.used_up"
	GrantExpired         Type = "grant.expired"
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
		InvoiceIssued, InvoicePaid, InvoiceVoided, InvoiceRefunded, CreditNoteIssued, QuotaWarning, QuotaReached, EntitlementsChanged,
		GrantCreated, GrantUsedUp, GrantExpired, APIKeyCreated, APIKeyRevoked, Test,
	}
}

// Event is a change to be delivered to webhooks.
type Event struct {
	Type Type
	// TenantID is the tenant of the event, or nil for an event of the platform.
	TenantID *uuid.UUID
	// Data returns the resource after the change, as shown by the API. It is called in the
	// transaction of the change, and only if an endpoint subscribes to the event. Its ctx carries
	// the locale of the tenant, but no caller.
	Data func(ctx context.Context) (any, error)
}

// Outbox stores events in the transaction of the change, so that both are stored or neither is.
type Outbox interface {
	Add(ctx context.Context, e Event) error
}

// Publish adds a tenant's event to an outbox. It does nothing if the outbox is nil.
func Publish(ctx context.Context, to Outbox, t Type, tenantID uuid.UUID, data func(ctx context.Context) (any, error)) error {
	if to == nil {
		return nil
	}
	return to.Add(ctx, Event{Type: t, TenantID: &tenantID, Data: data})
}

// StaticData returns a Data function for a resource that is already known.
func StaticData(resource any) func(context.Context) (any, error) {
	return func(context.Context) (any, error) { return resource, nil }
}
