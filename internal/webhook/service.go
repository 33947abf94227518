package webhook

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/safehttp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Tenants gives access to tenants.
type Tenants interface {
	// LockLive locks a tenant until the transaction of ctx ends, and checks the caller's
	// permissions again.
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Members(ctx context.Context, id uuid.UUID) ([]tenant.Member, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
}

// Letters sends emails in the transaction of ctx.
type Letters interface {
	WebhookDisabled(ctx context.Context, locale, to string, d letters.WebhookDisabled) error
}

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps holds the dependencies of a Service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock // the service's clock, which the sandbox can move
	Machine clock.Clock // the machine's clock, for leases and signatures
	Tenants Tenants
	Letters Letters
	Audit   Audit
	Log     *slog.Logger
	// Reachable lists non-public networks that endpoints can use anyway, also without https: the
	// sandbox's own network. It is empty in production.
	Reachable []netip.Prefix
	// DiscardResponses keeps responses of endpoints from being stored.
	DiscardResponses bool
	// Observe, if not nil, is called after each attempt with "answered" (2xx), "refused" (another
	// status) or "failed" (no response).
	Observe func(outcome string, took time.Duration)
}

// Service manages endpoints and their deliveries.
type Service struct {
	deps   Deps
	store  store
	outbox *Outbox
	sender *sender
}

// NewService returns a Service. Run sends the events that are added to outbox.
func NewService(d Deps, outbox *Outbox) *Service {
	s := &Service{deps: d, store: store{d.DB}, outbox: outbox}
	s.sender = newSender(s)
	outbox.wake = s.sender.wake
	return s
}

// List returns the endpoints of a tenant, or the platform's for nil, newest first.
func (s *Service) List(ctx context.Context, tenantID *uuid.UUID) ([]Endpoint, error) {
	return s.store.list(ctx, tenantID)
}

// Get returns an endpoint of a tenant, or of the platform for nil. It returns errNotFound if the
// endpoint does not exist.
func (s *Service) Get(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (Endpoint, error) {
	return s.store.get(ctx, tenantID, id)
}

// Create creates an endpoint for a tenant, or for the platform if tenantID is nil. It returns the
// endpoint and its secret, which cannot be read again.
//
// Invariant: a tenant has at most maxOfTenant endpoints, the platform maxOfPlatform. The tenant, or
// the platform's row, is locked before counting, so of two concurrent requests for the last free
// place one is rejected.
func (s *Service) Create(ctx context.Context, tenantID *uuid.UUID, t Terms) (e Endpoint, text string, err error) {
	if err := s.check(&t); err != nil {
		return e, "", err
	}
	text = newSecret()
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		most := maxOfPlatform
		if tenantID != nil {
			most = maxOfTenant
		}
		if err := s.lockOwner(ctx, tenantID); err != nil {
			return err
		}
		switch n, err := s.store.count(ctx, tenantID); {
		case err != nil:
			return err
		case n >= int64(most):
			return errTooMany(most)
		}
		e = Endpoint{
			ID: sqldb.NewID(), TenantID: tenantID, URL: t.URL, Types: t.Types, Description: t.Description, Enabled: true,
			CreatedAt: s.deps.Clock.Now(), secrets: secrets{{Text: text}},
		}
		if err := s.store.insert(ctx, e); err != nil {
			return err
		}
		return s.record(ctx, "created", e, nil, auditFields(e))
	})
	return e, text, err
}

// lockOwner locks the owner of the endpoints before they are counted or changed, and checks the
// caller's permissions again.
func (s *Service) lockOwner(ctx context.Context, tenantID *uuid.UUID) error {
	if tenantID == nil {
		if err := s.store.lockPlatform(ctx); err != nil {
			return err
		}
		return authz.Recheck(ctx)
	}
	_, err := s.deps.Tenants.LockLive(ctx, *tenantID)
	return err
}

// check validates the terms and normalizes them.
func (s *Service) check(t *Terms) error {
	return fault.Join(s.checkURL(t.URL), checkTypes(t))
}

// checkURL rejects a URL that must never be requested. The addresses behind its host name are
// checked later, each time a connection is made.
func (s *Service) checkURL(text string) error {
	u, err := safehttp.CheckURL(text)
	if err != nil || u.Scheme != "https" && len(s.deps.Reachable) == 0 || safehttp.CheckHost(u.Hostname(), s.deps.Reachable) != nil {
		return errNotPublic
	}
	return nil
}

// checkTypes rejects unknown types, removes duplicates, and shortens a list that contains
// everything to that element.
func checkTypes(t *Terms) error {
	types := make([]string, 0, len(t.Types))
	var unknown []error
	for i, one := range t.Types {
		if one != everything && !slices.Contains(hook.Types(), hook.Type(one)) {
			unknown = append(unknown, errType(i))
		}
		if !slices.Contains(types, one) {
			types = append(types, one)
		}
	}
	if t.Types = types; slices.Contains(types, everything) {
		t.Types = []string{everything}
	}
	return fault.Join(unknown...)
}

