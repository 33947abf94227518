// Package rest is the HTTP layer shared by all domains: the types of the route table, guards, rate
// limits, decoding and validation, errors, the access log and OpenAPI. Domains provide handlers of
// the form func(ctx, *Input) (*Output, error). Only this package deals with HTTP statuses.
package rest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/rest/reference"
)

// Guard is a check that a request must pass. The names are part of the API contract.
type Guard string

// The guards in execution order (rules: http#guards).
const (
	AuthToken            Guard = "auth:token"
	TenantResolve        Guard = "tenant.resolve"
	TenantMember         Guard = "tenant.member"
	OnboardingComplete   Guard = "onboarding.complete"
	ImpersonationPrevent Guard = "impersonation.prevent"
	ImpersonationActive  Guard = "impersonation.active"
	// ImpersonationRefuse guards routes that are not available during impersonation, because their
	// effect would outlive it.
	ImpersonationRefuse Guard = "impersonation.refuse"
	PlatformAdmin       Guard = "platform.admin"
	// EmailVerified guards routes that require a verified email if the settings say so.
	EmailVerified Guard = "email.verified"
	// EmailProved guards routes that always require a verified email.
	EmailProved Guard = "email.verified:always"
	// SSOLogin guards the routes of a tenant that requires single sign-on of its members.
	SSOLogin Guard = "sso.login"
	// FactorEnrolled guards the routes of a tenant that requires a second factor of its members.
	// AdminFactor guards the routes of platform admins, if the settings require a second factor.
	FactorEnrolled Guard = "mfa.enrolled"
	AdminFactor    Guard = "admin.mfa_enrolled"
	// FactorPassed guards routes that a user with a second factor can only use with a login that has
	// passed it.
	FactorPassed Guard = "mfa.passed"
	// MemberOrAdmin guards the billing portal: a member of the tenant, or a platform admin for any
	// tenant.
	MemberOrAdmin Guard = "tenant.member|platform.admin"
)

// Scope is the audience of a route. It stands for a list of guards.
type Scope string

// The scopes of the route table.
const (
	Public Scope = "public" // anyone, without a credential
	User   Scope = "user"   // any authenticated caller
	Member Scope = "member" // a caller with a tenant, even before onboarding
	Tenant Scope = "tenant" // a member of the tenant in the path or of their own tenant, after onboarding
	Admin  Scope = "admin"  // platform administrators who are not impersonating
	// Billing is for members of the tenant in the path, even before onboarding, and for platform
	// administrators for any tenant, with the permission of the route in each case.
	Billing Scope = "billing"
	// Impersonating is for platform administrators during impersonation. Its routes show and end
	// the impersonation.
	Impersonating Scope = "impersonating"
)

// guards maps scopes to their guards.
var guards = map[Scope][]Guard{
	User: {AuthToken}, Member: {AuthToken, TenantResolve, TenantMember, SSOLogin, FactorEnrolled},
	Tenant: {AuthToken, TenantResolve, TenantMember, SSOLogin, FactorEnrolled, OnboardingComplete},
	Admin:  {AuthToken, ImpersonationPrevent, PlatformAdmin, AdminFactor}, Billing: {AuthToken, MemberOrAdmin, SSOLogin, FactorEnrolled, AdminFactor}, Impersonating: {AuthToken, ImpersonationActive}, Public: nil,
}

// Route is one row of the route table. It defines all checks that run before the handler.
type Route struct {
	Method     string
	Path       string
	Scope      Scope
	Permission string // "" requires none, "a|b" either one, "a&b" both
	Rate       string // a group of package limit; "" is unlimited
	Summary    string // one line for the reference
	// Extra are guards in addition to the guards of the scope, which must not be Public.
	Extra []Guard
	// Precheck checks a request before validation. field returns a text field of the body, or "" if
	// it is absent or not a string. It can be nil.
	Precheck func(ctx context.Context, field func(name string) string) error
	// InPersonFields are fields of the body that are refused during impersonation, before validation.
	InPersonFields []string
	// Optional identifies the caller of a public route if the request has a user's credential. An
	// invalid credential is ignored.
	Optional bool
	// AfterExpiry allows the route during an impersonation that has expired but was not stopped.
	AfterExpiry bool
	// KeyScope is the API key scope that allows the route; "a|b" means that either one does. If
	// empty, API keys cannot use it.
	KeyScope string
	// Idempotent supports the header Idempotency-Key. Responses of the route must not contain
	// secrets, because they are stored for a day.
	Idempotent bool
	// Fixed means that no parameter of another route matches the path: every other method is 405.
	Fixed bool
	// MakesEndpoints marks the operation that creates a webhook endpoint, whose URL is its field url.
	// The document describes the events as a callback of this operation, so that generators that drop
	// unreferenced schemas keep them.
	MakesEndpoints bool
	// Entry holds the handwritten texts about the route.
	Entry   reference.Entry
	Handler Handler
}

// Guards returns the guards of a route in execution order.
func (r Route) Guards() []Guard {
	list := slices.Clone(guards[r.Scope])
	for _, extra := range r.Extra {
		at := len(list)
		if extra == ImpersonationRefuse {
			at = 1 // right after authentication
		}
		list = slices.Insert(list, at, extra)
	}
	return list
}

// ID returns the operation ID of the route: from its entry, or else from its method and path.
func (r Route) ID() string {
	return cmp.Or(r.Entry.ID, strings.ToLower(r.Method)+strings.NewReplacer("/", "-", "{", "", "}", "").Replace(strings.TrimPrefix(r.Path, "/api/v1")))
}
