package usage

import (
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
)

// Errors returned to callers (rules: usage#recording).
var (
	// ErrUnknownMeter means that the meter does not exist or is inactive.
	ErrUnknownMeter = fault.New(fault.NotFound, "error.unknown_meter")
	// ErrDuplicate means that the idempotency key was already used on this meter.
	ErrDuplicate = fault.New(fault.Conflict, "error.duplicate_usage_event")
	// ErrQuotaExceeded means that the event would exceed the limit of a hard meter.
	ErrQuotaExceeded = fault.NewCoded(fault.TooMany, fault.QuotaExceeded)
	// errDailyCap means that a tenant that never had a plan has reached its daily cap on events.
	errDailyCap = fault.New(fault.TooMany, "error.daily_events")
	// ErrBusy means that the queue is full, the service is stopping, or the database did not store
	// the event in time, for instance because of a lock. The caller can retry. In the last case the
	// event may have been stored, and only an idempotency key prevents the retry from recording it
	// twice.
	ErrBusy = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}

	// errNotGrantable means that no sum or count meter has the code.
	errNotGrantable = fault.OnField("feature_code", "validation.grantable")
	errNoGrant      = fault.New(fault.NotFound, "error.not_found")
	// errNotReservable means that the meter neither adds up nor counts its events.
	errNotReservable       = fault.OnField("meter_code", "validation.reservable")
	errOtherQuantity       = fault.New(fault.Conflict, "error.reservation_quantity")
	errSettled             = fault.NewCoded(fault.Conflict, fault.ReservationSettled)
	errTooManyReservations = fault.NewCoded(fault.Invalid, fault.TooManyReservations)
	errNoReservation       = fault.New(fault.NotFound, "error.not_found")
	errNoSuchMeter         = fault.New(fault.NotFound, "error.not_found")
	errInFuture            = fault.OnField("recorded_at", "validation.future")
	errTotalTooLarge       = fault.OnField("quantity", "validation.total_too_large")
)

var (
	errAlertSent  = errors.New("the alert was already sent")
	errNonePruned = errors.New("no event was deleted")
)
