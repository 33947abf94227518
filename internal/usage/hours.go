package usage

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
)

// Hour is what the events of a stream come to that were recorded for one hour of UTC.
type Hour struct {
	Stream                    StreamKey
	Hour                      int64 // since 1970
	Events, Units, Millionths int64
	Highest, Last             money.Quantity
	LastAt                    time.Time // when Last was recorded
}

// HourOf returns the number of the hour of UTC that a time is in.
func HourOf(at time.Time) int64 {
	const second = int64(time.Hour / time.Second)
	s := at.Unix()
	if s < 0 {
		s -= second - 1
	}
	return s / second
}

// StartOfHour is when an hour begins.
func StartOfHour(hour int64) time.Time { return time.Unix(hour*int64(time.Hour/time.Second), 0).UTC() }

// CountedEvent is an event as it counts in an hour.
type CountedEvent struct {
	Stream   StreamKey
	ID       uuid.UUID
	Quantity money.Quantity
	At       time.Time
}

// HoursOf puts events together by the hours that they were recorded for, the hours in
// order. Of events recorded for the same time the one with the latest id was stored last.
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
