package usage

import (
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
)

// What callers can be refused for (rules: usage#recording).
var (
	// ErrUnknownMeter: recording on a meter that does not exist or is inactive.
	ErrUnknownMeter = fault.New(fault.NotFound, "error.unknown_meter")
	// ErrDuplicate: the idempotency key was used on this meter before.
	ErrDuplicate = fault.New(fault.Conflict, "error.duplicate_usage_event")
	// ErrQuotaExceeded: a hard meter would exceed its limit.
	ErrQuotaExceeded = fault.NewCoded(fault.TooMany, fault.QuotaExceeded)
	// errDailyCap: the tenant never had a plan and has recorded as many events today as it may.
	errDailyCap = fault.New(fault.TooMany, "error.daily_events")
	// ErrBusy: more usage is waiting to be stored than the service can hold, or
	// it is stopping. Nothing was stored; the caller may try again.
	ErrBusy = &fault.Error{Kind: fault.Unavailable, Message: "error.unavailable", RetryAfter: time.Second}

	errNoSuchMeter   = fault.New(fault.NotFound, "error.not_found")
	errInFuture      = fault.OnField("recorded_at", "validation.future")
	errTotalTooLarge = fault.OnField("quantity", "validation.total_too_large")
)

var (
	errAlertSent  = errors.New("the alert was sent already")
	errNonePruned = errors.New("no deleted event is known")
)
