package search

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// SearchHit is an object that matches a search.
type SearchHit struct {
	ID       string  `json:"id"`
	Title    string  `json:"title" doc:"Name or number."`
	Subtitle string  `json:"subtitle" doc:"What distinguishes it from others with the same title, such as a slug or an email."`
	URL      string  `json:"url" doc:"Path of the page in the console."`
	Status   *string `json:"status" doc:"Status of the object. Null without a status."`
}

// AdminSearchResults are the matches of a search across tenants.
type AdminSearchResults struct {
	Tenants  []SearchHit  `json:"tenants" doc:"Matching tenants, best match first."`
	Users    []SearchHit  `json:"users" doc:"Matching users, best match first."`
	Plans    *[]SearchHit `json:"plans,omitzero" doc:"Plans. Absent without plans.view."`
	Meters   *[]SearchHit `json:"meters,omitzero" doc:"Meters. Absent without meters.manage."`
	Invoices []SearchHit  `json:"invoices" doc:"Matching invoices, best match first."`
	APIKeys  *[]SearchHit `json:"api_keys,omitzero" doc:"API keys. Absent without api_keys.manage."`
}

// SearchResults are the matches of a search in a tenant.
type SearchResults struct {
	Members  []SearchHit  `json:"members" doc:"Matching members, best match first."`
	Invoices []SearchHit  `json:"invoices" doc:"Matching invoices, best match first."`
	Plans    []SearchHit  `json:"plans" doc:"Matching plans, best match first."`
	Meters   []SearchHit  `json:"meters" doc:"Matching meters, best match first."`
	APIKeys  *[]SearchHit `json:"api_keys,omitzero" doc:"API keys. Absent without api_keys.manage."`
}

// HTTP has the handlers.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc} }

type adminInput struct {
	Q string `query:"q" doc:"Words to search for, 2 to 100 characters. Each must be the beginning of a word."`
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
	Q      string `query:"q" doc:"Words to search for, 2 to 100 characters. Each must be the beginning of a word."`
}

// Limits of the length of a query, in characters.
const (
	minQuery = 2
	maxQuery = 100
)

func parse(ctx context.Context, text string) (query, error) {
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case n < minQuery:
		return query{}, &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{Path: "q", Message: "validation.min_length", Args: map[string]any{"min": minQuery}}}}
	case n > maxQuery:
		return query{}, &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{Path: "q", Message: "validation.max_length", Args: map[string]any{"max": maxQuery}}}}
	}
	return query{text: text, locale: i18n.Locale(ctx)}, nil
}

// group is a group of results. into receives the best matches that read finds.
type group struct {
	read func(ctx context.Context, q query) ([]hit, error)
	into *[]SearchHit
	url  func(id string) string // nil if the store sets it
}

func (s *Service) fill(ctx context.Context, q query, groups []group) error {
	for _, g := range groups {
		found, err := s.find(ctx, q, g.read)
		if err != nil {
			return err
		}
		*g.into = make([]SearchHit, len(found))
		for i, h := range found {
			if g.url != nil {
				h.url = g.url(h.id)
			}
			(*g.into)[i] = SearchHit{ID: h.id, Title: h.title, Subtitle: h.subtitle, URL: h.url, Status: h.status}
		}
	}
	return nil
}

// endedRetention is how long ended API keys are listed.
const endedRetention = 90 * 24 * time.Hour

func (s *Service) keys(ctx context.Context, q query) ([]hit, error) {
	now := s.clock.Now()
	return s.store.apiKeys(ctx, q, now, now.Add(-endedRetention))
}

// fixedPath returns a function that returns a path for every object.
func fixedPath(path string) func(string) string { return func(string) string { return path } }

// SearchPlatform handles GET /admin/search.
func (h *HTTP) SearchPlatform(ctx context.Context, in *adminInput) (*rest.Data[AdminSearchResults], error) {
	q, err := parse(ctx, in.Q)
	if err != nil {
		return nil, err
	}
	var out AdminSearchResults
	s, caller := h.svc.store, authz.FromContext(ctx)
	groups := []group{{s.tenants, &out.Tenants, nil}, {s.users, &out.Users, nil}, {s.invoices, &out.Invoices, nil}}
	for _, restricted := range []struct {
		permission string
		into       **[]SearchHit
		group      group
	}{
		{"plans.view", &out.Plans, group{read: s.plans, url: func(id string) string { return "/platform/catalog/plans/" + id }}},
		{authz.MetersManage, &out.Meters, group{read: s.meters, url: fixedPath("/platform/meters")}},
		{authz.APIKeysManage, &out.APIKeys, group{read: h.svc.keys}},
	} {
		if caller.CanOnPlatform(restricted.permission) {
			*restricted.into = &[]SearchHit{}
			restricted.group.into = *restricted.into
			groups = append(groups, restricted.group)
		}
	}
	if err := h.svc.fill(ctx, q, groups); err != nil {
		return nil, err
	}
	return rest.OK(out), nil
}

// OfTenant handles GET /search of a tenant.
func (h *HTTP) OfTenant(ctx context.Context, in *tenantInput) (*rest.Data[SearchResults], error) {
	q, err := parse(ctx, in.Q)
	if err != nil {
		return nil, err
	}
	tenantID := authz.TenantID(ctx)
	q.tenant = &tenantID
	var out SearchResults
	s := h.svc.store
	groups := []group{
		{s.members, &out.Members, nil},
		{s.invoices, &out.Invoices, nil},
		{s.plans, &out.Plans, fixedPath("/plan")},
		{s.meters, &out.Meters, fixedPath("/plan/usage")},
	}
	if authz.FromContext(ctx).Can(authz.APIKeysManage) {
		out.APIKeys = &[]SearchHit{}
		groups = append(groups, group{read: h.svc.keys, into: out.APIKeys})
	}
	if err := h.svc.fill(ctx, q, groups); err != nil {
		return nil, err
	}
	return rest.OK(out), nil
}
