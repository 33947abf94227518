package psp

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// The provider's limits: events per page, and types per list.
const (
	eventPage     = 100
	eventTypesMax = 20
)

// Event reports that something happened to an object at the provider. Events can arrive late,
// repeatedly or out of order, so the object's state is read back (rules: psp#reading-back).
type Event struct {
	ID       string `json:"id"`
	Type     string `json:"type"`      // such as "customer.subscription.updated"
	ObjectID string `json:"object_id"` // empty for objects that cannot be read back
}

// previewPrefix is the ID prefix of invoices that do not exist yet.
const previewPrefix = "upcoming_"

// Events lists the events of the given types from since (inclusive) to until (exclusive; zero means
// without an end), and requests further pages as needed. Each batch of eventTypesMax types is a
// separate list, newest first. The provider keeps events for 30 days. The iteration stops after an
// error.
func (c *Client) Events(ctx context.Context, since, until time.Time, types []string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for some := range slices.Chunk(types, eventTypesMax) {
			for e, err := range c.eventsOf(ctx, since, until, some) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// eventsOf is Events for at most eventTypesMax types.
func (c *Client) eventsOf(ctx context.Context, since, until time.Time, types []string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for cursor := ""; ; {
			page, err := c.eventPage(ctx, since, until, types, cursor)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range page.events {
				if !yield(e, nil) {
					return
				}
				cursor = e.ID
			}
			if !page.more || len(page.events) == 0 {
				return
			}
		}
	}
}

type eventsPage struct {
	events []Event
	more   bool
}

func (c *Client) eventPage(ctx context.Context, since, until time.Time, types []string, after string) (eventsPage, error) {
	created := &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix()}
	if !until.IsZero() {
		created.LesserThan = until.Unix()
	}
	return call(ctx, c, "list events", func(ctx context.Context) (eventsPage, error) {
		list := c.api.V1Events.List(ctx, &stripe.EventListParams{
			ListParams:   stripe.ListParams{Limit: stripe.Int64(eventPage), StartingAfter: stringOrNil(after)},
			CreatedRange: created,
			Types:        stripe.StringSlice(types),
		})
		if err := list.Err(); err != nil {
			return eventsPage{}, err
		}
		page := eventsPage{more: list.Meta().HasMore}
		for _, e := range list.Data() {
			event, err := NewEvent(e)
			if err != nil {
				return eventsPage{}, err
			}
			page.events = append(page.events, event)
		}
		return page, nil
	})
}

// NewEvent extracts the ID, the type and the object ID of an event.
func NewEvent(e *stripe.Event) (Event, error) {
	if e.ID == "" || e.Type == "" || e.Data == nil {
		return Event{}, errUnreadable
	}
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(e.Data.Raw, &object); err != nil {
		return Event{}, errUnreadable
	}
	if strings.HasPrefix(object.ID, previewPrefix) {
		object.ID = ""
	}
	return Event{ID: e.ID, Type: string(e.Type), ObjectID: object.ID}, nil
}
