package usage

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The sources of grants.
const (
	sourceAdmin    = "admin"
	sourcePurchase = "purchase"
)

// defaultPriority is the priority of a grant unless an admin sets another.
const defaultPriority = 50

// grant is a number of units that a tenant can use in addition to the limit of a meter (rules:
// usage#grants).
type grant struct {
	id          uuid.UUID
	stream      StreamKey
	featureCode string
	amount      money.Total
	rest        money.Total // 0 once the grant is void; see remainingUnits
	startsAt    time.Time
	expiresAt   *time.Time // nil for never
	priority    int32
	source      string
	reason      *string
	pack        *string // the slug
	invoiceID   *uuid.UUID
	sessionID   *string // of the checkout at the provider
	createdAt   time.Time
	by          *authz.Origin // the caller who granted it; nil for a purchase
	usedUpAt    *time.Time    // when events used the last unit; nil if units remain or were voided

	isOfDeleted bool // its meter is deleted; only set in lists
	isChanged   bool // by the current batch
}

// hasExpired reports whether the grant has expired at the time now.
func (g *grant) hasExpired(now time.Time) bool {
	return g.expiresAt != nil && !now.Before(*g.expiresAt)
}

// remainingUnits returns the units that can still be drawn, now or after the start of the grant.
func (g *grant) remainingUnits(now time.Time) money.Total {
	if g.hasExpired(now) {
		return money.Total{}
	}
	return g.rest
}

// isValid reports whether events can draw from the grant at the time now.
func (g *grant) isValid(now time.Time) bool {
	return !now.Before(g.startsAt) && g.remainingUnits(now) != money.Total{}
}

// endTime returns the end of the grant.
func (g *grant) endTime() time.Time {
	if g.expiresAt == nil {
		return AllTime().End
	}
	return *g.expiresAt
}

// compareGrants sorts grants in the order in which events draw from them: the lowest priority number
// first, then the earliest expiry, then the oldest.
func compareGrants(a, b *grant) int {
	return cmp.Or(cmp.Compare(a.priority, b.priority), a.endTime().Compare(b.endTime()), a.createdAt.Compare(b.createdAt),
		cmp.Compare(a.id.String(), b.id.String()))
}

// PurchasedGrant is a grant that a tenant has paid for.
type PurchasedGrant struct {
	TenantID    uuid.UUID
	FeatureCode string // the code of a meter
	Amount      money.Total
	ExpiresAt   *time.Time // nil for never
	Pack        string     // the slug
	SessionID   string     // of the checkout at the provider
	InvoiceID   *uuid.UUID // nil if it is not known yet; see SetPurchaseInvoice
}

// GrantPurchase grants the units of a purchase, once per session. It joins the transaction of ctx, if
// there is one. A purchase that was voided or whose grant was deleted is not granted again.
//
// Invariant: the stream is locked while the session is looked up, and the session's ID is unique, so
// repeated and concurrent notifications of one payment create one grant.
func (s *Service) GrantPurchase(ctx context.Context, p PurchasedGrant) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		m, err := s.store.meterOfFeature(ctx, p.FeatureCode)
		if err != nil {
			return err
		}
		g := grant{
			stream: StreamKey{TenantID: p.TenantID, MeterID: m.ID}, featureCode: m.Code, amount: p.Amount, rest: p.Amount,
			expiresAt: p.ExpiresAt, priority: defaultPriority, source: sourcePurchase, pack: &p.Pack, invoiceID: p.InvoiceID, sessionID: &p.SessionID,
		}
		if err := s.lockStream(ctx, g.stream); err != nil {
			return err
		}
		_, err = s.store.grantOfSession(ctx, p.TenantID, p.SessionID)
		if !errors.Is(err, errNoGrant) {
			return err
		}
		_, err = s.addGrant(ctx, g)
		return err
	})
}

// SetPurchaseInvoice stores the invoice of a purchase. It does nothing if the purchase was not
// granted.
func (s *Service) SetPurchaseInvoice(ctx context.Context, tenantID uuid.UUID, sessionID string, invoiceID uuid.UUID) error {
	return s.changePurchase(ctx, tenantID, sessionID, func(ctx context.Context, g grant) error {
		return s.store.setInvoiceOfGrant(ctx, tenantID, g.id, invoiceID)
	})
}

// VoidPurchase voids the remaining units of a refunded purchase. If the purchase has no grant yet,
// VoidPurchase does nothing, and the caller must not grant the purchase afterwards.
func (s *Service) VoidPurchase(ctx context.Context, tenantID uuid.UUID, sessionID string) error {
	return s.changePurchase(ctx, tenantID, sessionID, func(ctx context.Context, g grant) error {
		return s.store.voidGrant(ctx, tenantID, g.id)
	})
}

// changePurchase runs f with the grant of a purchase, if there is one, under the lock of its stream.
func (s *Service) changePurchase(ctx context.Context, tenantID uuid.UUID, sessionID string, f func(context.Context, grant) error) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		g, err := s.store.grantOfSession(ctx, tenantID, sessionID)
		if errors.Is(err, errNoGrant) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.lockStream(ctx, g.stream); err != nil {
			return err
		}
		return f(ctx, g)
	})
}

