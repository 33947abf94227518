package usage

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Hour aggregates the events of a stream that were recorded for one UTC hour.
type Hour struct {
	Stream                    StreamKey
	Hour                      int64 // hours since 1970
	Events, Units, Millionths int64
	Highest, Last             money.Quantity
	LastAt                    time.Time // recorded_at of Last
}

// HourOf returns the number of the UTC hour that contains a time.
func HourOf(at time.Time) int64 {
	const second = int64(time.Hour / time.Second)
	s := at.Unix()
	if s < 0 {
		s -= second - 1
	}
	return s / second
}

// StartOfHour returns the start of an hour.
func StartOfHour(hour int64) time.Time { return time.Unix(hour*int64(time.Hour/time.Second), 0).UTC() }

// CountedEvent holds the fields of an event that count in an hour.
type CountedEvent struct {
	Stream   StreamKey
	ID       uuid.UUID
	Quantity money.Quantity
	At       time.Time
	Granted  money.Quantity // the part that was drawn from grants; only set by a survey
}

// HoursOf aggregates events by hour, in chronological order. Of events with the same time, the one
// with the highest ID was stored last.
func HoursOf(events []CountedEvent) []Hour {
	slices.SortFunc(events, func(a, b CountedEvent) int {
		return cmp.Or(a.Stream.Compare(b.Stream), a.At.Compare(b.At), bytes.Compare(a.ID[:], b.ID[:]))
	})
	var hours []Hour
	for _, e := range events {
		hour := HourOf(e.At)
		if n := len(hours); n == 0 || hours[n-1].Stream != e.Stream || hours[n-1].Hour != hour {
			hours = append(hours, Hour{Stream: e.Stream, Hour: hour})
		}
		h := &hours[len(hours)-1]
		h.Events++
		h.Units += int64(e.Quantity / money.One)
		h.Millionths += int64(e.Quantity % money.One)
		h.Highest = max(h.Highest, e.Quantity)
		h.Last, h.LastAt = e.Quantity, e.At
	}
	return hours
}
