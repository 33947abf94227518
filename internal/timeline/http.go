package timeline

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// NamedUser is a user with their present name.
type NamedUser struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// NamedRecord is a tenant or an API key with its present name.
type NamedRecord struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// ChangeFacts are what was changed, and how.
type ChangeFacts struct {
	Resource     string       `json:"resource"`
	ResourceID   string       `json:"resource_id"`
	ResourceName *string      `json:"resource_name" doc:"The present name of a user, a tenant or an API key; null for anything else and for what is gone."`
	Before       shape.Object `json:"before" nullable:"true"`
	After        shape.Object `json:"after" nullable:"true"`
}

// TimelineEntry is something that has happened.
type TimelineEntry struct {
	ID       string       `json:"id" doc:"An id among all entries of all kinds."`
	Type     string       `json:"type" doc:"What happened; of a change the action of the audit trail, such as member.role_changed."`
	Kind     Kind         `json:"kind" enum:"payments,changes,usage,webhooks" doc:"The group that the entry belongs to."`
	At       shape.Time   `json:"at"`
	Tenant   *NamedRecord `json:"tenant" doc:"The tenant that it concerns; null for none, and for one that was purged."`
	Actor    *NamedUser   `json:"actor" doc:"Who did it; null for the service itself, the command line, API keys, and who has deleted their account."`
	ActingAs *NamedUser   `json:"acting_as" doc:"Whom the actor impersonated; null for nobody."`
	APIKey   *NamedRecord `json:"api_key" doc:"The API key that did it, in place of a person; null for none."`
	Facts    ChangeFacts  `json:"facts" doc:"What is known of it."`
}

// CursorMeta says where the next page begins.
type CursorMeta struct {
	NextCursor *string `json:"next_cursor" doc:"The cursor of the next page; null on the last."`
	PerPage    int32   `json:"per_page"`
}

// TimelinePage is a page of a time line.
type TimelinePage struct {
	Data []TimelineEntry `json:"data"`
	Meta CursorMeta      `json:"meta"`
}

// HTTP has the handlers.
type HTTP struct{ store store }

// NewHTTP returns the handlers.
func NewHTTP(db *sqldb.DB) *HTTP { return &HTTP{store{db}} }

// Part is the part of a time line that is asked for.
type Part struct {
	Kind    Kind   `query:"kind" enum:"payments,changes,usage,webhooks" doc:"Only entries of this kind; all when omitted."`
	PerPage int32  `query:"per_page" minimum:"1" maximum:"100" default:"25" doc:"How many entries a page has."`
	Cursor  string `query:"cursor" maxLength:"255" doc:"The next_cursor of the page before; the newest entries when omitted."`
}

// Activity handles GET /admin/activity: what has happened anywhere.
func (h *HTTP) Activity(ctx context.Context, in *Part) (*rest.Plain[TimelinePage], error) {
	return h.page(ctx, nil, *in)
}

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
	Part
}

// AdminOfTenant handles GET /admin/tenants/{tenant}/timeline.
func (h *HTTP) AdminOfTenant(ctx context.Context, in *adminTenantInput) (*rest.Plain[TimelinePage], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.store.exists(ctx, id); err != nil {
		return nil, err
	}
	return h.page(ctx, &id, in.Part)
}

type tenantInput struct {
	TenantID string `path:"tenantId"`
	Part
}

// OfTenant handles GET /tenant/{tenantId}/timeline.
func (h *HTTP) OfTenant(ctx context.Context, in *tenantInput) (*rest.Plain[TimelinePage], error) {
	id := authz.TenantID(ctx)
	return h.page(ctx, &id, in.Part)
}

// page answers a part of a time line, of one tenant unless that is nil.
func (h *HTTP) page(ctx context.Context, tenant *uuid.UUID, p Part) (*rest.Plain[TimelinePage], error) {
	after, err := parseCursor(p.Cursor)
	if err != nil {
		return nil, err
	}
	answer := TimelinePage{Data: []TimelineEntry{}, Meta: CursorMeta{PerPage: p.PerPage}}
	if p.Kind != "" && p.Kind != Changes {
		return rest.Bare(answer), nil
	}
	changes, err := h.store.changes(ctx, tenant, after, p.PerPage+1) // the last tells whether there are more
	if err != nil {
		return nil, err
	}
	if len(changes) > int(p.PerPage) {
		changes = changes[:p.PerPage]
		last := changes[p.PerPage-1]
		next := place{last.at, last.id}.cursor()
		answer.Meta.NextCursor = &next
	}
	known, err := h.store.names(ctx, changes)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		answer.Data = append(answer.Data, c.entry(known))
	}
	return rest.Bare(answer), nil
}

func (c change) entry(known names) TimelineEntry {
	return TimelineEntry{
		ID: "audit-" + strconv.FormatInt(c.id, 10), Type: c.action, Kind: Changes, At: shape.T(c.at),
		Tenant: record(known.tenants, c.tenant), Actor: user(known.users, c.actor), ActingAs: user(known.users, c.subject),
		APIKey: record(known.keys, c.key),
		Facts: ChangeFacts{
			Resource: c.resource, ResourceID: c.resourceID, ResourceName: c.nameIn(known),
			Before: shape.Object(c.before), After: shape.Object(c.after),
		},
	}
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

// nameOf returns the name of what has an id; nil for none, and for what is gone.
func nameOf[ID comparable](known map[ID]string, id *ID) *string {
	if id == nil {
		return nil
	}
	if name, ok := known[*id]; ok {
		return &name
	}
	return nil
}

// userID is the user that was changed; nil for anything else.
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

// idOf is the id of what was changed where it is such a resource; nil for anything else.
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