// addGrant stores a grant in a stream, which must be locked, and publishes it.
func (s *Service) addGrant(ctx context.Context, g grant) (grant, error) {
	now := s.clock.Now()
	g.id, g.createdAt = sqldb.NewID(), now
	if g.startsAt.IsZero() {
		g.startsAt = now
	}
	if err := s.store.insertGrant(ctx, g); err != nil {
		return g, err
	}
	return g, hook.Publish(ctx, s.events, hook.GrantCreated, g.stream.TenantID, hook.StaticData(viewOfGrant(g, now, false)))
}

func (s *Service) lockStream(ctx context.Context, k StreamKey) error {
	_, err := s.store.lockStreams(ctx, []StreamKey{k})
	return err
}

// createGrant grants units to a tenant on behalf of an admin.
func (s *Service) createGrant(ctx context.Context, tenantID uuid.UUID, g grant) (grant, error) {
	err := s.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockTenant(ctx, tenantID); err != nil {
			return err
		}
		m, err := s.grantable(ctx, g.featureCode)
		if err != nil {
			return err
		}
		g.stream, g.source, g.by = StreamKey{TenantID: tenantID, MeterID: m.ID}, sourceAdmin, authz.CallerOf(ctx)
		if err := s.lockStream(ctx, g.stream); err != nil {
			return err
		}
		if g, err = s.addGrant(ctx, g); err != nil {
			return err
		}
		return s.audit.Record(ctx, audit.Entry{
			Action: "grant.created", TenantID: &tenantID, Resource: "grant", ResourceID: g.id.String(), After: recordedGrant(g),
		})
	})
	return g, err
}

// grantable returns the meter of a feature whose units can be granted, or an error on feature_code.
func (s *Service) grantable(ctx context.Context, code string) (Meter, error) {
	if !isStorable(code) {
		return Meter{}, errNotGrantable
	}
	m, err := s.store.meter(ctx, code)
	if errors.Is(err, errNoSuchMeter) || err == nil && !m.isAdditive() {
		return Meter{}, errNotGrantable
	}
	return m, err
}

// deleteGrant voids a grant and removes it from the list. It returns 404 for an unknown or deleted
// grant.
func (s *Service) deleteGrant(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockTenant(ctx, tenantID); err != nil {
			return err
		}
		g, err := s.store.grant(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if err := s.lockStream(ctx, g.stream); err != nil {
			return err
		}
		// Read the grant again, because events can have drawn from it before the lock.
		if g, err = s.store.grant(ctx, tenantID, id); err != nil {
			return err
		}
		if err := s.store.deleteGrant(ctx, tenantID, id, s.clock.Now()); err != nil {
			return err
		}
		return s.audit.Record(ctx, audit.Entry{
			Action: "grant.deleted", TenantID: &tenantID, Resource: "grant", ResourceID: id.String(), Before: recordedGrant(g),
		})
	})
}

// recordedGrant returns the fields of a grant for the audit log.
func recordedGrant(g grant) any {
	return map[string]any{
		"feature_code": g.featureCode, "amount": g.amount, "remaining": g.rest, "starts_at": g.startsAt, "expires_at": g.expiresAt,
		"priority": g.priority, "reason": g.reason,
	}
}

// grantsExpiredPerRun is the maximum number of grants per run of ExpireGrants.
const grantsExpiredPerRun = 500

// ExpireGrants publishes expired grants with remaining units, and voids these units. It is a
// periodic job. A grant ends exactly when it expires, even before the job runs.
//
// Invariant: the units are voided in the transaction that publishes the grant, under the lock of
// its stream, so each grant is published once.
func (s *Service) ExpireGrants(ctx context.Context) error {
	expired, err := s.store.expiredGrants(ctx, s.clock.Now(), grantsExpiredPerRun)
	if err != nil {
		return err
	}
	for _, e := range expired {
		err = errors.Join(err, s.expireGrant(ctx, e))
	}
	return err
}

func (s *Service) expireGrant(ctx context.Context, e expiredGrant) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.lockStream(ctx, e.stream); err != nil {
			return err
		}
		now := s.clock.Now()
		g, err := s.store.grant(ctx, e.stream.TenantID, e.id)
		if errors.Is(err, errNoGrant) || err == nil && (g.rest == money.Total{} || !g.hasExpired(now)) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.store.voidGrant(ctx, e.stream.TenantID, e.id); err != nil {
			return err
		}
		return hook.Publish(ctx, s.events, hook.GrantExpired, e.stream.TenantID, hook.StaticData(viewOfGrant(g, now, false)))
	})
}

// GrantsRemaining returns the units of a tenant's valid grants by feature code. A feature whose
// grants are used up has 0.
func (s *Service) GrantsRemaining(ctx context.Context, tenantID uuid.UUID) (map[string]money.Total, error) {
	grants, err := s.store.grants(ctx, tenantID)
	now, left := s.clock.Now(), map[string]money.Total{}
	for _, g := range grants {
		if g.isOfDeleted {
			continue // another meter may have the code now
		}
		sum := left[g.featureCode]
		if g.isValid(now) {
			sum, _ = sum.Add(g.rest)
		}
		left[g.featureCode] = sum
	}
	return left, err
}
