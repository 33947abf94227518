package chaos

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// ReplayPath is the path of the control that sends events again.
const ReplayPath = kernel.OwnRoot + "/replay"

// replayRequest asks for the stored events to be sent again.
type replayRequest struct {
	Times   int64   `json:"times"`   // how often each event is sent
	Shuffle bool    `json:"shuffle"` // whether the order is random
	Share   float64 `json:"share"`   // the share of the events that is sent
	Seed    int64   `json:"seed"`    // decides which events, and their order
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

// replayAnswer says what is being sent.
type replayAnswer struct {
	Events     int `json:"events"`     // how many events are sent again
	Deliveries int `json:"deliveries"` // how many deliveries that makes
	Pending    int `json:"pending"`    // how many deliveries are not yet accepted, older ones included
}

// ShowReplay answers GET /sandbox/stripe/replay with the number of webhooks
// that are not yet accepted, so that a client can wait for the end of a replay.
func (c *Control) ShowReplay(w http.ResponseWriter, r *http.Request) {
	pending, err := pendingDeliveries(r.Context(), c.engine.Read().Q)
	if err != nil {
		kernel.FailControl(w, r, c.engine.Log(), err)
		return
	}
	kernel.WriteControl(w, http.StatusOK, kernel.Data{Data: map[string]int{"pending": pending}})
}

// StartReplay answers POST /sandbox/stripe/replay: it queues all stored events,
// or a share of them, once more. Chaos does not affect them.
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
		kernel.WriteControl(w, http.StatusConflict, kernel.Problem{Message: "No webhook endpoint is registered here."})
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

// queueReplay queues the deliveries of a replay and returns how many events and
// deliveries there are.
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
				again.object = kernel.AloneKey(e.id, int(n))
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

// storedEvent is the id and type of an event and the id of the object that it is
// about, or its own id again where the object has none, as an announced invoice.
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
