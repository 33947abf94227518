package inbox

import (
	"encoding/json"

	"github.com/tenantry/tenantry/internal/psp"
)

// objectThin is the object type of a thin event.
const objectThin = "v2.core.event"

// thinEvent decodes the notification of a thin event and reports whether it is of live mode. ok is
// false for any other notification. Without a related object, its object is the event itself.
func thinEvent(body []byte) (e psp.Event, isLive, ok bool) {
	var thin struct {
		ID            string `json:"id"`
		Object        string `json:"object"`
		Type          string `json:"type"`
		Livemode      bool   `json:"livemode"`
		RelatedObject struct {
			ID string `json:"id"`
		} `json:"related_object"`
	}
	if json.Unmarshal(body, &thin) != nil || thin.Object != objectThin || thin.ID == "" || thin.Type == "" {
		return psp.Event{}, false, false
	}
	e = psp.Event{ID: thin.ID, Type: thin.Type, ObjectID: thin.RelatedObject.ID}
	if e.ObjectID == "" {
		e.ObjectID = e.ID
	}
	return e, thin.Livemode, true
}
