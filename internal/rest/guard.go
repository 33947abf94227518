package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// protect returns the handler of a route. Before its function, it runs the checks of the route up
// to the 404, in the order of refusals (rules: http#order-of-refusals). Validation follows in bind.
func (a *API) protect(op *operation, next serve) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), a.cfg.Timeout)
		defer cancel()
		info := RequestOf(ctx)
		info.op, info.browser = op, a.browserOf(w, r)
		r = r.WithContext(authz.WithSource(ctx, authz.Source{IP: a.cfg.Address(r), UserAgent: userAgent(r)}))
		r, err := a.identify(r, op, info)
		if err == nil {
			err = a.admit(w, r, op)
		}
		if err == nil {
			err = next(w, r)
		}
		if err != nil {
			a.WriteError(w, r, err)
		}
	}
}

// identify adds the caller to the context of a request.
func (a *API) identify(r *http.Request, op *operation, info *Request) (*http.Request, error) {
	caller, err := a.callerOf(r, op)
	if caller == nil || err != nil {
		return r, err
	}
	info.caller = caller
	// Reload authenticates again, in the transaction of ctx if there is one.
	caller.Reload = func(ctx context.Context) (*authz.Caller, error) {
		again, err := a.authenticate(ctx, r)
		if err == nil {
			err = a.permit(again, r, op)
		}
		return again, err
	}
	return r.WithContext(authz.With(r.Context(), caller)), nil
}

// admit runs the checks that follow authentication.
func (a *API) admit(w http.ResponseWriter, r *http.Request, op *operation) error {
	if err := a.limit(w, r, op); err != nil {
		return err
	}
	if err := a.checkCSRF(r); err != nil {
		return err
	}
	if err := a.permit(authz.FromContext(r.Context()), r, op); err != nil {
		return a.logEnd(r.Context(), err)
	}
	if err := op.checkPath(r); err != nil {
		return err
	}
	if op.exists != nil {
		return op.exists(r.Context(), func(name string) string { return pathParam(r, name) })
	}
	return nil
}

// logEnd records the end of an impersonation that has expired, with the first request that it
// rejects.
func (a *API) logEnd(ctx context.Context, rejected error) error {
	if !errors.Is(rejected, errExpired) || a.cfg.LogImpersonationEnd == nil || authz.FromContext(ctx).Impersonator.EndLogged {
		return rejected
	}
	if err := a.cfg.LogImpersonationEnd(ctx); err != nil {
		return err
	}
	return rejected
}

// callerOf returns the caller of a request, or nil on public routes. On a route with an optional
// caller, invalid credentials and API keys are ignored.
func (a *API) callerOf(r *http.Request, op *operation) (*authz.Caller, error) {
	if len(op.guards) == 0 && !op.route.Optional {
		return nil, nil //nolint:nilnil // a public route
	}
	caller, err := a.authenticate(r.Context(), r)
	if _, isRefused := errors.AsType[*fault.Error](err); op.route.Optional && (isRefused || err == nil && caller.Key != nil) {
		return nil, nil //nolint:nilnil // see above
	}
	return caller, err
}

// authenticate returns the caller of a request by its bearer token, API key or session.
func (a *API) authenticate(ctx context.Context, r *http.Request) (*authz.Caller, error) {
	if session := RequestOf(r.Context()).Session(); r.Header.Get("Authorization") == "" && session != "" {
		return a.cfg.AuthenticateSession(ctx, session)
	}
	scheme, token := authorization(r)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, errUnauthenticated
	}
	if isKey(token) {
		tenantID, err := shape.ParseID(chi.URLParam(r, "tenantId"))
		if err != nil {
			tenantID = uuid.Nil
		}
		return a.cfg.AuthenticateKey(ctx, token, tenantID)
	}
	return a.cfg.Authenticate(ctx, token)
}

// authorization returns the scheme and the token of the Authorization header.
func authorization(r *http.Request) (scheme, token string) {
	scheme, token, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	return scheme, strings.TrimSpace(token)
}

// isKey reports whether a token has the form of an API key.
func isKey(token string) bool {
	return len(token) == authz.KeyLength && strings.HasPrefix(token, authz.KeyPrefix)
}

// maxUserAgent is the maximum length of a stored User-Agent, in bytes.
const maxUserAgent = 512

// userAgent returns the User-Agent of a request in a form that every database can store.
func userAgent(r *http.Request) string {
	text := r.UserAgent()
	return strings.ToValidUTF8(text[:min(len(text), maxUserAgent)], "")
}

