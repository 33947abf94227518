package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// defaultReservation is how long a reservation is open, in seconds, unless the request sets
// ttl_seconds.
const defaultReservation = 900

type reserveInput struct {
	Tenant string `path:"tenantId"`
	Body   struct {
		MeterCode      string         `json:"meter_code" minLength:"1" maxLength:"255" doc:"The code of a meter that adds up or counts its events."`
		Quantity       shape.Quantity `json:"quantity" exclusiveMinimum:"0" doc:"The expected maximum, above 0. A meter that counts events reserves 1."`
		IdempotencyKey string         `json:"idempotency_key" minLength:"1" maxLength:"255" doc:"Stands for one reservation of the meter. The event gets the key when the reservation is settled."`
		TTLSeconds     *int64         `json:"ttl_seconds,omitempty" minimum:"1" maximum:"86400" doc:"How long the units are reserved. Default 900."`
	}
}

// usageReservation is an open reservation.
type usageReservation struct {
	ID        uuid.UUID      `json:"id"`
	MeterCode string         `json:"meter_code"`
	Quantity  shape.Quantity `json:"quantity"`
	ExpiresAt shape.Time     `json:"expires_at"`
}

// Reserve handles POST /usage/reservations.
func (h *HTTP) Reserve(ctx context.Context, in *reserveInput) (*rest.Data[usageReservation], error) {
	b, seconds := in.Body, int64(defaultReservation)
	if b.TTLSeconds != nil {
		seconds = *b.TTLSeconds
	}
	r, err := h.svc.reserve(ctx, authz.TenantID(ctx), b.MeterCode, b.Quantity.Quantity, b.IdempotencyKey, time.Duration(seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return rest.OK(usageReservation{ID: r.ID, MeterCode: r.MeterCode, Quantity: shape.Quantity{Quantity: r.Quantity}, ExpiresAt: shape.T(r.ExpiresAt)}), nil
}

type settleInput struct {
	Tenant      string `path:"tenantId"`
	Reservation string `path:"reservation" format:"uuid"`
	Body        struct {
		Quantity   shape.Quantity `json:"quantity" minimum:"0" doc:"The actual usage. It can exceed the reservation."`
		RecordedAt *shape.Time    `json:"recorded_at,omitempty"`
		Metadata   shape.Object   `json:"metadata,omitempty" nullable:"true" maxBytes:"4096"`
	}
}

func (in *settleInput) recording() Recording {
	r := Recording{Quantity: in.Body.Quantity.Quantity, Metadata: sqldb.JSON(in.Body.Metadata)}
	if in.Body.RecordedAt != nil {
		at := in.Body.RecordedAt.Std()
		r.RecordedAt = &at
	}
	return r
}

// CheckSettle validates the fields of a request to Settle (see rest.Checks).
func (h *HTTP) CheckSettle(_ context.Context, in *settleInput) error {
	r := submission{Recording: in.recording()}
	return r.setTime(h.svc.clock.Now())
}

// ReservationExists is the check behind rest.Exists for routes with {reservation}.
func (h *HTTP) ReservationExists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("reservation"))
	if err != nil {
		return err
	}
	_, err = h.svc.store.reservation(ctx, authz.TenantID(ctx), id)
	return err
}

// Settle handles POST /usage/reservations/{reservation}/settle.
func (h *HTTP) Settle(ctx context.Context, in *settleInput) (*rest.Data[recordedEvent], error) {
	id, err := shape.ParseID(in.Reservation)
	if err != nil {
		return nil, err
	}
	event, err := h.svc.settle(ctx, authz.TenantID(ctx), id, in.recording())
	if err != nil {
		return nil, err
	}
	return shownEvent(event), nil
}

type releaseInput struct {
	Tenant      string `path:"tenantId"`
	Reservation string `path:"reservation" format:"uuid"`
}

// Release handles DELETE /usage/reservations/{reservation}.
func (h *HTTP) Release(ctx context.Context, in *releaseInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Reservation)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.release(ctx, authz.TenantID(ctx), id)
}
