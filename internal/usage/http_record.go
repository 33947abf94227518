package usage

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// usageRecording is an event in a request, alone or in a batch.
type usageRecording struct {
	MeterCode      string          `json:"meter_code" minLength:"1" maxLength:"255"`
	Quantity       *shape.Quantity `json:"quantity,omitempty" minimum:"0"`
	IdempotencyKey *string         `json:"idempotency_key,omitempty" nullable:"true" maxLength:"255"`
	RecordedAt     *shape.Time     `json:"recorded_at,omitempty"`
	Metadata       shape.Object    `json:"metadata,omitempty" nullable:"true" maxBytes:"4096"`
}

func (u usageRecording) recording() Recording {
	r := Recording{MeterCode: u.MeterCode, Quantity: money.One, IdempotencyKey: u.IdempotencyKey, Metadata: sqldb.JSON(u.Metadata)}
	if u.Quantity != nil {
		r.Quantity = u.Quantity.Quantity
	}
	if u.RecordedAt != nil {
		at := u.RecordedAt.Std()
		r.RecordedAt = &at
	}
	return r
}

type recordInput struct {
	Tenant string `path:"tenantId"`
	Body   usageRecording
}

// recordedEvent is the response to a recording.
type recordedEvent struct {
	ID         uuid.UUID      `json:"id"`
	MeterCode  string         `json:"meter_code"`
	Quantity   shape.Quantity `json:"quantity"`
	RecordedAt shape.Time     `json:"recorded_at"`
}

// Record handles POST /usage. It returns 201 once the event is durable.
func (h *HTTP) Record(ctx context.Context, in *recordInput) (*rest.Data[recordedEvent], error) {
	event, err := h.svc.Record(ctx, authz.TenantID(ctx), in.Body.recording())
	if err != nil {
		return nil, err
	}
	return shownEvent(event), nil
}

func shownEvent(event Event) *rest.Data[recordedEvent] {
	return rest.OKMessage(recordedEvent{
		ID: event.ID, MeterCode: event.MeterCode, Quantity: shape.Quantity{Quantity: event.Quantity}, RecordedAt: shape.T(event.RecordedAt),
	}, "usage.recorded")
}

// CheckRecord validates the fields of a request to Record (see rest.Checks).
func (h *HTTP) CheckRecord(_ context.Context, in *recordInput) error {
	r := submission{Recording: in.Body.recording()}
	return r.setTime(h.svc.clock.Now())
}

type batchInput struct {
	Tenant string `path:"tenantId"`
	Body   struct {
		Events []shape.Item[usageRecording] `json:"events" minItems:"1" maxItems:"1000"`
	}
}

// batchResult is the outcome of one event of a batch, with the status that it would get alone: 201
// with its ID, or an error.
type batchResult struct {
	Index   int                 `json:"index" doc:"Position of the event in the batch, starting at 0."`
	Status  int                 `json:"status"`
	ID      *uuid.UUID          `json:"id,omitempty" doc:"ID of the event. Absent if the event was not stored."`
	Code    string              `json:"code,omitempty"`
	Message string              `json:"message,omitempty"`
	Errors  map[string][]string `json:"errors,omitempty" doc:"Error messages by field, for an invalid event."`
	exceededLimit
}

// exceededLimit describes the limit that rejected an event. Its keys are absent for any other
// outcome.
type exceededLimit struct {
	MeterCode       string       `json:"meter_code,omitempty" doc:"Set only if a usage limit rejected the event."`
	LimitedBy       string       `json:"limited_by,omitempty" enum:"plan,cap" doc:"The limit that rejected the event: the effective limit or the cap."`
	Limit           *int64       `json:"limit,omitempty" doc:"The limit in whole units."`
	CurrentUsage    *shape.Total `json:"current_usage,omitempty" doc:"The usage of the window without the event."`
	GrantsRemaining *shape.Total `json:"grants_remaining,omitempty" doc:"The remaining units of the grants that are valid now."`
}

// Batch handles POST /usage/batch. It returns 200 once every event is durable or rejected.
func (h *HTTP) Batch(ctx context.Context, in *batchInput) (*rest.Data[[]batchResult], error) {
	if err := rest.RequestOf(ctx).CountMore(ctx, len(in.Body.Events)-1); err != nil { // The request itself counts as one event.
		return nil, err
	}
	results := make([]batchResult, len(in.Body.Events))
	recordings := make([]Recording, 0, len(results))
	indexes := make([]int, 0, len(results)) // of the valid events
	for i, e := range in.Body.Events {
		if e.Err != nil {
			results[i] = rejectedResult(ctx, i, e.Err)
			continue
		}
		recordings, indexes = append(recordings, e.Value.recording()), append(indexes, i)
	}
	outcomes, err := h.svc.RecordBatch(ctx, authz.TenantID(ctx), recordings)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		if o.Err != nil {
			results[indexes[i]] = rejectedResult(ctx, indexes[i], o.Err)
			continue
		}
		results[indexes[i]] = batchResult{Index: indexes[i], Status: http.StatusCreated, ID: &outcomes[i].Event.ID}
	}
	return rest.OK(results), nil
}

func rejectedResult(ctx context.Context, index int, err error) batchResult {
	r := batchResult{Index: index}
	r.Status, r.Code, r.Message, r.Errors = rest.RequestOf(ctx).Explain(ctx, err)
	if errors.Is(err, ErrQuotaExceeded) {
		r.exceededLimit = limitOf(err)
	}
	return r
}

// limitOf returns the limit that an ErrQuotaExceeded names.
func limitOf(err error) exceededLimit {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return exceededLimit{}
	}
	var l exceededLimit
	l.MeterCode, _ = refused.Extra["meter_code"].(string)
	l.LimitedBy, _ = refused.Extra["limited_by"].(string)
	if limit, ok := refused.Extra["limit"].(int64); ok {
		l.Limit = &limit
	}
	if used, ok := refused.Extra["current_usage"].(shape.Total); ok {
		l.CurrentUsage = &used
	}
	if left, ok := refused.Extra["grants_remaining"].(shape.Total); ok {
		l.GrantsRemaining = &left
	}
	return l
}
