package webhook

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// poll is how often an instance looks for due deliveries, including those stored by other
	// instances.
	poll = time.Second
	// maxFlying limits the concurrent attempts of this instance, and maxOfEndpoint the concurrent
	// attempts to one endpoint. A slow or failing endpoint gets only maxOfSlow attempts, so that other
	// endpoints are delayed only if hundreds of endpoints hang.
	maxFlying     = 512
	maxOfEndpoint = 16
	maxOfSlow     = 2
	// maxOfHost limits the concurrent attempts to one host on behalf of one tenant, across its
	// endpoints, so that a tenant cannot use the service to flood a server.
	maxOfHost = 16
	// slow is the response time above which an endpoint counts as slow.
	slow = 2 * time.Second
	// leaseTime exceeds the duration of an attempt including its recording, so other instances only
	// take over the deliveries of a dead instance.
	leaseTime = 2 * timeout
	// drain is how long running attempts can take to finish when the service stops.
	drain = 4 * time.Second
	// claimed is the number of endpoints per claim statement.
	claimed = 8
)

// sender claims due deliveries and sends them.
//
// Invariants: only the instance that holds the lease sends a delivery. If the outcome is not
// stored, the delivery is sent again once the lease expires. An endpoint never exceeds its share of
// the concurrent attempts, so a hanging endpoint does not delay the others.
type sender struct {
	svc     *Service
	client  *safehttp.Client
	results chan result
	signal  chan struct{}

	mu     sync.Mutex
	due    map[uuid.UUID]bool // endpoints to check; uuid.Nil stands for all
	flying map[uuid.UUID]int  // attempts by endpoint
	total  int                // all attempts
	more   map[uuid.UUID]bool // endpoints that probably have more deliveries than room
	slow   map[uuid.UUID]bool // endpoints whose last attempt was slow or failed
	toHost map[string]int     // attempts by destination
}

func newSender(s *Service) *sender {
	return &sender{
		svc: s, results: make(chan result, maxFlying), signal: make(chan struct{}, 1),
		client: safehttp.New(safehttp.Config{
			Timeout: timeout, MaxBody: maxAnswer, NoRedirects: true, HTTPS: len(s.deps.Reachable) == 0,
			Exempt: s.deps.Reachable, IdlePerHost: maxOfEndpoint,
		}),
		due: map[uuid.UUID]bool{}, flying: map[uuid.UUID]int{}, more: map[uuid.UUID]bool{}, slow: map[uuid.UUID]bool{},
		toHost: map[string]int{},
	}
}

// wake makes the sender check the endpoints. It never blocks.
func (d *sender) wake(endpoints ...uuid.UUID) {
	if len(endpoints) == 0 {
		return
	}
	d.mu.Lock()
	for _, id := range endpoints {
		d.due[id] = true
	}
	d.mu.Unlock()
	d.wakeUp()
}

// wakeAll makes the sender check every endpoint with a due delivery.
func (d *sender) wakeAll() { d.wake(uuid.Nil) }

func (d *sender) wakeUp() {
	select {
	case d.signal <- struct{}{}:
	default: // a round is pending already
	}
}

// run sends deliveries until ctx ends, then waits up to drain for running attempts to finish.
func (d *sender) run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var attempts, recorder sync.WaitGroup
	recorder.Go(func() { d.svc.recordResults(work, d.results) })
	tick := time.NewTicker(poll)
	defer tick.Stop()
	d.wakeAll()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
			d.wakeAll()
		case <-d.signal:
			d.runRound(ctx, work, &attempts)
		}
	}
	timer := time.AfterFunc(drain, stop)
	defer timer.Stop()
	attempts.Wait()
	close(d.results)
	recorder.Wait()
	return nil
}

