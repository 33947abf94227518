package usage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/tenantry/tenantry/client"
	"github.com/tenantry/tenantry/client/api"
)

const (
	maxBatch = 1000        // events per request
	maxBytes = 1<<20 - 256 // bytes of their JSON; the service accepts 1 MiB

	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
)

// drain sends the events of a line, batch by batch, until no event is due.
func (r *Recorder) drain(tenant string, l *line) {
	defer r.running.Done()
	limit := maxBatch
	for failures := 0; ; {
		r.mu.Lock()
		batch := l.next(limit)
		if len(batch) == 0 || r.stop.Err() != nil {
			l.sending = false
			if len(l.items) == 0 {
				delete(r.lines, tenant)
			}
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		results, err := r.send(tenant, batch)
		switch {
		case err == nil:
		case client.StatusOf(err) == http.StatusRequestEntityTooLarge && len(batch) > 1:
			limit = max(1, len(batch)/2)
			continue
		case isRetryable(err):
			results = nil
		default:
			results = refuseAll(len(batch), err)
		}
		if results == nil || r.settle(l, batch, results) == 0 {
			if err == nil {
				err = errors.New("usage: the service is busy")
			}
			if r.stop.Err() == nil {
				r.options.OnError(fmt.Errorf("usage of tenant %s: %w", tenant, err))
			}
			failures++
			r.sleep(failures, err)
			continue
		}
		failures, limit = 0, maxBatch
	}
}

// next returns the first events of a line that fit into one request, without removing them. The
// caller holds the lock.
func (l *line) next(limit int) []item {
	n, size := 0, 0
	for n < min(len(l.items), l.hurry, limit) && (n == 0 || size+l.items[n].size <= maxBytes) {
		size += l.items[n].size
		n++
	}
	return l.items[:n:n]
}

// send waits for a slot and sends a batch.
func (r *Recorder) send(tenant string, batch []item) ([]api.BatchResult, error) {
	select {
	case r.senders <- struct{}{}:
		defer func() { <-r.senders }()
	case <-r.stop.Done():
		return nil, r.stop.Err()
	}
	events := make([]api.UsageEventInput, len(batch))
	for i, it := range batch {
		events[i] = it.event.input()
	}
	answer, err := r.sender.RecordUsageBatch(r.stop, tenant, api.RecordUsageBatchRequest{Events: events})
	if err != nil {
		return nil, err
	}
	if len(answer.Data) != len(batch) {
		return nil, fmt.Errorf("usage: %d results for %d events", len(answer.Data), len(batch))
	}
	return answer.Data, nil
}

// isRetryable reports whether the batch can succeed later. It also returns true if the API key is
// invalid or lacks the scope, because the key can be replaced.
func isRetryable(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status >= http.StatusInternalServerError || e.Code == client.ErrInsufficientScope {
		return true
	}
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

func refuseAll(n int, err error) []api.BatchResult {
	e, _ := errors.AsType[*client.Error](err) // a *client.Error, because isRetryable returned false
	results := make([]api.BatchResult, n)
	for i := range results {
		results[i] = api.BatchResult{Index: int64(i), Status: int64(e.Status), Code: new(api.ErrorCode(e.Code)), Message: &e.Message, Errors: &e.Fields}
	}
	return results
}

// settle removes the decided events from a line and returns their number. batch are the first
// events of the line. The undecided events stay, in order.
func (r *Recorder) settle(l *line, batch []item, results []api.BatchResult) int {
	verdicts := make([]*api.BatchResult, len(batch))
	for i, result := range results {
		if result.Index >= 0 && result.Index < int64(len(batch)) && isDecided(result) {
			verdicts[result.Index] = &results[i]
		}
	}
	var done, left []item
	for i, it := range batch {
		verdict := verdicts[i]
		if verdict == nil {
			left = append(left, it)
			continue
		}
		done = append(done, it)
		if verdict.Status != http.StatusCreated && verdict.Status != http.StatusConflict { // 409: it was accepted before
			r.options.OnRefused(it.event, reason(*verdict))
		}
	}
	if r.journal != nil {
		if err := r.journal.settle(done); err != nil {
			r.options.OnError(err) // the events are sent again after a restart, and count once
		}
	}
	r.mu.Lock()
	l.items = l.items[len(batch):]
	if len(left) > 0 {
		l.items = append(left, l.items...)
	}
	l.hurry = max(0, l.hurry-len(done))
	r.waiting -= len(done)
	close(r.settled)
	r.settled = make(chan struct{})
	r.mu.Unlock()
	for _, it := range done {
		if it.slot {
			<-r.room
		}
	}
	return len(done)
}

// isDecided reports whether the result of an event is final.
func isDecided(result api.BatchResult) bool {
	limited := result.Status == http.StatusTooManyRequests && (result.Code == nil || *result.Code == "")
	return result.Status < http.StatusInternalServerError && !limited
}

// reason converts a result to an error.
func reason(result api.BatchResult) error {
	e := &client.Error{Status: int(result.Status), Message: http.StatusText(int(result.Status))}
	if result.Code != nil {
		e.Code = client.Code(*result.Code)
	}
	if result.Message != nil {
		e.Message = *result.Message
	}
	if result.Errors != nil {
		e.Fields = *result.Errors
	}
	return e
}

// sleep waits before the next attempt. The delay grows with consecutive failures.
func (r *Recorder) sleep(failures int, err error) {
	limit := min(firstPause<<min(failures-1, 10), longestPause)
	pause := limit/2 + rand.N(limit/2) //nolint:gosec // nothing secret
	if e, ok := errors.AsType[*client.Error](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return
	case <-r.stop.Done():
		return
	case <-r.closing: // Close limits the remaining time
	}
	ctx, cancel := context.WithTimeout(r.stop, min(pause, firstPause))
	defer cancel()
	<-ctx.Done()
}
