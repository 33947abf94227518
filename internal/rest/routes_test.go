package rest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

func diff(t testing.TB, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// gadget is a body with a field of every kind.
type gadget struct {
	Name     string            `json:"name" minLength:"2" maxLength:"10"`
	Active   *bool             `json:"active,omitempty"`
	Count    *int64            `json:"count,omitempty" minimum:"1" maximum:"1000"`
	Small    *int32            `json:"small,omitempty"`
	Amount   *shape.Quantity   `json:"amount,omitempty" exclusiveMinimum:"0"`
	Ratio    *float64          `json:"ratio,omitempty"`
	Kind     string            `json:"kind,omitempty" enum:"solid,liquid"`
	Level    *int              `json:"level,omitempty" enum:"1,2"`
	Note     *string           `json:"note,omitempty" nullable:"true" maxLength:"20"`
	Motto    *string           `json:"motto,omitempty"`
	Text     *string           `json:"text,omitempty" format:"multiline"`
	Password *string           `json:"password,omitempty" format:"password" minLength:"4" maxLength:"12"`
	Email    *string           `json:"email,omitempty" format:"email"`
	Country  *string           `json:"country,omitempty" format:"country"`
	Currency *string           `json:"currency,omitempty" format:"currency"`
	URL      *string           `json:"url,omitempty" format:"uri"`
	At       *shape.Time       `json:"at,omitempty"`
	Day      *string           `json:"day,omitempty" format:"date"`
	Ref      *uuid.UUID        `json:"ref,omitempty"`
	Code     *string           `json:"code,omitempty" pattern:"^[a-z]+$"`
	Tags     []string          `json:"tags,omitempty" minLength:"1" minItems:"1" maxItems:"3"`
	Titles   map[string]string `json:"titles,omitempty" maxLength:"5"`
	Prices   []price           `json:"prices,omitempty"`
	Maker    *maker            `json:"maker,omitempty"`
	Metadata shape.Object      `json:"metadata,omitempty" nullable:"true" maxBytes:"400000"`
	Anything any               `json:"anything,omitempty"`
}

type price struct {
	Cents    int64  `json:"cents" minimum:"0"`
	Currency string `json:"currency" format:"currency"`
}

type maker struct {
	Name    string  `json:"name" minLength:"1"`
	Website *string `json:"website"` // required, but nullable
}

type gadgetInput struct{ Body gadget }

func echo(_ context.Context, in *gadgetInput) (*rest.Body[gadget], error) {
	return rest.NewBody(in.Body), nil
}

type signupInput struct {
	Body struct {
		Name     string `json:"name" minLength:"1"`
		Email    string `json:"email" format:"email"`
		Password string `json:"password" format:"password"`
	}
}

func login(context.Context, *signupInput) (*rest.NoBody, error) { return nil, nil }

type patchInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Name shape.Opt[string]   `json:"name,omitzero" minLength:"1" maxLength:"5"`
		Note shape.Opt[string]   `json:"note,omitzero" nullable:"true" maxLength:"5"`
		Tags shape.Opt[[]string] `json:"tags,omitzero" maxItems:"2"`
		Size shape.Opt[int]      `json:"size,omitzero" nullable:"true" minimum:"1"`
	}
}

// patched returns the fields that the handler received.
type patched struct {
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Note *string `json:"note"`
	Tags string  `json:"tags"`
	Size *int    `json:"size"`
}

func patch(_ context.Context, in *patchInput) (*rest.Data[patched], error) {
	old, oldSize := "old", 7
	tags := "untouched"
	if in.Body.Tags.Set {
		tags = cmp.Diff(nil, in.Body.Tags.Value)
		if len(in.Body.Tags.Value) == 2 {
			tags = in.Body.Tags.Value[0] + in.Body.Tags.Value[1]
		}
	}
	return rest.OK(patched{
		ID: in.ID, Name: in.Body.Name.OrValue("old"), Note: in.Body.Note.Or(&old), Tags: tags, Size: in.Body.Size.Or(&oldSize),
	}), nil
}

type searchInput struct {
	Active  bool       `query:"active"`
	Page    int        `query:"page" default:"1" minimum:"1"`
	PerPage int        `query:"per_page" default:"25" minimum:"1" maximum:"100"`
	Sort    string     `query:"sort" enum:"name,-name"`
	Include []string   `query:"include" enum:"prices,features"`
	Q       string     `query:"q" maxLength:"5"`
	Since   shape.Time `query:"since"`
}

type found struct {
	Active        bool
	Page, PerPage int
	Sort          string
	Include       []string
	Q             string
	Since         *shape.Time
	Raw           []string
}

func search(ctx context.Context, in *searchInput) (*rest.Body[found], error) {
	f := found{Active: in.Active, Page: in.Page, PerPage: in.PerPage, Sort: in.Sort, Include: in.Include, Q: in.Q, Raw: rest.RequestOf(ctx).Query()["filter[name]"]}
	if !in.Since.Std().IsZero() {
		f.Since = &in.Since
	}
	return rest.NewBody(f), nil
}

type meterInput struct {
	Tenant string    `path:"tenantId"`
	Code   string    `path:"code" maxLength:"10"`
	Event  uuid.UUID `path:"event"`
}

func meter(_ context.Context, in *meterInput) (*rest.Data[[]string], error) {
	return rest.OK([]string{in.Tenant, in.Code, in.Event.String()}), nil
}

