package chaos

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// ReplayPath is the path of the control that replays events.
const ReplayPath = kernel.OwnRoot + "/replay"

// replayRequest is a request to replay the stored events.
type replayRequest struct {
	Times   int64   `json:"times"`   // how often each event is sent
	Shuffle bool    `json:"shuffle"` // whether the order is random
	Share   float64 `json:"share"`   // the share of the events to send
	Seed    int64   `json:"seed"`    // determines which events are sent, and their order
}

func (p replayRequest) check() map[string]string {
	wrong := map[string]string{}
	if p.Times < 1 || p.Times > 20 {
		wrong["times"] = "The times must be from 1 to 20."
	}
	if p.Share < 0 || p.Share > 1 {
		wrong["share"] = "The share must be from 0 to 1."
	}
	if p.Seed < 0 {
		wrong["seed"] = "The seed must not be negative."
	}
	return wrong
}

// replayAnswer is the response to a replayRequest.
type replayAnswer struct {
	Events     int `json:"events"`     // the number of replayed events
	Deliveries int `json:"deliveries"` // the number of queued deliveries
	Pending    int `json:"pending"`    // the number of deliveries that have not been accepted, including older ones
}

// ShowReplay responds to GET /sandbox/stripe/replay with the number of webhooks that have not been
// accepted, so a client can wait for the end of a replay.
func (c *Control) ShowReplay(w http.ResponseWriter, r *http.Request) {
	pending, err := pendingDeliveries(r.Context(), c.engine.Read().Q)
	if err != nil {
		kernel.FailControl(w, r, c.engine.Log(), err)
		return
	}
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: map[string]int{"pending": pending}})
}

// StartReplay handles POST /sandbox/stripe/replay. It queues all stored events, or a share of them,
// again. No faults are injected into a replay.
func (c *Control) StartReplay(w http.ResponseWriter, r *http.Request) {
	wish := replayRequest{Times: 1, Share: 1}
	if !kernel.ReadControl(w, r, &wish) {
		return
	}
	if wrong := wish.check(); len(wrong) > 0 {
		kernel.RefuseControl(w, wrong)
		return
	}
	if taken, err := c.engine.HasReceiver(r.Context()); err != nil {
		kernel.FailControl(w, r, c.engine.Log(), err)
		return
	} else if !taken {
		kernel.WriteControl(w, http.StatusConflict, kernel.Problem{Message: "No webhook endpoint is registered."})
		return
	}
	var a replayAnswer
	err := c.engine.Write(r.Context(), func(ctx context.Context, st *kernel.Step) (err error) {
		if a.Events, a.Deliveries, err = queueReplay(ctx, st, wish); err != nil {
			return err
		}
		a.Pending, err = pendingDeliveries(ctx, st.Q)
		return err
	})
	if err != nil {
		kernel.FailControl(w, r, c.engine.Log(), err)
		return
	}
	c.engine.Wake()
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: a})
}

// queueReplay queues the deliveries of a replay. It returns the numbers of events and deliveries.
func queueReplay(ctx context.Context, st *kernel.Step, wish replayRequest) (events, deliveries int, err error) {
	stored, err := storedEvents(ctx, st.Q)
	if err != nil {
		return 0, 0, err
	}
	chance := newRand(wish.Seed, drawReplay, 0)
	var queue []storedEvent
	for _, e := range stored {
		if chance.Float64() >= wish.Share {
			continue
		}
		events++
		for n := range wish.Times {
			again := e
			if wish.Shuffle {
				again.object = kernel.UnorderedKey(e.id, int(n))
			}
			queue = append(queue, again)
		}
	}
	if wish.Shuffle {
		chance.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	}
	for _, e := range queue {
		n, err := st.Resend(ctx, e.id, e.kind, e.object)
		if err != nil {
			return 0, 0, err
		}
		deliveries += n
	}
	return events, deliveries, nil
}

// storedEvent is the id and type of an event and the id of its object. If the object has no id, as
// in invoice.upcoming, object is the id of the event.
type storedEvent struct{ id, kind, object string }

func storedEvents(ctx context.Context, q kernel.Querier) ([]storedEvent, error) {
	rows, err := q.QueryContext(ctx, `SELECT id, doc ->> '$.type', COALESCE(doc ->> '$.data.object.id', id) FROM stripe_objects WHERE kind = 'event' ORDER BY seq`)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var all []storedEvent
	for rows.Next() {
		var e storedEvent
		if err := rows.Scan(&e.id, &e.kind, &e.object); err != nil {
			return nil, fmt.Errorf("read events: %w", err)
		}
		all = append(all, e)
	}
	return all, rows.Err()
}

func pendingDeliveries(ctx context.Context, q kernel.Querier) (n int, err error) {
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM stripe_deliveries`).Scan(&n)
	return n, err
}
