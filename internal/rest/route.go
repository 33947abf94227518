// Package rest is the HTTP layer that every domain shares: the route table's
// types, guards, rate limits, decoding and validation, errors, the access log
// and OpenAPI. Domains hand it handlers of the form
// func(ctx, *Input) (*Output, error); only this package knows statuses.
package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Guard is a check that a request must pass. The names are part of the contract.
type Guard string

// The guards in the order in which they run (rules: http#guards).
const (
	AuthToken            Guard = "auth:token"
	TenantResolve        Guard = "tenant.resolve"
	TenantMember         Guard = "tenant.member"
	OnboardingComplete   Guard = "onboarding.complete"
	ImpersonationPrevent Guard = "impersonation.prevent"
	ImpersonationActive  Guard = "impersonation.active"
	// ImpersonationRefuse is the guard of routes that are for people in person.
	ImpersonationRefuse Guard = "impersonation.refuse"
	PlatformAdmin       Guard = "platform.admin"
	// EmailVerified is the guard of routes that need a proved email, by the settings.
	EmailVerified Guard = "email.verified"
	// MemberOrAdmin is the guard of the billing portal: a member of the tenant, or a
	// platform admin for any tenant.
	MemberOrAdmin Guard = "tenant.member|platform.admin"
)

// Scope is the audience of a route and stands for a list of guards.
type Scope string

// The scopes of the route table.
const (
	Public Scope = "public" // anybody, without a credential
	User   Scope = "user"   // any authenticated caller
	Member Scope = "member" // a caller with a tenant, onboarded or not
	Tenant Scope = "tenant" // a member of the tenant in the path or of their own, onboarded
	Admin  Scope = "admin"  // platform administrators who act for themselves
	// Billing are members of the tenant in the path, onboarded or not, and platform
	// administrators for any tenant, with the route's permission there.
	Billing Scope = "billing"
	// Impersonating are platform administrators who act as somebody else. Its routes
	// show and end the impersonation.
	Impersonating Scope = "impersonating"
)

// Guards lists what a scope stands for.
func (s Scope) Guards() []Guard {
	switch s {
	case User:
		return []Guard{AuthToken}
	case Member:
		return []Guard{AuthToken, TenantResolve, TenantMember}
	case Tenant:
		return []Guard{AuthToken, TenantResolve, TenantMember, OnboardingComplete}
	case Admin:
		return []Guard{AuthToken, ImpersonationPrevent, PlatformAdmin}
	case Billing:
		return []Guard{AuthToken, MemberOrAdmin}
	case Impersonating:
		return []Guard{AuthToken, ImpersonationActive}
	default:
		return nil
	}
}

// Route is one row of the route table. It holds everything that is decided about a
// request before its handler runs.
type Route struct {
	Method     string
	Path       string
	Scope      Scope
	Permission string // "" asks for none, "a|b" for one of the two, "a&b" for both
	Rate       string // a group of package limit; "" is unlimited
	Summary    string // one line for the reference
	// InPerson refuses the route to whoever acts as somebody else: what it makes would
	// outlive the impersonation.
	InPerson bool
	// Verified refuses the route to a caller whose email nobody has proved, where the
	// settings say so.
	Verified bool
	// Optional looks up the caller of a public route if the request has the credential of a
	// user. An invalid credential counts as none.
	Optional bool
	// AfterExpiry opens the route to an impersonation that has ended but was not stopped.
	AfterExpiry bool
	// KeyScope is the scope of API keys that opens the route; "" closes it to all keys.
	KeyScope string
	// Entry is what is written about the route by hand.
	Entry   reference.Entry
	Handler Handler
}

// Guards lists the checks of a route in the order in which they run.
func (r Route) Guards() []Guard {
	guards := r.Scope.Guards()
	if r.InPerson && len(guards) > 0 {
		guards = slices.Insert(guards, 1, ImpersonationRefuse)
	}
	if r.Verified && len(guards) > 0 {
		guards = append(guards, EmailVerified)
	}
	return guards
}

// worksAfterExpiry reports whether the route is open to an impersonation that has ended.
func (r Route) worksAfterExpiry() bool { return r.AfterExpiry || r.Scope == Impersonating }

// ID names the route in OpenAPI: as its entry does, else by method and path in kebab-case.
func (r Route) ID() string {
	if r.Entry.ID != "" {
		return r.Entry.ID
	}
	path := strings.TrimPrefix(r.Path, "/api/v1")
	var b strings.Builder
	b.WriteString(strings.ToLower(r.Method))
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune("/{}-_", c) }) {
		b.WriteByte('-')
		b.WriteString(part)
	}
	return b.String()
}

