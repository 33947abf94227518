package impersonation

import (
	"context"

	"github.com/google/uuid"
)

// Started says that a platform admin began to act as somebody else (spec:
// Events, ImpersonationStarted).
type Started struct{ Facts }

// Ended says that a platform admin no longer acts as somebody else (spec:
// Events, ImpersonationEnded).
type Ended struct{ Facts }

// Facts are what both events tell.
type Facts struct {
	ImpersonatorID int64
	ImpersonatedID int64
	TenantID       uuid.UUID
	// IPAddress and UserAgent are of the request that made the change; "" where
	// none did, as when a login expires.
	IPAddress string
	UserAgent string
}

// Bus carries the events of impersonation to their listeners, in the process,
// in the order in which they were added, before the call that publishes returns.
// Listeners work in the publisher's transaction; the first that fails ends it.
type Bus struct {
	Started Topic[Started]
	Ended   Topic[Ended]
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
