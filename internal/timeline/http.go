package timeline

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice/payments"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// NamedUser is a user with their current name.
type NamedUser struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// NamedRecord is a tenant or an API key with its current name.
type NamedRecord struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// ChangeFacts describes a change and the changed record.
type ChangeFacts struct {
	Resource     string       `json:"resource"`
	ResourceID   string       `json:"resource_id"`
	ResourceName *string      `json:"resource_name" doc:"Current name of a changed user, tenant or API key. Null for other or deleted objects."`
	Before       shape.Object `json:"before" nullable:"true"`
	After        shape.Object `json:"after" nullable:"true"`
}

// PaymentFacts describes the outcome of an invoice, a payment or a refund.
type PaymentFacts struct {
	Invoice        *uuid.UUID  `json:"invoice" doc:"ID of the invoice. Null if it no longer exists."`
	Number         *string     `json:"number" doc:"Invoice number. Null if unknown."`
	Currency       string      `json:"currency"`
	Amount         int64       `json:"amount" doc:"Amount, in minor units of the currency."`
	DeclineCode    *string     `json:"decline_code" doc:"Decline code of a failed payment. Null if not given. Tenants get generic_decline instead of codes that only the bank should explain."`
	DeclineMessage *string     `json:"decline_message" doc:"Explanation of the decline code with a recommended action, in the caller's language. Null without a decline code."`
	NextAttemptAt  *shape.Time `json:"next_attempt_at" doc:"Time of the next attempt as scheduled when the payment failed, in UTC. Null if no attempt was scheduled."`
}

// UsageFacts describes a quota alert or the number of rejected events.
type UsageFacts struct {
	Meter     string  `json:"meter" doc:"Code of the meter."`
	MeterName string  `json:"meter_name" doc:"Name of the meter."`
	Limit     *string `json:"limit" doc:"Limit, as a decimal string. Null if unknown."`
	Used      *string `json:"used" doc:"Usage, as a decimal string. Null if unknown."`
	Refused   *int64  `json:"refused" doc:"Number of events rejected in the hour that starts at the time of the entry. Null for an alert."`
	Threshold *int32  `json:"threshold" doc:"Reached percentage of the limit. Null for rejected usage."`
}

// WebhookFacts describes a delivery that was abandoned.
type WebhookFacts struct {
	Endpoint  uuid.UUID `json:"endpoint" doc:"ID of the webhook endpoint."`
	URL       string    `json:"url" doc:"Current URL of the endpoint: scheme, host and a digest of the full URL."`
	EventType string    `json:"event_type" doc:"Type of the event that was not delivered."`
	Status    *int32    `json:"status" doc:"HTTP status of the last response. Null without a response."`
	Attempts  int32     `json:"attempts" doc:"Number of attempts."`
}

// Facts holds the details of an entry. The fields depend on its kind.
type Facts = shape.Union[facts]

type facts struct {
	Change  *ChangeFacts
	Payment *PaymentFacts
	Usage   *UsageFacts
	Webhook *WebhookFacts
}

// ActorKind is the kind of an entry's actor.
type ActorKind string

const (
	byUser       ActorKind = "user"
	byFormerUser ActorKind = "former_user"
	byAPIKey     ActorKind = "api_key"
	byService    ActorKind = "service"
)

