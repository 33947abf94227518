package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Outbox stores events and their deliveries. Other packages add events in the transactions of their
// changes, so the outbox is built before them and Languages is set later.
//
// Invariant: an event is stored if and only if its change is, with a delivery for each subscribed
// endpoint that exists when the transaction commits. Without any endpoints, an event costs one
// indexed query.
type Outbox struct {
	db    *sqldb.DB
	clock clock.Clock
	store store
	wake  func(endpoints ...uuid.UUID)
	// Languages returns the language of a tenant's resources. Nil selects the default language.
	Languages interface {
		Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
		Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	}
}

// NewOutbox returns an Outbox. c is the service's clock.
func NewOutbox(db *sqldb.DB, c clock.Clock) *Outbox {
	return &Outbox{db: db, clock: c, store: store{db}, wake: func(...uuid.UUID) {}}
}

// Add implements hook.Outbox.
func (o *Outbox) Add(ctx context.Context, e hook.Event) error {
	return o.db.Tx(ctx, func(ctx context.Context) error {
		all, err := o.store.listListeners(ctx, e.TenantID)
		if err != nil {
			return err
		}
		var to []listener
		for _, l := range all {
			if isSubscribed(l.types, e.Type) {
				to = append(to, l)
			}
		}
		if len(to) == 0 {
			return nil
		}
		_, err = o.send(ctx, e, to)
		return err
	})
}

// listener is an endpoint that can receive an event.
type listener struct {
	id      uuid.UUID
	types   []string
	enabled bool
}

// message is the JSON body of an event.
type message struct {
	Type      hook.Type  `json:"type"`
	Timestamp shape.Time `json:"timestamp"`
	TenantID  *uuid.UUID `json:"tenant_id"`
	Data      any        `json:"data"`
}

// send stores an event with one delivery per endpoint, in the transaction of ctx, and returns the
// deliveries. A delivery to a disabled endpoint is stored as failed.
func (o *Outbox) send(ctx context.Context, e hook.Event, to []listener) ([]Delivery, error) {
	inPlain, err := o.resourceContext(ctx, e.TenantID)
	if err != nil {
		return nil, err
	}
	data, err := e.Data(inPlain)
	if err != nil {
		return nil, fmt.Errorf("resource of %s: %w", e.Type, err)
	}
	now := o.clock.Now()
	body, err := json.Marshal(message{Type: e.Type, Timestamp: shape.T(now), TenantID: e.TenantID, Data: data}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.Type, err)
	}
	event := sqldb.NewID()
	if err := o.store.insertEvent(ctx, event, e, body, now); err != nil {
		return nil, err
	}
	made := make([]Delivery, len(to))
	var awake []uuid.UUID
	for i, l := range to {
		made[i] = newDelivery(event, e.Type, l, now)
		if err := o.store.insertDelivery(ctx, l.id, made[i]); err != nil {
			return nil, err
		}
		if l.enabled {
			awake = append(awake, l.id)
		}
	}
	o.db.AfterCommit(ctx, func() { o.wake(awake...) })
	return made, nil
}

func newDelivery(event uuid.UUID, t hook.Type, to listener, now time.Time) Delivery {
	d := Delivery{ID: sqldb.NewID(), EventID: event, Type: string(t), Status: failed, CreatedAt: now}
	if to.enabled {
		d.Status, d.NextAttemptAt = pending, &now
	}
	return d
}

// resourceContext returns a context that renders a resource independently of the caller: without a
// session, and in the tenant's language.
func (o *Outbox) resourceContext(ctx context.Context, tenantID *uuid.UUID) (context.Context, error) {
	ctx = i18n.With(authz.With(ctx, nil), i18n.Default)
	if tenantID == nil || o.Languages == nil {
		return ctx, nil
	}
	t, err := o.Languages.Get(ctx, *tenantID)
	if errors.Is(err, tenant.ErrNotFound) { // the tenant was deleted in this transaction
		return ctx, nil
	}
	if err != nil {
		return ctx, err
	}
	locale, err := o.Languages.Locale(ctx, t, i18n.Default)
	return i18n.With(ctx, locale), err
}
