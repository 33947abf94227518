package usagetest

import (
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

// At parses a short time: 2026-01-31 or 2026-01-31 10:30.
func At(text string) time.Time {
	layout := "2006-01-02 15:04:05.000000"
	t, err := time.Parse(layout, text+"0000-01-01 00:00:00.000000"[len(text):])
	if err != nil {
		panic(err)
	}
	return t
}

// Period returns the period from start to end, in the format of At.
func Period(start, end string) usage.Period { return usage.Period{Start: At(start), End: At(end)} }

// Billing returns the billing of a subscription with an anchor, an interval and, optionally, the
// start and end of its current period.
func Billing(anchor string, unit usage.IntervalUnit, count int, current ...string) *usage.Billing {
	b := &usage.Billing{Anchor: At(anchor), IntervalUnit: unit, IntervalCount: count}
	if len(current) == 2 {
		b.Current = Period(current[0], current[1])
	}
	return b
}

// Quantity parses a quantity.
func Quantity(text string) money.Quantity {
	q, err := money.ParseQuantity(text)
	if err != nil {
		panic(err)
	}
	return q
}

// Total parses a total that is small enough to be a quantity.
func Total(text string) money.Total { return money.TotalOf(Quantity(text)) }

// Meter returns an active meter.
func Meter(code string, aggregation usage.Aggregation, reset usage.ResetInterval, enforcement usage.Enforcement) usage.Meter {
	return usage.Meter{Code: code, Name: code, Aggregation: aggregation, Reset: reset, Enforcement: enforcement, Active: true}
}

// Recording returns an event with an amount, at the current time.
func Recording(code, amount string) usage.Recording {
	return usage.Recording{MeterCode: code, Quantity: Quantity(amount)}
}

// WithKey returns r with an idempotency key.
func WithKey(r usage.Recording, key string) usage.Recording {
	r.IdempotencyKey = &key
	return r
}

// RecordedAt returns r with another time, in the format of At.
func RecordedAt(r usage.Recording, when string) usage.Recording {
	t := At(when)
	r.RecordedAt = &t
	return r
}
