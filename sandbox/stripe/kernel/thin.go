package kernel

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// thinEvents are the events of the API's second version. Their notifications have no data;
// receivers fetch it by the event's id.
var thinEvents = Kind[thinEvent]{Name: "v2.core.event", Prefix: "evt", Label: "event", Path: "/v2/core/events"}

type thinEvent struct {
	ID            string          `json:"id"`
	Object        string          `json:"object"`
	Type          string          `json:"type"`
	Livemode      bool            `json:"livemode"`
	Created       time.Time       `json:"created"`
	RelatedObject *RelatedObject  `json:"related_object,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
}

// Head implements Object.
func (e thinEvent) Head() Header {
	return Header{ID: e.ID, Object: e.Object, Created: e.Created.Unix(), Livemode: e.Livemode}
}

// RelatedObject refers to the object of a thin event.
type RelatedObject struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	URL  string `json:"url"`
}

// EmitThin stores a thin event and queues its delivery in the step's transaction. about can be nil.
func (st *Step) EmitThin(ctx context.Context, eventType string, about *RelatedObject, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	e := thinEvent{
		ID: form.NewID(thinEvents.Prefix), Object: thinEvents.Name, Type: eventType,
		Created: time.Unix(st.Now, 0).UTC(), RelatedObject: about, Data: text,
	}
	if _, err := st.queueEvent(ctx, e.ID, eventType, e.ID); err != nil {
		return err
	}
	st.emitted++
	return Put(ctx, st.Q, e)
}

// getThinEvent handles GET /v2/core/events/{id}.
func getThinEvent(ctx context.Context, c *Call) (any, error) { return Retrieve(ctx, c, thinEvents) }

// notification returns the body that is sent for an event. It removes the data of a thin event.
func notification(doc []byte) ([]byte, error) {
	var e thinEvent
	if err := json.Unmarshal(doc, &struct{ Object *string }{&e.Object}); err != nil || e.Object != thinEvents.Name {
		return doc, err
	}
	if err := json.Unmarshal(doc, &e); err != nil {
		return nil, err
	}
	e.Data = nil
	return json.Marshal(e)
}
