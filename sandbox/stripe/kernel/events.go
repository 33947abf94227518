package kernel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// Events are the events of the API's first version.
var Events = Kind[Event]{Name: "event", Prefix: "evt", Label: "event", Path: "/v1/events"}

// Event records a change, with a snapshot of the changed object.
type Event struct {
	Header
	APIVersion      string       `json:"api_version"`
	Data            eventData    `json:"data"`
	PendingWebhooks int64        `json:"pending_webhooks"`
	Request         eventRequest `json:"request"`
	Type            string       `json:"type"`
}

// ObjectID returns the id of the event's object. If the object has no id, as in invoice.upcoming,
// it returns the event's id.
func (e Event) ObjectID() string {
	var about struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(e.Data.Object, &about) != nil || about.ID == "" {
		return e.ID
	}
	return about.ID
}

type eventData struct {
	Object             json.RawMessage `json:"object"`
	PreviousAttributes map[string]any  `json:"previous_attributes,omitempty"`
}

// eventRequest is the API request that caused an event. Both fields are null if the event was not
// caused by a request.
type eventRequest struct {
	ID             *string `json:"id"`
	IdempotencyKey *string `json:"idempotency_key"`
}

// Emit stores an event about o and queues its delivery in the step's transaction. previous has the
// old values of the changed fields, or is nil.
func (st *Step) Emit(ctx context.Context, eventType string, o Object, previous map[string]any) error {
	snapshot, err := json.Marshal(o)
	if err == nil {
		snapshot, err = truncateLists(snapshot)
	}
	if err != nil {
		return fmt.Errorf("encode %s: %w", eventType, err)
	}
	e := Event{
		Header: Events.Start(st.Now), APIVersion: APIVersion, Type: eventType, Request: st.cause,
		Data: eventData{Object: snapshot, PreviousAttributes: previous},
	}
	// An object without an id, as in invoice.upcoming, has no earlier events to wait for.
	if e.PendingWebhooks, err = st.queueEvent(ctx, e.ID, eventType, cmp.Or(o.Head().ID, e.ID)); err != nil {
		return err
	}
	st.emitted++
	return Put(ctx, st.Q, e)
}

// getEvent handles GET /v1/events/{id}.
func getEvent(ctx context.Context, c *Call) (any, error) { return Retrieve(ctx, c, Events) }

// maxEventTypes is the maximum number of types in the filter of an event list.
const maxEventTypes = 20

// listEvents handles GET /v1/events.
func listEvents(ctx context.Context, c *Call) (any, error) {
	var f Filter
	f.AddEqual(c.Params, "type", "$.type")
	types := c.Params.Texts("types")
	if len(types) > maxEventTypes {
		return nil, form.Refuse("types", "", "You may list at most %d types.", maxEventTypes)
	}
	f.AddIn("$.type", types)
	if c.Params.Has("delivery_success") {
		var delivered bool
		c.Params.Boolean("delivery_success", &delivered)
		f.AddCondition(`(doc ->> '$.pending_webhooks' = 0) = ?`, delivered)
	}
	return Events.Page(ctx, c, f)
}

// Difference returns the old values of the changed fields, in the form of an event's
// previous_attributes.
func Difference(before, after any) (map[string]any, error) {
	old, err := tree(before)
	if err != nil {
		return nil, err
	}
	now, err := tree(after)
	if err != nil {
		return nil, err
	}
	return changedFields(old, now), nil
}

// changedFields compares objects field by field, and lists as a whole. The old value of a new field
// is null.
func changedFields(old, now map[string]any) map[string]any {
	previous := map[string]any{}
	for key, value := range now {
		was := old[key]
		if reflect.DeepEqual(was, value) {
			continue
		}
		wasMap, ok1 := was.(map[string]any)
		isMap, ok2 := value.(map[string]any)
		if ok1 && ok2 && isMap["object"] == nil {
			previous[key] = changedFields(wasMap, isMap)
			continue
		}
		previous[key] = was
	}
	for key, was := range old {
		if _, kept := now[key]; !kept {
			previous[key] = was
		}
	}
	return previous
}

// tree converts an object into maps and lists. It preserves the exact value of numbers.
func tree(v any) (map[string]any, error) {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var m map[string]any
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return m, nil
}
