package rest

import (
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

// protect runs the checks of a route before its handler, in the order of refusals
// (rules: http#order-of-refusals), up to the 404. Validation comes after them, in
// bind.
func (a *API) protect(op *operation, next http.Handler) http.Handler {
	op.guards = op.route.Guards()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := withTimeout(r.Context(), a.cfg.Timeout)
		defer cancel()
		b := a.browserOf(w, r)
		infoOf(ctx).op = op
		ctx = context.WithValue(ctx, browserKey{}, b)
		ctx = authz.WithSource(ctx, authz.Source{IP: a.address(r, infoOf(ctx)), UserAgent: userAgent(r)})
		r = r.WithContext(ctx)
		bySession := false
		caller, err := a.callerOf(ctx, r, op, b.session)
		if err != nil {
			a.WriteError(w, r, err)
			return
		}
		if caller != nil {
			bySession = b.session != ""
			info := infoOf(ctx)
			info.userID = caller.UserID
			if caller.Key != nil {
				info.key = caller.Key.ID
			}
			if caller.Tenant != nil {
				info.tenant = caller.Tenant.TenantID
			}
			caller.Reload = func(ctx context.Context) (*authz.Caller, error) { return a.reload(ctx, r, op, b.session) }
			ctx = authz.With(ctx, caller)
			r = r.WithContext(ctx)
		}
		if err := a.limit(w, r, op); err != nil {
			a.WriteError(w, r, err)
			return
		}
		if err := checkCSRF(r, b, bySession, a.cfg.PublicURL); err != nil {
			a.WriteError(w, r, err)
			return
		}
		if err := a.check(r, op); err != nil {
			a.WriteError(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// callerOf returns the caller of a request, or nil on public routes. On a route with an
// optional caller an invalid credential counts as none, as do API keys.
func (a *API) callerOf(ctx context.Context, r *http.Request, op *operation, session string) (*authz.Caller, error) {
	if len(op.guards) == 0 && !op.route.Optional {
		return nil, nil //nolint:nilnil // a public route
	}
	caller, err := a.authenticate(ctx, r, session)
	var refused *fault.Error
	if op.route.Optional && (errors.As(err, &refused) || err == nil && caller.Key != nil) {
		return nil, nil //nolint:nilnil // see above
	}
	return caller, err
}

// authenticate looks up the caller of a request by its bearer token, API key or session.
func (a *API) authenticate(ctx context.Context, r *http.Request, session string) (*authz.Caller, error) {
	authorization := r.Header.Get("Authorization")
	if authorization == "" && session != "" {
		return a.cfg.AuthenticateSession(ctx, session)
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken || strings.ContainsFunc(token, notToken) {
		return nil, errUnauthenticated
	}
	if len(token) == authz.KeyLength && strings.HasPrefix(token, authz.KeyPrefix) {
		tenantID, err := shape.ParseID(chi.URLParam(r, "tenantId"))
		if err != nil {
			tenantID = uuid.Nil
		}
		return a.cfg.AuthenticateKey(ctx, token, tenantID)
	}
	return a.cfg.Authenticate(ctx, token)
}

// reload authenticates the caller of a request again and checks the guards and the permission of
// its route, in the transaction of ctx if there is one.
func (a *API) reload(ctx context.Context, r *http.Request, op *operation, session string) (*authz.Caller, error) {
	caller, err := a.authenticate(ctx, r, session)
	if err == nil {
		err = a.permit(caller, r, op)
	}
	return caller, err
}

// maxUserAgent is how much of a User-Agent is kept, in bytes.
const maxUserAgent = 512

// userAgent returns the User-Agent of a request in a form that every database can
// store.
func userAgent(r *http.Request) string {
	text := r.UserAgent()
	return strings.ToValidUTF8(text[:min(len(text), maxUserAgent)], "")
}

// maxToken is the longest token that is looked up, in bytes.
const maxToken = 512

// notToken reports whether no token has this character: they are visible ASCII.
func notToken(c rune) bool { return c <= ' ' || c > '~' }

// limit counts the request in the route's group: by the caller, who is a user or an API
// key, or, in some groups, the caller's tenant, if there is one, else by the client's
// address.
func (a *API) limit(w http.ResponseWriter, r *http.Request, op *operation) error {
	if op.route.Rate == "" {
		return nil
	}
	if caller := authz.From(r.Context()); caller != nil {
		return a.countCaller(r.Context(), w.Header(), op.route.Rate, caller, 1)
	}
	group := op.route.Rate
	if op.byField != nil {
		group = op.byField.addressGroup
	}
	return a.count(r.Context(), w.Header(), group, a.cfg.ClientIP(r))
}

// countCaller counts hits of an authenticated caller. The API keys of a tenant also count
// together, so that a tenant cannot multiply its limit by making keys.
func (a *API) countCaller(ctx context.Context, h http.Header, group string, caller *authz.Caller, hits int) error {
	key := "user:" + strconv.FormatInt(caller.UserID, 10)
	switch {
	case caller.Key != nil:
		key = "key:" + caller.Key.ID.String()
	case caller.Tenant != nil && limit.ByTenant(group):
		key = "tenant:" + caller.Tenant.TenantID.String()
	}
	d := a.cfg.Limiter.AllowMany(ctx, group, key, hits, 1)
	if d.Allowed && caller.Key != nil && !caller.Key.Platform && caller.Tenant != nil {
		all := a.cfg.Limiter.AllowMany(ctx, group, "keys:"+caller.Tenant.TenantID.String(), hits, limit.KeysOfTenant)
		if !all.Allowed {
			d = all
		}
	}
	return decided(h, d)
}

// CountMore counts more hits of the request of ctx in its route's group, such as the events of a
// batch. Outside of a request it does nothing.
func CountMore(ctx context.Context, hits int) error {
	info, caller := infoOf(ctx), authz.From(ctx)
	if hits <= 0 || info.op == nil || info.op.route.Rate == "" || caller == nil {
		return nil
	}
	return info.api.countCaller(ctx, info.header, info.op.route.Rate, caller, hits)
}

// fieldLimit is a limit by the text of one field of the body.
type fieldLimit struct {
	field        string
	addressGroup string
	normalize    func(text string) (string, error)
}

// LimitByField makes a public route's group count requests by the client's address
// together with the text of one field of the body, as normalize returns it. Texts
// that it refuses share one count, so that callers cannot choose keys at will. The
// body is read for this, so requests are counted before that by the address alone,
// in addressGroup (rules: http#rate-limits).
func LimitByField(field string, normalize func(text string) (string, error), addressGroup string) Option {
	if !limit.Known(addressGroup) {
		panic("unknown rate-limit group " + addressGroup)
	}
	return func(o *operation) {
		o.byField = &fieldLimit{field: field, addressGroup: addressGroup, normalize: normalize}
	}
}

// limitByField counts a request whose body was read, if its route asks for that.
func (a *API) limitByField(w http.ResponseWriter, r *http.Request, op *operation, body jsontext.Value) error {
	by := op.byField
	if by == nil {
		return nil
	}
	text, err := by.normalize(shape.Peek(body, by.field))
	if err != nil {
		text = ""
	}
	return a.count(r.Context(), w.Header(), op.route.Rate, a.cfg.ClientIP(r)+" "+text)
}

func (a *API) count(ctx context.Context, h http.Header, group, key string) error {
	return decided(h, a.cfg.Limiter.Allow(ctx, group, key))
}

// decided sets the headers of a decision and returns its refusal, if any.
func decided(h http.Header, d limit.Decision) error {
	if d.Limit > 0 {
		values := [2]string{strconv.Itoa(d.Limit), strconv.Itoa(max(d.Remaining, 0))}
		h["X-Ratelimit-Limit"], h["X-Ratelimit-Remaining"] = values[:1:1], values[1:] // in Go's canonical form
	}
	if d.Allowed {
		return nil
	}
	refusal := *errTooManyRequests
	refusal.RetryAfter = d.RetryAfter
	return &refusal
}

// check runs the guards after auth:token, the route's permission and its
// existence check.
func (a *API) check(r *http.Request, op *operation) error {
	ctx := r.Context()
	if err := a.permit(authz.From(ctx), r, op); err != nil {
		return err
	}
	if err := op.checkPath(r); err != nil {
		return err
	}
	if op.exists != nil {
		return op.exists(ctx, func(name string) string { return pathParam(r, name) })
	}
	return nil
}

// permit runs the guards of a route after auth:token and checks its permission.
func (a *API) permit(caller *authz.Caller, r *http.Request, op *operation) error {
	if caller != nil && caller.Key != nil && !caller.Key.Opens(op.route.KeyScope) {
		return errScope
	}
	if caller != nil && len(op.guards) > 0 && caller.Impersonator != nil && caller.Impersonator.Ended && !op.route.worksAfterExpiry() {
		return errExpired
	}
	for _, guard := range op.guards {
		if guard == EmailVerified && !a.cfg.RequireVerifiedEmail {
			continue
		}
		if err := runGuard(guard, caller, r); err != nil {
			return err
		}
	}
	if !op.route.permits(caller, r) {
		return errForbidden
	}
	return nil
}

// permits reports whether a request's caller holds the route's permission, one of those between
// bars, or all of those between ampersands. For an API key its scope stands for the permission.
func (r Route) permits(caller *authz.Caller, request *http.Request) bool {
	if r.Permission == "" || caller.Key != nil {
		return true
	}
	for alternative := range strings.SplitSeq(r.Permission, "|") {
		missing := func(p string) bool { return !r.holds(caller, p, request) }
		if !slices.ContainsFunc(strings.Split(alternative, "&"), missing) {
			return true
		}
	}
	return false
}

// holds reports whether a request's caller holds one permission.
func (r Route) holds(caller *authz.Caller, permission string, request *http.Request) bool {
	switch r.Scope {
	case Admin:
		return caller.CanOnPlatform(permission)
	case Billing:
		return caller.Can(permission) && isMember(caller, request) || caller.CanOnPlatform(permission)
	default:
		return caller.Can(permission)
	}
}

func runGuard(guard Guard, caller *authz.Caller, r *http.Request) error {
	switch guard {
	case AuthToken:
		if caller == nil {
			return errUnauthenticated
		}
	case TenantResolve:
		// A tenant in the path may not exist: tenant.member refuses it like one that
		// the caller does not belong to, so that nobody can tell them apart.
		if caller.Tenant == nil && chi.URLParam(r, "tenantId") == "" {
			return errContextRequired
		}
	case TenantMember:
		if !isMember(caller, r) {
			return errForbidden
		}
	case MemberOrAdmin:
		if !isMember(caller, r) && !caller.IsPlatformAdmin {
			return errForbidden
		}
	case OnboardingComplete:
		if !caller.Tenant.OnboardingComplete {
			return errOnboardingNeeded
		}
	case EmailVerified:
		if !caller.EmailVerified {
			return errEmailNotVerified
		}
	case ImpersonationPrevent:
		if caller.Impersonator != nil {
			return errImpersonating
		}
	case ImpersonationRefuse:
		if caller.Impersonator != nil {
			return errNotInPerson
		}
	case ImpersonationActive:
		if caller.Impersonator == nil {
			return errNotImpersonating
		}
	case PlatformAdmin:
		if !caller.IsPlatformAdmin && (caller.Key == nil || !caller.Key.Platform) {
			return errForbidden
		}
	default:
		return fault.New(fault.Internal, "unknown guard "+string(guard))
	}
	return nil
}

// isMember reports whether the caller belongs to the tenant of the path, or to any
// tenant where the path names none.
func isMember(caller *authz.Caller, r *http.Request) bool {
	id := chi.URLParam(r, "tenantId")
	return caller.Tenant != nil && (id == "" || sameID(id, caller.Tenant.TenantID))
}

func sameID(text string, id uuid.UUID) bool {
	parsed, err := shape.ParseID(text)
	return err == nil && parsed == id
}
