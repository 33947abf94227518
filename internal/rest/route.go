// Package rest is the HTTP layer that every domain shares: the types of the route
// table, guards, rate limits, decoding and validation, errors, the access log
// and OpenAPI. Domains pass it handlers of the form
// func(ctx, *Input) (*Output, error); only this package knows statuses.
package rest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/rest/reference"
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

// guards are the guards of the scopes.
var guards = map[Scope][]Guard{
	User: {AuthToken}, Member: {AuthToken, TenantResolve, TenantMember}, Tenant: {AuthToken, TenantResolve, TenantMember, OnboardingComplete},
	Admin: {AuthToken, ImpersonationPrevent, PlatformAdmin}, Billing: {AuthToken, MemberOrAdmin}, Impersonating: {AuthToken, ImpersonationActive}, Public: nil,
}

// Guards lists the guards of a scope.
func (s Scope) Guards() []Guard { return guards[s] }

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
	list := slices.Clone(guards[r.Scope])
	if r.InPerson && len(list) > 0 {
		list = slices.Insert(list, 1, ImpersonationRefuse)
	}
	if r.Verified && len(list) > 0 {
		list = append(list, EmailVerified)
	}
	return list
}

// ID names the route in OpenAPI: as its entry does, else by method and path.
func (r Route) ID() string {
	return cmp.Or(r.Entry.ID, strings.ToLower(r.Method)+strings.NewReplacer("/", "-", "{", "", "}", "").Replace(strings.TrimPrefix(r.Path, "/api/v1")))
}