// runRound claims due deliveries of the endpoints to check, as far as there is room, and starts the
// attempts.
func (d *sender) runRound(ctx, work context.Context, attempts *sync.WaitGroup) {
	rooms, err := d.listCapacities(ctx)
	var to map[uuid.UUID]string
	if err == nil && len(rooms) > 0 {
		if to, err = d.svc.store.destinations(ctx, rooms); err == nil {
			rooms = d.limitPerHost(rooms, to)
		} else {
			rooms = nil
		}
	}
	for batch := range slices.Chunk(rooms, claimed) {
		var list []task
		if list, err = d.svc.store.claim(ctx, d.svc.deps.Clock.Now(), d.svc.deps.Machine.Now(), batch); err != nil {
			break
		}
		taken := map[uuid.UUID]int{}
		d.mu.Lock()
		for i, t := range list {
			taken[t.endpoint.ID]++
			list[i].destination = to[t.endpoint.ID]
			d.toHost[list[i].destination]++
		}
		for _, r := range batch {
			d.flying[r.endpoint] += taken[r.endpoint]
			d.total += taken[r.endpoint]
			d.more[r.endpoint] = taken[r.endpoint] == r.room
		}
		d.mu.Unlock()
		for _, t := range list {
			attempts.Go(func() { d.deliver(work, t) })
		}
	}
	if err != nil && ctx.Err() == nil {
		d.svc.deps.Log.ErrorContext(ctx, "failed to claim webhook deliveries", "error", err)
	}
}

// capacity is how many deliveries of an endpoint can be claimed.
type capacity struct {
	endpoint uuid.UUID
	room     int
}

// listCapacities returns the endpoints to check and their capacities, within the limit of the
// instance.
func (d *sender) listCapacities(ctx context.Context) ([]capacity, error) {
	d.mu.Lock()
	due := d.due
	d.due = map[uuid.UUID]bool{}
	d.mu.Unlock()
	if due[uuid.Nil] {
		delete(due, uuid.Nil)
		all, err := d.svc.store.dueEndpoints(ctx, d.svc.deps.Clock.Now())
		if err != nil {
			return nil, err
		}
		for _, id := range all {
			due[id] = true
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	left := maxFlying - d.total
	var rooms []capacity
	// The map order is random, so no endpoint is always last.
	for id := range maps.Keys(due) {
		r := capacity{id, min(d.attemptLimit(id)-d.flying[id], left)}
		if r.room <= 0 {
			d.more[id] = true
			continue
		}
		left -= r.room
		rooms = append(rooms, r)
	}
	return rooms, nil
}

// limitPerHost reduces the capacities to the attempts that each destination has left. An endpoint
// without capacity is checked again at the next poll.
func (d *sender) limitPerHost(rooms []capacity, to map[uuid.UUID]string) []capacity {
	d.mu.Lock()
	defer d.mu.Unlock()
	planned := map[string]int{}
	var kept []capacity
	for _, r := range rooms {
		host := to[r.endpoint]
		r.room = min(r.room, maxOfHost-d.toHost[host]-planned[host])
		if r.room <= 0 {
			d.more[r.endpoint] = true
			continue
		}
		planned[host] += r.room
		kept = append(kept, r)
	}
	return kept
}

// attemptLimit returns the maximum number of concurrent attempts to an endpoint.
func (d *sender) attemptLimit(id uuid.UUID) int {
	if d.slow[id] {
		return maxOfSlow
	}
	return maxOfEndpoint
}

// deliver makes an attempt and passes the result to the recorder.
func (d *sender) deliver(ctx context.Context, t task) {
	r := result{task: t}
	if t.endpoint.Enabled {
		r = d.attempt(ctx, t)
		d.observe(r)
	}
	d.results <- r
	d.finishAttempt(t.endpoint.ID, r)
}

// observe reports an attempt to Observe, unless the shutdown interrupted it.
func (d *sender) observe(r result) {
	if d.svc.deps.Observe == nil || r.interrupted {
		return
	}
	outcome := "failed"
	switch {
	case r.isOK():
		outcome = "answered"
	case r.attempt.StatusCode != nil:
		outcome = "refused"
	}
	d.svc.deps.Observe(outcome, time.Duration(r.attempt.DurationMS)*time.Millisecond)
}

// finishAttempt releases the room of an attempt. An endpoint with more deliveries is checked again
// once half of its room is free, so that one claim takes several deliveries.
func (d *sender) finishAttempt(id uuid.UUID, r result) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total--
	if d.toHost[r.destination]--; d.toHost[r.destination] <= 0 {
		delete(d.toHost, r.destination)
	}
	if d.flying[id]--; d.flying[id] == 0 {
		delete(d.flying, id)
	}
	if r.attempt.DurationMS > slow.Milliseconds() || !r.isOK() {
		d.slow[id] = true
	} else {
		delete(d.slow, id)
	}
	if d.more[id] && d.flying[id] <= d.attemptLimit(id)/2 {
		delete(d.more, id)
		d.due[id] = true
		d.wakeUp()
	}
}
