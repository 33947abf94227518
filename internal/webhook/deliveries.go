package webhook

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/page"
)

const (
	// replayable is how far back deliveries can be replayed.
	replayable = 30 * 24 * time.Hour
	// grace extends replayable, so that clock differences and slow requests do not cause
	// rejections.
	grace = time.Minute
)

// AcrossList returns the filters and sort orders of the list of deliveries to all endpoints.
func (*HTTP) AcrossList() page.Spec {
	spec := DeliveryList()
	status, types := spec.Params["status"], spec.Params["type"]
	status.Kind, types.Kind = page.AnyOf, page.AnyOf
	spec.Params, spec.CSV = nil, true
	spec.Filters = map[string]page.Filter{
		"status": status, "type": types,
		"tenant": {Kind: page.UUID, Condition: func(value any, arg func(any) string) string {
			return "d.endpoint_id IN (SELECT o.id FROM webhook_endpoints o WHERE o.tenant_id = " + arg(value) + ")"
		}},
		"endpoint": {Kind: page.UUID, Exprs: []string{"d.endpoint_id"}},
	}
	return spec
}

// DeliveryList returns the filters and sort orders of the delivery list.
func DeliveryList() page.Spec {
	types := make([]string, 0, len(hook.Types()))
	for _, t := range hook.Types() {
		types = append(types, string(t))
	}
	return page.Spec{
		Params: map[string]page.Filter{
			"status": {Kind: page.Enum, Exprs: []string{"d.status"}, Values: []string{pending, delivered, failed}},
			"type":   {Kind: page.Enum, Exprs: []string{"d.type"}, Values: types},
		},
		Sorts: map[string]string{"created_at": "d.created_at"}, DefaultSort: "-created_at", Tiebreak: "d.id",
	}
}

// Deliveries returns a page of an endpoint's deliveries and their total number.
func (s *Service) Deliveries(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, q page.Query) ([]Delivery, int64, error) {
	if _, err := s.store.get(ctx, tenantID, id); err != nil {
		return nil, 0, err
	}
	return s.store.deliveries(ctx, id, q)
}

// deliveryOfAny is a delivery to any endpoint, of a tenant or of the platform.
type deliveryOfAny struct {
	Delivery
	EndpointID uuid.UUID
	URL        string
	TenantID   *uuid.UUID // nil for an endpoint of the platform, like TenantName
	TenantName *string
}

// messages are the stored request and responses of a delivery.
type messages struct {
	sent      *exchange // the last exchange; nil without an attempt
	body      string    // of the request
	responses map[int]*response
}

// delivery returns a delivery to an endpoint with its messages.
func (s *Service) delivery(ctx context.Context, tenantID *uuid.UUID, id, deliveryID uuid.UUID) (Delivery, messages, error) {
	if _, err := s.store.get(ctx, tenantID, id); err != nil {
		return Delivery{}, messages{}, err
	}
	d, err := s.store.delivery(ctx, id, deliveryID)
	if err != nil {
		return Delivery{}, messages{}, err
	}
	m, err := s.messages(ctx, d)
	return d, m, err
}

// deliveryOfAny returns a delivery to any endpoint with its messages.
func (s *Service) deliveryOfAny(ctx context.Context, deliveryID uuid.UUID) (deliveryOfAny, messages, error) {
	d, err := s.store.deliveryOfAny(ctx, deliveryID)
	if err != nil {
		return deliveryOfAny{}, messages{}, err
	}
	m, err := s.messages(ctx, d.Delivery)
	return d, m, err
}

func (s *Service) messages(ctx context.Context, d Delivery) (messages, error) {
	exchanges, err := s.store.exchanges(ctx, d.ID)
	if err != nil || len(exchanges) == 0 {
		return messages{}, err
	}
	m := messages{sent: &exchanges[len(exchanges)-1], responses: map[int]*response{}}
	for _, x := range exchanges {
		m.responses[x.number] = x.response
	}
	m.body, err = s.store.eventBody(ctx, d.EventID)
	return m, err
}

// resendAny is like Resend, for a delivery to any endpoint.
func (s *Service) resendAny(ctx context.Context, deliveryID uuid.UUID) (Delivery, error) {
	d, err := s.store.deliveryOfAny(ctx, deliveryID)
	if err != nil {
		return Delivery{}, err
	}
	return s.Resend(ctx, d.TenantID, d.EndpointID, deliveryID)
}

// Test sends a test event to an endpoint, regardless of its types.
func (s *Service) Test(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID) (d Delivery, err error) {
	_, err = s.change(ctx, tenantID, id, func(ctx context.Context, e *Endpoint) error {
		made, err := s.outbox.send(ctx, hook.Event{Type: hook.Test, TenantID: tenantID, Data: hook.StaticData(view(*e))},
			[]listener{{id: e.ID, enabled: e.Enabled}})
		if err != nil {
			return err
		}
		d = made[0]
		return s.record(ctx, "tested", *e, nil, nil)
	})
	return d, err
}

// Resend sends a delivery again, whatever its status, with all attempts available. Nothing is sent
// to a disabled endpoint.
func (s *Service) Resend(ctx context.Context, tenantID *uuid.UUID, id, deliveryID uuid.UUID) (d Delivery, err error) {
	_, err = s.change(ctx, tenantID, id, func(ctx context.Context, e *Endpoint) error {
		if _, err := s.store.delivery(ctx, id, deliveryID); err != nil {
			return err
		}
		if e.Enabled {
			if err := s.store.resend(ctx, id, deliveryID, s.deps.Clock.Now(), s.deps.Machine.Now()); err != nil {
				return err
			}
			s.deps.DB.AfterCommit(ctx, func() { s.sender.wake(id) })
		}
		if d, err = s.store.delivery(ctx, id, deliveryID); err != nil {
			return err
		}
		return s.record(ctx, "resent", *e, nil, map[string]any{"delivery": deliveryID})
	})
	return d, err
}

// Replay resends the failed deliveries that were created at or after since, and returns their
// number. since can be at most 30 days ago. Nothing is sent to a disabled endpoint.
func (s *Service) Replay(ctx context.Context, tenantID *uuid.UUID, id uuid.UUID, since time.Time) (n int64, err error) {
	now := s.deps.Clock.Now()
	if since.Before(now.Add(-replayable - grace)) {
		return 0, errTooOld
	}
	_, err = s.change(ctx, tenantID, id, func(ctx context.Context, e *Endpoint) error {
		if e.Enabled {
			if n, err = s.store.replay(ctx, id, since, now); err != nil {
				return err
			}
			s.deps.DB.AfterCommit(ctx, func() { s.sender.wake(id) })
		}
		return s.record(ctx, "replayed", *e, nil, map[string]any{"since": since, "deliveries": n})
	})
	return n, err
}

// DeleteOld deletes at most limit events created between from (inclusive) and before (exclusive),
// oldest first, together with their deliveries. It returns their times.
func (s *Service) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return s.store.deleteOld(ctx, from, before, limit)
}