// maxToken is the maximum length of a token, in bytes. Tokens are visible ASCII.
const maxToken = 512

// limit counts the request in the group of the route. It counts by caller (a user or an API key)
// or, in some groups, by the caller's tenant. Without a caller it counts by client address.
func (a *API) limit(w http.ResponseWriter, r *http.Request, op *operation) error {
	if op.route.Rate == "" {
		return nil
	}
	if caller := authz.FromContext(r.Context()); caller != nil {
		return a.countCaller(r.Context(), w.Header(), op.route.Rate, caller, 1)
	}
	return applyDecision(w.Header(), a.cfg.Limiter.Allow(r.Context(), cmp.Or(op.addressGroup, op.route.Rate), a.cfg.ClientIP(r)))
}

// countCaller counts requests of an authenticated caller. The API keys of a tenant also share a
// count, so that a tenant cannot multiply its limit by creating keys.
func (a *API) countCaller(ctx context.Context, h http.Header, group string, caller *authz.Caller, hits int) error {
	key := callerKey(caller)
	if caller.Key == nil && caller.Tenant != nil && limit.IsPerTenant(group) {
		key = "tenant:" + caller.Tenant.TenantID.String()
	}
	d := a.cfg.Limiter.AllowMany(ctx, group, key, hits, 1)
	if d.Allowed && caller.Key != nil && !caller.Key.Platform && caller.Tenant != nil {
		all := a.cfg.Limiter.AllowMany(ctx, group, "keys:"+caller.Tenant.TenantID.String(), hits, limit.KeysOfTenant)
		if !all.Allowed {
			d = all
		}
	}
	return applyDecision(h, d)
}

// CountMore counts additional requests in the group of the route, such as the events of a batch.
func (r *Request) CountMore(ctx context.Context, hits int) error {
	if hits <= 0 || r.op == nil || r.op.route.Rate == "" || r.caller == nil {
		return nil
	}
	return r.api.countCaller(ctx, r.header, r.op.route.Rate, r.caller, hits)
}

// LimitByField makes the group of a public route count requests by client address and one field of
// the body, normalized by normalize. Texts that normalize rejects share one count, so that callers
// cannot choose keys at will. Since the body must be read first, requests are also counted by
// address alone beforehand, in addressGroup (rules: http#rate-limits).
func LimitByField(field string, normalize func(text string) (string, error), addressGroup string) Option {
	if !limit.IsGroup(addressGroup) {
		panic("unknown rate-limit group " + addressGroup)
	}
	return func(o *operation) {
		o.addressGroup = addressGroup
		o.limitText = func(body jsontext.Value) string {
			text, _ := shape.Peek(body, field)
			text, err := normalize(text)
			if err != nil {
				return ""
			}
			return text
		}
	}
}

// applyDecision sets the rate limit headers and returns an error if the request is not allowed.
func applyDecision(h http.Header, d limit.Decision) error {
	if d.Limit > 0 {
		values := [2]string{strconv.Itoa(d.Limit), strconv.Itoa(max(d.Remaining, 0))}
		h["X-Ratelimit-Limit"], h["X-Ratelimit-Remaining"] = values[:1:1], values[1:] // keys in canonical form
	}
	if d.Allowed {
		return nil
	}
	refusal := *errTooManyRequests
	refusal.RetryAfter = d.RetryAfter
	return &refusal
}

// permit runs the guards of a route after auth:token and checks its permission.
func (a *API) permit(caller *authz.Caller, r *http.Request, op *operation) error {
	if caller != nil && caller.Key != nil && !caller.Key.HasScope(op.route.KeyScope) {
		return errScope
	}
	if err := op.route.checkImpersonation(caller, op.guards); err != nil {
		return err
	}
	for _, guard := range op.guards {
		if guard == EmailVerified && !a.cfg.RequireVerifiedEmail || guard == AdminFactor && !a.cfg.AdminRequireMFA {
			continue
		}
		if refusal := refusals[guard]; refusal.applies(caller, r) {
			return refusal.err
		}
	}
	if !op.route.isPermitted(caller, r) {
		return errForbidden
	}
	return nil
}

// checkImpersonation rejects an impersonation that has ended, and a change by a view-only one.
// The routes that stop and show an impersonation, and the logout, stay open.
func (r Route) checkImpersonation(caller *authz.Caller, guards []Guard) error {
	if caller == nil || caller.Impersonator == nil || len(guards) == 0 || r.worksAfterExpiry() {
		return nil
	}
	switch {
	case caller.Impersonator.Ended:
		return errExpired
	case caller.Impersonator.ReadOnly && r.changes():
		return errReadOnly
	}
	return nil
}

