package impersonation

import (
	"context"

	"github.com/google/uuid"
)

// StartEvent is the event that a platform admin began to act as somebody else.
type StartEvent struct{ Facts }

// EndEvent is the event that a platform admin no longer acts as somebody else.
type EndEvent struct{ Facts }

// Facts are the content of both events.
type Facts struct {
	ImpersonatorID int64
	ImpersonatedID int64
	TenantID       uuid.UUID
	// IPAddress and UserAgent are those of the request that made the change; "" where
	// no request did, as when a login expires.
	IPAddress string
	UserAgent string
}

// Bus carries the events of impersonation to listeners in the process. It calls them in
// the order in which they were added, in the transaction of the publisher, before the
// call that publishes returns. The first error rolls that transaction back.
type Bus struct {
	Started Topic[StartEvent]
	Ended   Topic[EndEvent]
}

// Topic is one kind of event. Listeners are added before the first event.
type Topic[E any] struct {
	listeners []func(context.Context, E) error
}

// Listen adds a listener.
func (t *Topic[E]) Listen(f func(context.Context, E) error) { t.listeners = append(t.listeners, f) }

func (t *Topic[E]) publish(ctx context.Context, event E) error {
	for _, listen := range t.listeners {
		if err := listen(ctx, event); err != nil {
			return err
		}
	}
	return nil
}