// Change holds the changes to an endpoint. Nil leaves a field as it is.
type Change struct {
	URL         *string
	Types       []string
	Description func(old *string) *string
	Enabled     *bool
}

// Update changes an endpoint. Enabling it clears the reason it was disabled, but does not send
// anything. Disabling it fails its pending deliveries.
func (s *Service) Update(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, c Change) (Endpoint, error) {
	t := Terms{Types: c.Types}
	if err := s.checkChange(c, &t); err != nil {
		return Endpoint{}, err
	}
	return s.change(ctx, tenantID, id, func(ctx context.Context, e *Endpoint) error {
		before := auditFields(*e)
		if c.URL != nil {
			e.URL = *c.URL
		}
		if c.Types != nil {
			e.Types = t.Types
		}
		e.Description = c.Description(e.Description)
		if c.Enabled != nil && *c.Enabled != e.Enabled {
			e.Enabled, e.DisabledReason, e.failingSince = *c.Enabled, nil, nil
			if !e.Enabled {
				if err := s.store.failPending(ctx, e.ID); err != nil {
					return err
				}
			}
		}
		if err := s.store.update(ctx, *e); err != nil {
			return err
		}
		return s.record(ctx, "updated", *e, before, auditFields(*e))
	})
}

// checkChange validates a change, whose types are in t, and normalizes the types.
func (s *Service) checkChange(c Change, t *Terms) error {
	var unreachable error
	if c.URL != nil {
		unreachable = s.checkURL(*c.URL)
	}
	return fault.Join(unreachable, checkTypes(t))
}

// Rotate replaces the secret of an endpoint and returns the new one. The old secret also signs for
// another 24 hours.
func (s *Service) Rotate(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (e Endpoint, text string, err error) {
	text = newSecret()
	e, err = s.change(ctx, tenantID, id, func(ctx context.Context, e *Endpoint) error {
		e.secrets = e.secrets.rotate(text, s.deps.Clock.Now())
		if err := s.store.update(ctx, *e); err != nil {
			return err
		}
		return s.record(ctx, "secret_rotated", *e, nil, nil)
	})
	return e, text, err
}

// Delete deletes an endpoint and its deliveries. Nothing more is sent to it.
func (s *Service) Delete(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockOwner(ctx, tenantID); err != nil {
			return err
		}
		e, err := s.store.get(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if err := s.store.delete(ctx, tenantID, id); err != nil {
			return err
		}
		return s.record(ctx, "deleted", e, auditFields(e), nil)
	})
}

// change runs do on a locked endpoint, which do can modify, and returns the endpoint.
func (s *Service) change(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, do func(ctx context.Context, e *Endpoint) error) (e Endpoint, err error) {
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockOwner(ctx, tenantID); err != nil {
			return err
		}
		if e, err = s.store.lock(ctx, tenantID, id); err != nil {
			return err
		}
		return do(ctx, &e)
	})
	return e, err
}

// record adds an entry about an endpoint to the audit trail.
func (s *Service) record(ctx context.Context, action string, e Endpoint, before, after map[string]any) error {
	entry := audit.Entry{Action: "webhook_endpoint." + action, TenantID: e.TenantID, Resource: "webhook_endpoint", ResourceID: e.ID.String()}
	if before != nil {
		entry.Before = before
	}
	if after != nil {
		entry.After = after
	}
	return s.deps.Audit.Record(ctx, entry)
}

// Backlog is the state of the deliveries to all endpoints.
type Backlog struct {
	// Waiting counts deliveries with another attempt scheduled, up to 10,000.
	Waiting int64
	// Lag is how long the earliest attempt has been due.
	Lag time.Duration
	// Failing counts endpoints that have failed since their last success, up to 10,000.
	Failing int64
}

// Backlog returns the backlog of all instances together.
func (s *Service) Backlog(ctx context.Context) (Backlog, error) {
	return s.store.backlog(ctx, s.deps.Clock.Now())
}

// Run sends deliveries until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.sender.run(ctx) }

// EndLeases ends all leases, so that deliveries interrupted by a killed process are due
// immediately. Call it before Run, and only if no other process uses the database.
func (s *Service) EndLeases(ctx context.Context) error { return s.store.endLeases(ctx) }

// Wake makes the sender look for due deliveries immediately, for example after the clock was moved.
func (s *Service) Wake() { s.sender.wakeAll() }

// Secrets returns the secrets that currently sign for the endpoints with a matching URL. Only the
// sandbox's receiver uses it, because it cannot get the secrets in another way.
func (s *Service) Secrets(ctx context.Context, matches func(url string) bool) ([]string, error) {
	all, err := s.store.listAll(ctx)
	if err != nil {
		return nil, err
	}
	var texts []string
	now := s.deps.Clock.Now()
	for _, e := range all {
		for _, one := range e.secrets {
			if matches(e.URL) && (one.Until == nil || one.Until.After(now)) {
				texts = append(texts, one.Text)
			}
		}
	}
	return texts, nil
}