// worksAfterExpiry reports whether the route is open to impersonations that have ended.
func (r Route) worksAfterExpiry() bool { return r.AfterExpiry || r.Scope == Impersonating }

// changes reports whether the route has a method that can change data.
func (r Route) changes() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// isPermitted reports whether a caller holds the route's permission. "|" separates alternatives and "&"
// requires all. For an API key, its scope replaces the permission.
func (r Route) isPermitted(caller *authz.Caller, request *http.Request) bool {
	if r.Permission == "" || caller.Key != nil {
		return true
	}
	for alternative := range strings.SplitSeq(r.Permission, "|") {
		missing := func(p string) bool { return !r.hasPermission(caller, p, request) }
		if !slices.ContainsFunc(strings.Split(alternative, "&"), missing) {
			return true
		}
	}
	return false
}

// hasPermission reports whether a caller holds a single permission.
func (r Route) hasPermission(caller *authz.Caller, permission string, request *http.Request) bool {
	switch r.Scope {
	case Admin:
		return caller.CanOnPlatform(permission)
	case Billing:
		return caller.Can(permission) && isMember(caller, request) || caller.CanOnPlatform(permission)
	default:
		return caller.Can(permission)
	}
}

// refusals are the errors of the guards and the conditions under which they apply.
var refusals = map[Guard]struct {
	err     error
	applies func(caller *authz.Caller, r *http.Request) bool
}{
	AuthToken: {errUnauthenticated, func(c *authz.Caller, _ *http.Request) bool { return c == nil }},
	// A tenant in the path may not exist. tenant.member rejects it like a tenant of other users, so
	// that callers cannot find out which tenants exist.
	TenantResolve: {errContextRequired, func(c *authz.Caller, r *http.Request) bool {
		return c.Tenant == nil && chi.URLParam(r, "tenantId") == ""
	}},
	TenantMember:       {errForbidden, func(c *authz.Caller, r *http.Request) bool { return !isMember(c, r) }},
	MemberOrAdmin:      {errForbidden, func(c *authz.Caller, r *http.Request) bool { return !isMember(c, r) && !c.IsPlatformAdmin }},
	OnboardingComplete: {errOnboardingNeeded, func(c *authz.Caller, _ *http.Request) bool { return !c.Tenant.OnboardingComplete }},
	SSOLogin:           {errSSORequired, func(c *authz.Caller, r *http.Request) bool { return isMember(c, r) && c.SSORequired }},
	FactorEnrolled: {errFactorMissing, func(c *authz.Caller, r *http.Request) bool {
		return isMember(c, r) && c.Key == nil && c.Impersonator == nil && c.Tenant.FactorMissing
	}},
	// On a route for members and admins, an admin of another tenant acts as an admin.
	AdminFactor: {errFactorMissing, func(c *authz.Caller, r *http.Request) bool {
		return c.IsPlatformAdmin && !c.HasFactor && (chi.URLParam(r, "tenantId") == "" || !isMember(c, r))
	}},
	FactorPassed: {errFactorNeeded, func(c *authz.Caller, _ *http.Request) bool { return c.HasFactor && !c.FactorPassed }},
	EmailProved:  {errEmailNotVerified, func(c *authz.Caller, _ *http.Request) bool { return c.Key == nil && !c.EmailVerified }},
	// An API key has no email.
	EmailVerified:        {errEmailNotVerified, func(c *authz.Caller, _ *http.Request) bool { return c.Key == nil && !c.EmailVerified }},
	ImpersonationPrevent: {errImpersonating, func(c *authz.Caller, _ *http.Request) bool { return c.Impersonator != nil }},
	ImpersonationRefuse:  {errNotInPerson, func(c *authz.Caller, _ *http.Request) bool { return c.Impersonator != nil }},
	ImpersonationActive:  {errNotImpersonating, func(c *authz.Caller, _ *http.Request) bool { return c.Impersonator == nil }},
	PlatformAdmin: {errForbidden, func(c *authz.Caller, _ *http.Request) bool {
		return !c.IsPlatformAdmin && (c.Key == nil || !c.Key.Platform)
	}},
}

// isMember reports whether the caller belongs to the tenant in the path, or to any tenant if the
// path has none.
func isMember(caller *authz.Caller, r *http.Request) bool {
	text := chi.URLParam(r, "tenantId")
	id, err := shape.ParseID(text)
	return caller.Tenant != nil && (text == "" || err == nil && id == caller.Tenant.TenantID)
}
