package usage

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// auditLog is the audit log of changes.
type auditLog interface {
	Record(ctx context.Context, e audit.Entry) error
}

type capBody struct {
	Limit *int64 `json:"limit" nullable:"true" minimum:"0" doc:"The highest usage of a window in whole units; null removes the cap."`
}

type capInput struct {
	Tenant    string `path:"tenantId"`
	MeterCode string `path:"meterCode"`
	Body      capBody
}

// PutCap handles PUT /usage/{meterCode}/cap.
func (h *HTTP) PutCap(ctx context.Context, in *capInput) (*rest.Data[MeterQuota], error) {
	return h.putCap(ctx, authz.TenantID(ctx), in.MeterCode, in.Body, false)
}

type adminCapInput struct {
	Tenant    string `path:"tenant" format:"uuid"`
	MeterCode string `path:"meterCode"`
	Body      capBody
}

// AdminPutCap handles PUT /admin/tenants/{tenant}/usage/{meterCode}/cap.
func (h *HTTP) AdminPutCap(ctx context.Context, in *adminCapInput) (*rest.Data[MeterQuota], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.putCap(ctx, id, in.MeterCode, in.Body, true)
}

func (h *HTTP) putCap(ctx context.Context, tenantID uuid.UUID, code string, body capBody, forPlatform bool) (*rest.Data[MeterQuota], error) {
	if err := h.svc.SetCap(ctx, tenantID, code, body.Limit); err != nil {
		return nil, err
	}
	d, err := h.svc.Detail(ctx, tenantID, code)
	if err != nil {
		return nil, err
	}
	by, err := h.svc.store.capAuthor(ctx, tenantID, d.Reading)
	if err != nil {
		return nil, err
	}
	return rest.OK(quotaOf(d.Reading, by.Author(forPlatform))), nil
}

// MeterIsActive is the check behind rest.Exists for routes that need an active {meterCode}.
func (h *HTTP) MeterIsActive(ctx context.Context, param func(string) string) error {
	_, err := h.svc.activeMeter(ctx, param("meterCode"))
	return err
}

// activeMeter returns an active meter, or 404.
func (s *Service) activeMeter(ctx context.Context, code string) (Meter, error) {
	if !isStorable(code) {
		return Meter{}, errNoSuchMeter
	}
	m, err := s.store.meter(ctx, code)
	if err == nil && !m.Active {
		err = errNoSuchMeter
	}
	return m, err
}

// SetCap sets the tenant's own hard limit on a meter, in whole units; nil removes it. The cap
// applies to events recorded after the commit, and counts all usage of a window, including earlier
// usage.
//
// Invariant: the stream is locked, so no event is judged by the old cap after the commit.
func (s *Service) SetCap(ctx context.Context, tenantID uuid.UUID, code string, limit *int64) error {
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		m, err := s.activeMeter(ctx, code)
		if err != nil {
			return err
		}
		key := StreamKey{TenantID: tenantID, MeterID: m.ID}
		states, err := s.store.lockStreams(ctx, []StreamKey{key})
		if err != nil {
			return err
		}
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		old := states[key].cap
		if old == limit || old != nil && limit != nil && *old == *limit {
			return nil
		}
		if err := s.store.setCap(ctx, key, limit, authz.CallerOf(ctx)); err != nil {
			return err
		}
		return s.audit.Record(ctx, audit.Entry{
			Action: "usage_cap.updated", TenantID: &tenantID, Resource: "usage_cap", ResourceID: m.Code,
			Before: map[string]any{"limit": old}, After: map[string]any{"limit": limit},
		})
	})
}

// shapeTotal is a total as the API shows it.
func shapeTotal(t money.Total) shape.Total { return shape.Total{Total: t} }
