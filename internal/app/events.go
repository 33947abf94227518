package app

import (
	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/invoice"
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
		event[tenant.TenantView](hook.TenantCreated, "A tenant is made"),
		event[tenant.TenantView](hook.TenantUpdated, "A tenant changes"),
		event[tenant.TenantView](hook.TenantDeleted, "A tenant is deleted; the data is the tenant as it last was"),
		event[team.TeamMember](hook.MemberJoined, "Somebody joins a tenant"),
		event[team.TeamMember](hook.MemberRoleChanged, "A member gets another role"),
		event[team.TeamMember](hook.MemberRemoved, "A member leaves, or is removed; the data is the member as they last were"),
		event[team.TeamInvitation](hook.InvitationCreated, "Somebody is invited"),
		event[team.TeamInvitation](hook.InvitationAccepted, "An invitation is accepted"),
		event[team.TeamInvitation](hook.InvitationRevoked, "An invitation is revoked"),
		event[subscription.SubscriptionView](hook.SubscriptionCreated, "A tenant subscribes"),
		event[subscription.SubscriptionView](hook.SubscriptionUpdated, "A subscription changes or renews"),
		event[subscription.SubscriptionView](hook.SubscriptionCanceled, "A subscription has ended"),
		event[subscription.SubscriptionView](hook.SubscriptionPastDue, "The payment of a renewal failed"),
		event[invoice.InvoiceView](hook.InvoiceIssued, "An invoice is final"),
		event[invoice.InvoiceView](hook.InvoicePaid, "An invoice is paid"),
		event[invoice.InvoiceView](hook.InvoiceVoided, "An invoice is void"),
		event[usage.MeterQuota](hook.QuotaWarning, "80 % of a quota are used, once a period"),
		event[usage.MeterQuota](hook.QuotaReached, "A quota is used up, once a period"),
		event[[]entitlement.Entitlement](hook.EntitlementsChanged, "The features or limits of a tenant change; the data is the list of its entitlements"),
		event[apikey.APIKey](hook.APIKeyCreated, "An API key is made"),
		event[apikey.APIKey](hook.APIKeyRevoked, "An API key is ended at once"),
		event[webhook.WebhookEndpoint](hook.Test, "Somebody tests the endpoint; it is sent whatever types the endpoint chose"),
	}
}

func event[T any](t hook.Type, summary string) rest.Event {
	return rest.NewEvent[T](string(t), summary)
}
