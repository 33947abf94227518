package impersonation

import (
	"context"

	"github.com/google/uuid"
)

// StartEvent is published when a platform admin starts to impersonate a user.
type StartEvent struct{ Facts }

// EndEvent is published when an impersonation ends.
type EndEvent struct{ Facts }

// Facts is the content of both events.
type Facts struct {
	ImpersonatorID int64
	ImpersonatedID int64
	TenantID       uuid.UUID

	Limits

	// IPAddress and UserAgent describe the request that made the change. They are "" if the change
	// was not made by a request, for example when a login expires.
	IPAddress string
	UserAgent string
}

// Bus delivers impersonation events to listeners in the process. It calls the listeners
// synchronously, in the order in which they were added, in the transaction of the publisher. The
// first error rolls the transaction back.
type Bus struct {
	Started Topic[StartEvent]
	Ended   Topic[EndEvent]
}

// Topic is a kind of event. Listeners must be added before the first event.
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