// TimelineEntry is one event of a timeline.
type TimelineEntry struct {
	ID       string          `json:"id" doc:"Unique identifier among entries of all kinds."`
	Type     string          `json:"type" doc:"Type of the entry: the action of an audit trail entry, such as member.role_changed; invoice.issued, invoice.voided, payment.succeeded, payment.failed, payment.action_required, refund.created or refund.failed; usage.alert or usage.refused; or webhook.failed. New types can be added."`
	Kind     Kind            `json:"kind" enum:"payments,changes,usage,webhooks" doc:"Category of the entry."`
	At       shape.Time      `json:"at" doc:"Time of the event, in UTC. For usage.refused, the start of the hour; its number can increase until the end of the hour."`
	Tenant   *NamedRecord    `json:"tenant" doc:"Tenant of the entry. Null for the platform or a purged tenant."`
	By       ActorKind       `json:"by" enum:"user,former_user,api_key,service" doc:"Type of the actor: a user, a deleted user, an API key, or the service itself, including its command line. The actor of payments, usage and webhooks is the service."`
	Actor    *NamedUser      `json:"actor" doc:"User who made the change. Null if the actor is not an existing user."`
	ActingAs *authz.ActingAs `json:"acting_as" doc:"User impersonated by the actor. Null if the actor was not impersonating."`
	APIKey   *NamedRecord    `json:"api_key" doc:"API key that made the change. Null if the actor is not an API key."`
	Facts    Facts           `json:"facts" doc:"Details of the entry. The form depends on the kind."`
}

// CursorMeta holds the cursor of the next page.
type CursorMeta struct {
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page. Null on the last page."`
	PerPage    int32   `json:"per_page"`
}

// TimelinePage is a page of a timeline.
type TimelinePage struct {
	Data []TimelineEntry `json:"data"`
	Meta CursorMeta      `json:"meta"`
}

// HTTP has the handlers.
type HTTP struct {
	store    store
	messages *i18n.Catalog
}

// NewHTTP returns the handlers. messages translates decline codes.
func NewHTTP(db *sqldb.DB, messages *i18n.Catalog) *HTTP { return &HTTP{store{db}, messages} }

// Part selects a page of a timeline.
type Part struct {
	Kind    Kind   `query:"kind" enum:"payments,changes,usage,webhooks" doc:"Return only entries of this kind. Default: all kinds."`
	From    string `query:"from" format:"date-time" doc:"Start, inclusive. Default: the oldest entries."`
	To      string `query:"to" format:"date-time" doc:"End, exclusive. Default: the newest entries."`
	PerPage int32  `query:"per_page" minimum:"1" maximum:"100" default:"25" doc:"Number of entries per page."`
	Cursor  string `query:"cursor" maxLength:"255" doc:"Value of next_cursor from the previous page. Default: the newest entries."`
}

// Activity handles GET /admin/activity, the timeline of the whole platform.
func (h *HTTP) Activity(ctx context.Context, in *Part) (*rest.Body[TimelinePage], error) {
	return h.page(ctx, nil, false, *in)
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Part
}

// AdminOfTenant handles GET /admin/tenants/{tenant}/timeline.
func (h *HTTP) AdminOfTenant(ctx context.Context, in *adminTenantInput) (*rest.Body[TimelinePage], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.store.exists(ctx, id); err != nil {
		return nil, err
	}
	return h.page(ctx, &id, false, in.Part)
}

type tenantInput struct {
	TenantID string `path:"tenantId"`
	Part
}

// ListOfTenant handles GET /tenant/{tenantId}/timeline.
func (h *HTTP) ListOfTenant(ctx context.Context, in *tenantInput) (*rest.Body[TimelinePage], error) {
	id := authz.TenantID(ctx)
	return h.page(ctx, &id, true, in.Part)
}

