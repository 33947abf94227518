package history

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

// WrongHour is an hour that differs from the aggregate of its events.
type WrongHour struct{ Stored, Counted usage.Hour }

// tally aggregates the events of a stream that the hours must contain, by hour.
type tally struct {
	stream usage.StreamKey
	state  state
	hours  map[int64]*talliedHour
}

type talliedHour struct {
	usage.Hour
	lastID uuid.UUID
}

func newTally(k usage.StreamKey, s state) *tally {
	return &tally{stream: k, state: s, hours: map[int64]*talliedHour{}}
}

// add counts an event. Events can be added in any order. Of events with the same time, the one with
// the highest ID was stored last.
func (t *tally) add(e usage.CountedEvent) {
	if e.At.Before(t.state.complete()) || !e.At.Before(t.state.summedBefore) {
		return
	}
	hour := usage.HourOf(e.At)
	h := t.hours[hour]
	if h == nil {
		h = &talliedHour{Hour: usage.Hour{Stream: t.stream, Hour: hour}}
		t.hours[hour] = h
	}
	if order := e.At.Compare(h.LastAt); h.Events == 0 || order > 0 || order == 0 && bytes.Compare(e.ID[:], h.lastID[:]) > 0 {
		h.Last, h.LastAt, h.lastID = e.Quantity, e.At, e.ID
	}
	h.Events++
	h.Units += int64(e.Quantity / money.One)
	h.Millionths += int64(e.Quantity % money.One)
	h.Highest = max(h.Highest, e.Quantity)
}

// compareHours compares the stored hours with the counted ones, starting with the first hour whose
// events are complete.
func (t *tally) compareHours(stored []usage.Hour) []WrongHour {
	var wrong []WrongHour
	seen := make(map[int64]bool, len(stored))
	for _, h := range stored {
		seen[h.Hour] = true
		var right usage.Hour
		if counted := t.hours[h.Hour]; counted != nil {
			right = counted.Hour
		}
		if !isSameHour(h, right) {
			wrong = append(wrong, WrongHour{Stored: h, Counted: right})
		}
	}
	for hour, h := range t.hours {
		if !seen[hour] {
			wrong = append(wrong, WrongHour{Stored: usage.Hour{Stream: t.stream, Hour: hour}, Counted: h.Hour})
		}
	}
	slices.SortFunc(wrong, func(a, b WrongHour) int { return cmp.Compare(a.Stored.Hour, b.Stored.Hour) })
	return wrong
}

func isSameHour(a, b usage.Hour) bool {
	return a.Events == b.Events && a.Units == b.Units && a.Millionths == b.Millionths &&
		a.Highest == b.Highest && a.Last == b.Last && a.LastAt.Equal(b.LastAt)
}
