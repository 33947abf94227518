package app

import (
	"reflect"

	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/invoice/creditnote"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/webhook"
)

// events describes the events that webhook endpoints receive (rules: webhooks#types). A test checks
// that the list has every type and that deliveries match their description.
func events() []rest.Event {
	return []rest.Event{
		event[tenant.TenantView](hook.TenantCreated, "A tenant is created"),
		event[tenant.TenantView](hook.TenantUpdated, "A tenant is updated"),
		event[tenant.TenantView](hook.TenantDeleted, "A tenant is deleted. The data is its last state."),
		event[team.TeamMember](hook.MemberJoined, "A user joins a tenant"),
		event[team.TeamMember](hook.MemberRoleChanged, "The role of a member changes"),
		event[team.TeamMember](hook.MemberRemoved, "A member leaves or is removed. The data is the member's last state."),
		event[team.TeamInvitation](hook.InvitationCreated, "An invitation is created"),
		event[team.TeamInvitation](hook.InvitationAccepted, "An invitation is accepted"),
		event[team.TeamInvitation](hook.InvitationRevoked, "An invitation is revoked"),
		event[subscription.SubscriptionView](hook.SubscriptionCreated, "A subscription is created"),
		event[subscription.SubscriptionView](hook.SubscriptionUpdated, "A subscription is changed or renewed"),
		event[subscription.SubscriptionView](hook.SubscriptionCanceled, "A subscription is canceled"),
		event[subscription.SubscriptionView](hook.SubscriptionPastDue, "The payment of a renewal fails"),
		event[invoice.InvoiceView](hook.InvoiceIssued, "An invoice is finalized"),
		event[invoice.InvoiceView](hook.InvoicePaid, "An invoice is paid"),
		event[invoice.InvoiceView](hook.InvoiceVoided, "An invoice is voided"),
		event[invoice.InvoiceView](hook.InvoiceRefunded, "A payment of an invoice is refunded, in full or in part"),
		event[creditnote.CreditNoteView](hook.CreditNoteIssued, "A credit note is issued"),
		event[usage.MeterQuota](hook.QuotaWarning, "Usage reaches 80 percent of a quota. Sent once per period."),
		event[usage.MeterQuota](hook.QuotaReached, "Usage reaches 100 percent of a quota. Sent once per period."),
		event[[]entitlement.Entitlement](hook.EntitlementsChanged, "The features or limits of a tenant change. The data is the list of its entitlements."),
		event[usage.GrantView](hook.GrantCreated, "Units are granted to a tenant"),
		event[usage.GrantView](hook.GrantUsedUp, "The last unit of a grant is used"),
		event[usage.GrantView](hook.GrantExpired, "A grant expires before it is used up. Sent within a minute."),
		event[apikey.APIKey](hook.APIKeyCreated, "An API key is created"),
		event[apikey.APIKey](hook.APIKeyRevoked, "An API key is revoked"),
		event[webhook.WebhookEndpoint](hook.Test, "The endpoint is tested. Sent regardless of its event types."),
	}
}

func event[T any](t hook.Type, summary string) rest.Event {
	return rest.Event{Name: string(t), Summary: summary, Data: reflect.TypeFor[T]()}
}