// page returns a page of the timeline of one tenant, or of the platform if tenant is nil. own is
// true if the caller reads the timeline as a member of the tenant.
func (h *HTTP) page(ctx context.Context, tenant *uuid.UUID, own bool, p Part) (*rest.Body[TimelinePage], error) {
	// Reject filter[…] and sort, as other lists do. Part has all filters of a timeline.
	if _, err := (page.Spec{Tiebreak: "id", IsCursored: true}).Parse(rest.RequestOf(ctx).Query()); err != nil {
		return nil, err
	}
	after, err := parseCursor(p.Cursor)
	if err != nil {
		return nil, err
	}
	if p.To != "" {
		after = after.notBefore(before(timeOf(p.To)))
	}
	entries, err := h.store.entries(ctx, tenant, p.Kind, after, p.PerPage+1) // one more than requested, to detect a next page
	if err != nil {
		return nil, err
	}
	if p.From != "" {
		first := timeOf(p.From)
		if end := slices.IndexFunc(entries, func(e entry) bool { return e.at.Before(first) }); end >= 0 {
			entries = entries[:end]
		}
	}
	answer := TimelinePage{Data: []TimelineEntry{}, Meta: CursorMeta{PerPage: p.PerPage}}
	if len(entries) > int(p.PerPage) {
		entries = entries[:p.PerPage]
		next := entries[p.PerPage-1].encode()
		answer.Meta.NextCursor = &next
	}
	known, err := h.store.names(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		answer.Data = append(answer.Data, h.view(ctx, e, own, known))
	}
	return rest.NewBody(answer), nil
}

func (h *HTTP) view(ctx context.Context, e entry, own bool, known names) TimelineEntry {
	from := sources[e.source]
	v := TimelineEntry{
		By: byService,
		ID: from.name + "-" + e.id.String(), Type: e.action, Kind: from.kind, At: shape.T(e.at), Tenant: record(known.tenants, e.tenant),
		Facts: Facts{Is: e.facts},
	}
	if paid := e.facts.Payment; paid != nil && paid.DeclineCode != nil {
		text := h.messages.Text(i18n.Locale(ctx), payments.MessageKey(*paid.DeclineCode), nil)
		paid.DeclineMessage = &text
		if own {
			paid.DeclineCode = payments.ForTenant(paid.DeclineCode)
		}
	}
	if c := e.change; c != nil {
		v.Actor, v.APIKey = user(known.users, c.actor), record(known.keys, c.key)
		if u := user(known.users, c.subject); u != nil {
			v.ActingAs = &authz.ActingAs{ID: u.ID, Name: u.Name, Reason: c.reason}
		}
		switch {
		case v.Actor != nil:
			v.By = byUser
		case c.actor != nil:
			v.By = byFormerUser
		case c.key != nil:
			v.By = byAPIKey
		}
		v.Facts.Is.Change = &ChangeFacts{
			Resource: c.resource, ResourceID: c.resourceID, ResourceName: c.nameIn(known),
			Before: shape.Object(c.before), After: shape.Object(c.after),
		}
	}
	return v
}

func user(known map[int64]string, id *int64) *NamedUser {
	if name := nameOf(known, id); name != nil {
		return &NamedUser{*id, *name}
	}
	return nil
}

func record(known map[uuid.UUID]string, id *uuid.UUID) *NamedRecord {
	if name := nameOf(known, id); name != nil {
		return &NamedRecord{*id, *name}
	}
	return nil
}

// nameOf returns the name of a record, or nil if id is nil or the record is gone.
func nameOf[ID comparable](known map[ID]string, id *ID) *string {
	if id == nil {
		return nil
	}
	if name, ok := known[*id]; ok {
		return &name
	}
	return nil
}

// userID returns the ID of the changed user, or nil if another kind of record changed.
func (c change) userID() *int64 {
	if c.resource != "user" && c.resource != "member" {
		return nil
	}
	id, err := strconv.ParseInt(c.resourceID, 10, 64)
	if err != nil {
		return nil
	}
	return &id
}

// idOf returns the ID of the changed record if it is a resource of the given kind, or else nil.
func (c change) idOf(resource string) *uuid.UUID {
	if c.resource != resource {
		return nil
	}
	id, err := uuid.Parse(c.resourceID)
	if err != nil {
		return nil
	}
	return &id
}

func (c change) nameIn(known names) *string {
	switch c.resource {
	case "tenant":
		return nameOf(known.tenants, c.idOf("tenant"))
	case "api_key":
		return nameOf(known.keys, c.idOf("api_key"))
	default:
		return nameOf(known.users, c.userID())
	}
}