// check panics on a row that contradicts itself. In particular a missing scope must
// not make a route public.
func (r Route) check() {
	switch {
	case r.Handler == nil:
		panic("no handler")
	case !slices.Contains([]Scope{Public, User, Member, Tenant, Admin, Billing, Impersonating}, r.Scope):
		panic(fmt.Sprintf("unknown scope %q", r.Scope))
	case r.Permission != "" && !slices.Contains([]Scope{Tenant, Member, Admin, Billing}, r.Scope):
		panic(fmt.Sprintf("nobody can hold %q in scope %q", r.Permission, r.Scope))
	case r.Optional && r.Scope != Public:
		panic("only a public route has an optional caller")
	case r.InPerson && r.Scope == Public:
		panic("nobody impersonates in scope public")
	case r.KeyScope != "" && !slices.Contains(authz.PlatformScopes(), r.KeyScope):
		panic(fmt.Sprintf("unknown scope of API keys %q", r.KeyScope))
	case r.KeyScope != "" && r.Scope != Tenant && r.Scope != Admin:
		panic(fmt.Sprintf("no key authenticates in scope %q", r.Scope))
	case r.Rate != "" && !limit.Known(r.Rate):
		panic(fmt.Sprintf("unknown rate-limit group %q", r.Rate))
	}
}

// tag returns the group of the route in the reference: that of its entry, else the first
// part of its path that names a subject.
func (r Route) tag() string {
	if r.Entry.Tag != "" {
		return r.Entry.Tag
	}
	for _, part := range strings.Split(strings.TrimPrefix(r.Path, "/api/v1"), "/") {
		if part != "" && part != "tenant" && part != "docs" && !strings.HasPrefix(part, "{") {
			return part
		}
	}
	return "tenant"
}

// Handler is what a route leads to: made by Handle, Cached, File, Upload or Raw.
type Handler interface {
	register(a *API, r Route)
}

// Option refines a handler.
type Option func(*operation)

// operation is what the middleware of one route works with.
type operation struct {
	route  Route
	guards []Guard // of the route
	status int
	exists func(ctx context.Context, param func(string) string) error
	path   []shape.Property
	query  []shape.Property
	body   *shape.Rules
	list   *page.Spec // the filters, sorts and includes of a list; nil for others
	input  reference.Input
	// makesEndpoints says that events are sent to what the operation makes.
	makesEndpoints bool
	// byField is a limit that needs the body; nil for none.
	byField *fieldLimit
	// checks are the checks of fields of an input, which points to a struct of the type checked;
	// nil for none.
	checks  func(ctx context.Context, in any) error
	checked reflect.Type
}

// Status sets the status of a success. The default is 200, or 204 for Empty.
func Status(code int) Option { return func(o *operation) { o.status = code } }

// Exists declares a check that runs after the guards and before validation, so that
// a path that names nothing is a 404 before a broken body is a 422. The check reads
// path parameters by name.
func Exists(check func(ctx context.Context, param func(string) string) error) Option {
	return func(o *operation) { o.exists = check }
}

// Checks declares the checks of a route's fields that need more than the form of the body, such
// as whether a slug is taken. They run only if a field is broken, in the body's form or for the
// handler, so that the answer reports every broken field at once. The handler makes the same
// checks by itself.
//
// Broken fields and those below them are absent from the input of check: they have their zero
// value. What check finds wrong with them does not count, nor do refusals that are not about
// fields.
func Checks[I any](check func(ctx context.Context, in *I) error) Option {
	return func(o *operation) {
		o.checked = reflect.TypeFor[I]()
		o.checks = func(ctx context.Context, in any) error { return check(ctx, in.(*I)) }
	}
}

// Handle makes a function the handler of a route. I is a struct with `path` and
// `query` fields and a Body; O is one of this package's answers.
func Handle[I, O any](fn func(context.Context, *I) (*O, error), options ...Option) Handler {
	return typed[I, O]{fn: fn, options: options}
}

type typed[I, O any] struct {
	fn      func(context.Context, *I) (*O, error)
	options []Option
}

func (t typed[I, O]) register(a *API, r Route) {
	op := &operation{route: r}
	for _, option := range t.options {
		option(op)
	}
	doc := a.describe(op)
	describeBody[I](a, &doc)
	huma.Register(a.huma, doc, func(ctx context.Context, in *I) (*O, error) {
		out, err := t.fn(ctx, in)
		if err != nil {
			return nil, a.problem(ctx, op.completed(ctx, in, err))
		}
		return out, nil
	})
	compileInput[I](a, op)
}

// Raw makes a plain HTTP handler the handler of a route, such as the receiver of
// signed notifications. Guards and limits run before it. It has to bound the body
// by itself. For the reference contentType is what it accepts, and A what it answers in JSON;
// struct{} is something else, or nothing.
func Raw[A any](h http.Handler, contentType string) Handler {
	return raw{handler: h, contentType: contentType, answer: reflect.TypeFor[A]()}
}

type raw struct {
	handler     http.Handler
	contentType string
	answer      reflect.Type
}

func (h raw) register(a *API, r Route) {
	op := &operation{route: r}
	doc := a.describe(op)
	if r.Method != http.MethodGet {
		schema := &huma.Schema{Type: huma.TypeString}
		if h.contentType == "application/json" {
			schema = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
		}
		doc.RequestBody = &huma.RequestBody{
			Required: true,
			Content:  map[string]*huma.MediaType{h.contentType: {Schema: schema}},
		}
	}
	var content map[string]*huma.MediaType
	if h.answer.NumField() > 0 {
		content = map[string]*huma.MediaType{"application/json": {Schema: a.huma.OpenAPI().Components.Schemas.Schema(h.answer, true, "")}}
	}
	doc.Responses["200"] = success(http.StatusOK, content)
	a.huma.OpenAPI().AddOperation(&doc)
	a.handle(op, h.handler)
}