type fields struct {
	Text  string            `json:"text"`
	List  []string          `json:"list"`
	Gaps  []*string         `json:"gaps"`
	Texts map[string]string `json:"texts"`
	At    shape.Time        `json:"at"`
	Never *shape.Time       `json:"never"`
	Meta  shape.Object      `json:"meta" nullable:"true"`
	Maker *maker            `json:"maker"`
}

func show(context.Context, *struct{}) (*rest.Data[fields], error) {
	at := time.Date(2026, 1, 31, 9, 15, 30, 123456789, time.FixedZone("", 3600))
	return rest.OKMessage(fields{Text: "<&> broken \xff", At: shape.T(at)}, "gadget.shown"), nil
}

func fails(err error) rest.Handler {
	return rest.Handle(func(context.Context, *struct{}) (*rest.NoBody, error) { return nil, err })
}

var errSoldOut = fault.NewCoded(fault.Conflict, fault.BillingNotReady)

// unencodable cannot be encoded.
type unencodable struct {
	Text string `json:"text"`
}

func (unencodable) MarshalJSON() ([]byte, error) { return nil, errors.New("secret: cannot be written") }

// routes has one route for each feature of the layer.
func routes() []rest.Route {
	empty := rest.Handle(func(context.Context, *struct{}) (*rest.NoBody, error) { return nil, nil })
	gone := func(_ context.Context, param func(string) string) error {
		if param("id") == "404" {
			return shape.ErrNotFound
		}
		return nil
	}
	return []rest.Route{
		{Method: "POST", Path: "/api/v1/gadgets", Scope: rest.User, Rate: limit.Default, Summary: "Make a gadget", Handler: rest.Handle(echo, rest.Status(http.StatusCreated))},
		{Method: "GET", Path: "/api/v1/gadgets", Scope: rest.Public, Rate: limit.Catalog, Summary: "Search gadgets", Handler: rest.Handle(search)},
		{Method: "PATCH", Path: "/api/v1/gadgets/{id}", Scope: rest.User, Rate: limit.Default, Summary: "Change a gadget", Handler: rest.Handle(patch, rest.Exists(gone))},
		{Method: "DELETE", Path: "/api/v1/gadgets/{id}", Scope: rest.Admin, Permission: "products.view", Summary: "Delete a gadget", Handler: empty},
		{Method: "POST", Path: "/api/v1/login", Scope: rest.Public, Rate: limit.Login, Summary: "Log in", Handler: rest.Handle(login, rest.LimitByField("email", mail.NormalizeAddress, limit.LoginAddress))},
		{Method: "GET", Path: "/api/v1/me", Scope: rest.User, Rate: limit.Default, Summary: "Who am I", Handler: empty},
		{Method: "GET", Path: "/api/v1/tenant", Scope: rest.Member, Summary: "Own tenant", Handler: empty},
		{Method: "GET", Path: "/api/v1/tenants/{tenantId}/team", Scope: rest.Tenant, Summary: "Team", Handler: empty},
		{Method: "GET", Path: "/api/v1/tenants/{tenantId}/billing", Scope: rest.Tenant, Permission: "billing.manage", Summary: "Billing", Handler: empty},
		{Method: "GET", Path: "/api/v1/usage/{tenantId}/meters/{code}/{event}", Scope: rest.Tenant, Summary: "Meter", Handler: rest.Handle(meter)},
		{Method: "GET", Path: "/api/v1/admin/products", Scope: rest.Admin, Permission: "products.view", Summary: "Products", Handler: empty},
		{Method: "GET", Path: "/api/v1/show", Scope: rest.Public, Summary: "Answer", Handler: rest.Handle(show)},
		{Method: "GET", Path: "/api/v1/panic", Scope: rest.User, Summary: "Panic", Handler: rest.Handle(func(context.Context, *struct{}) (*rest.NoBody, error) { panic("secret: boom") })},
		{Method: "GET", Path: "/api/v1/accident", Scope: rest.User, Summary: "Fail", Handler: fails(errors.New("secret: no such column"))},
		{Method: "GET", Path: "/api/v1/conflict", Scope: rest.User, Summary: "Refuse", Handler: fails(errSoldOut.Wrap(errors.New("secret: cause")).With("missing_fields", []string{"city"}))},
		{Method: "GET", Path: "/api/v1/unencodable", Scope: rest.Public, Summary: "Fail late", Handler: rest.Handle(func(context.Context, *struct{}) (*rest.Body[unencodable], error) {
			return rest.NewBody(unencodable{}), nil
		})},
		{Method: "GET", Path: "/api/v1/slow", Scope: rest.User, Summary: "Wait", Handler: rest.Handle(func(ctx context.Context, _ *struct{}) (*rest.NoBody, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})},
		{Method: "POST", Path: "/api/v1/hook", Scope: rest.Public, Summary: "Raw", Handler: rest.HandleRaw[rest.Note](http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("raw"))
		}))},
		{Method: "POST", Path: "/api/v1/half", Scope: rest.Public, Summary: "Break off", Handler: rest.HandleRaw[rest.Note](http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("half of the answer"))
			panic("secret: boom")
		}))},
	}
}

func handleBody[B any]() rest.Handler {
	type input struct{ Body B }
	return rest.Handle(func(context.Context, *input) (*rest.NoBody, error) { return nil, nil })
}
