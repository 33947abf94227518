package kernel

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

const (
	// maxDeliveries is the maximum number of concurrent deliveries.
	maxDeliveries = 8
	// deliveryLife is how long a delivery is retried, in real time.
	deliveryLife = 72 * time.Hour
)

// retryAfter returns the delay after the n-th failed attempt. The first delays are about as long as
// a service takes to start.
func retryAfter(n int) time.Duration {
	waits := [...]time.Duration{
		200 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second,
		2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour,
	}
	return waits[min(max(n, 1), len(waits))-1]
}

// queuedDelivery is a delivery in the queue.
type queuedDelivery struct {
	seq      int64
	event    string
	endpoint string
	attempts int
	queuedAt int64 // milliseconds, real time
}

// Delivery is one planned delivery of an event.
type Delivery struct {
	Late    time.Duration // delay before the first attempt
	Ordered bool          // whether it waits for earlier events about the same object
}

// queueEvent queues the deliveries of an event about an object. It returns the number of endpoints
// that receive the event.
func (st *Step) queueEvent(ctx context.Context, event, eventType, object string) (int64, error) {
	to, err := receivers(ctx, st.Q, eventType)
	if err != nil || len(to) == 0 {
		return 0, err
	}
	deliveries := st.deliveries()
	for n, d := range deliveries {
		after := object
		if !d.Ordered {
			after = UnorderedKey(event, n)
		}
		for _, we := range to {
			if err := st.enqueue(ctx, event, we.ID, after, d.Late); err != nil {
				return 0, err
			}
		}
	}
	if len(deliveries) == 0 {
		return 0, nil
	}
	return int64(len(to)), nil
}

// UnorderedKey returns the queue key of a delivery that does not wait for other deliveries. The key
// is stored in place of the object's id. n distinguishes several deliveries of one event.
func UnorderedKey(event string, n int) string { return event + "#" + strconv.Itoa(n) }

// Resend queues an event again for all endpoints that are subscribed to it, after the earlier
// deliveries about the object. It returns the number of queued deliveries.
func (st *Step) Resend(ctx context.Context, event, eventType, object string) (int, error) {
	to, err := receivers(ctx, st.Q, eventType)
	if err != nil {
		return 0, err
	}
	for _, we := range to {
		if err := st.enqueue(ctx, event, we.ID, object, 0); err != nil {
			return 0, err
		}
	}
	_, err = st.Q.ExecContext(ctx, `UPDATE stripe_objects SET doc = json_set(doc, '$.pending_webhooks', ?) WHERE kind = 'event' AND id = ?`, len(to), event)
	if err != nil {
		return 0, fmt.Errorf("resend %s: %w", event, err)
	}
	st.emitted += len(to)
	return len(to), nil
}

// enqueue queues a delivery of an event to an endpoint. It is sent after the delay late, and after
// the earlier deliveries about the same object.
func (st *Step) enqueue(ctx context.Context, event, endpoint, object string, late time.Duration) error {
	_, err := st.Q.ExecContext(ctx, `INSERT INTO stripe_deliveries (event, endpoint, object, attempts, queued_at, next_at) VALUES (?, ?, ?, 0, ?, ?)`,
		event, endpoint, object, st.realNow, st.realNow+late.Milliseconds())
	if err != nil {
		return fmt.Errorf("queue delivery of %s: %w", event, err)
	}
	return nil
}

// runDeliveries sends due deliveries, a few at a time, until ctx ends and the deliveries in
// progress have ended.
func (e *Engine) runDeliveries(ctx context.Context) {
	out := outbox{busy: map[int64]bool{}, done: make(chan attemptedDelivery, maxDeliveries)}
	defer func() {
		out.workers.Wait()
		// Deliveries that were accepted just before the end must not be sent again.
		if err := e.settleDeliveries(context.WithoutCancel(ctx), &out); err != nil {
			e.cfg.Log.ErrorContext(ctx, "stripe sandbox: webhook deliveries failed", slog.Any("error", err))
		}
	}()
	for {
		wait, err := e.dispatch(ctx, &out)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			e.cfg.Log.ErrorContext(ctx, "stripe sandbox: webhook deliveries failed", slog.Any("error", err))
			wait = errorPause
		}
		if !pause(ctx, wait, e.deliver) {
			return
		}
	}
}

// outbox tracks the deliveries of one Run. Only the goroutine that calls dispatch uses busy and
// ended.
type outbox struct {
	busy    map[int64]bool         // the deliveries in progress, by seq
	done    chan attemptedDelivery // has capacity for all deliveries in progress
	ended   []attemptedDelivery    // deliveries whose outcome is not stored yet
	workers sync.WaitGroup
}

// attemptedDelivery is a delivery with the outcome of an attempt.
type attemptedDelivery struct {
	queuedDelivery
	taken bool
}

// dispatch starts sending due deliveries. It returns the time until it has to run again.
func (e *Engine) dispatch(ctx context.Context, out *outbox) (time.Duration, error) {
	if err := e.settleDeliveries(ctx, out); err != nil {
		return 0, err
	}
	// All outcomes are stored, so each due delivery that is not in busy has to be sent.
	now := e.cfg.RealClock.Now().UnixMilli()
	if len(out.busy) == maxDeliveries {
		return maxPause, nil // the first delivery that ends wakes the caller
	}
	due, err := e.dueDeliveries(ctx, now, maxDeliveries+len(out.busy))
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if out.busy[d.seq] || len(out.busy) == maxDeliveries {
			continue
		}
		out.busy[d.seq] = true
		out.workers.Go(func() {
			if taken, whole := e.attemptDelivery(ctx, d); whole {
				out.done <- attemptedDelivery{d, taken}
				wakeUp(e.deliver) // there is capacity again, and the object's next event may be due
			}
		})
	}
	var next sql.NullInt64
	err = e.cfg.DB.QueryRowContext(ctx, `SELECT min(next_at) FROM stripe_deliveries WHERE next_at > ?`, now).Scan(&next)
	if err != nil || !next.Valid {
		return maxPause, err
	}
	return min(maxPause, time.Duration(next.Int64-now)*time.Millisecond), nil
}

// dueDeliveries returns the deliveries that can be sent. A delivery waits for the first attempt of
// every earlier delivery about its object, so events arrive in order unless an attempt failed. The
// plus sign prevents SQLite from using the index on next_at, which would sort all due deliveries to
// find the first few.
func (e *Engine) dueDeliveries(ctx context.Context, now int64, limit int) ([]queuedDelivery, error) {
	rows, err := e.cfg.DB.QueryContext(ctx, `
		SELECT seq, event, endpoint, attempts, queued_at FROM stripe_deliveries d
		WHERE +next_at <= ? AND NOT EXISTS (
			SELECT 1 FROM stripe_deliveries earlier
			WHERE earlier.object = d.object AND earlier.endpoint = d.endpoint AND earlier.seq < d.seq AND earlier.attempts = 0)
		ORDER BY seq LIMIT ?`, now, limit)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer rows.Close()
	var due []queuedDelivery
	for rows.Next() {
		var d queuedDelivery
		if err := rows.Scan(&d.seq, &d.event, &d.endpoint, &d.attempts, &d.queuedAt); err != nil {
			return nil, fmt.Errorf("read deliveries: %w", err)
		}
		due = append(due, d)
	}
	return due, rows.Err()
}

// attemptDelivery sends an event once. taken reports whether the receiver accepted it. whole is
// false if the end of ctx aborted the attempt; the next Run then repeats it.
func (e *Engine) attemptDelivery(ctx context.Context, d queuedDelivery) (taken, whole bool) {
	failed := e.send(ctx, d)
	if failed != nil && ctx.Err() != nil {
		return false, false
	}
	if failed != nil {
		e.cfg.Log.WarnContext(ctx, "stripe sandbox: webhook delivery failed",
			slog.String("event", d.event), slog.Int("attempt", d.attempts+1), slog.Any("error", failed))
	}
	return failed == nil, true
}

// send posts an event. Any status other than 2xx is an error.
func (e *Engine) send(ctx context.Context, d queuedDelivery) error {
	var body []byte
	err := e.cfg.DB.QueryRowContext(ctx, `SELECT doc FROM stripe_objects WHERE kind IN ('event', 'v2.core.event') AND id = ?`, d.event).Scan(&body)
	if err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	if body, err = notification(body); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	target, secret, err := e.address(ctx, d.endpoint)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (Tenantry sandbox)")
	req.Header.Set("Stripe-Signature", sign(secret, e.cfg.RealClock.Now(), body))
	res, err := e.cfg.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, form.MaxBody)) // drain the body so that the connection can be reused
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return errors.New("answered " + res.Status)
	}
	return nil
}

// sign returns the signature header for a body, with its timestamp.
func sign(secret string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// settleDeliveries stores the outcomes of all completed attempts in one transaction.
func (e *Engine) settleDeliveries(ctx context.Context, out *outbox) error {
	for range len(out.done) {
		out.ended = append(out.ended, <-out.done)
	}
	if len(out.ended) == 0 {
		return nil
	}
	err := e.Write(ctx, func(ctx context.Context, st *Step) error {
		for _, d := range out.ended {
			if err := st.settleDelivery(ctx, d.queuedDelivery, d.taken); err != nil {
				return fmt.Errorf("settle delivery of %s: %w", d.event, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range out.ended {
		delete(out.busy, d.seq)
	}
	out.ended = out.ended[:0]
	return nil
}

// settleDelivery removes a delivery that was accepted or has expired. Otherwise it schedules the
// next attempt.
func (st *Step) settleDelivery(ctx context.Context, d queuedDelivery, taken bool) error {
	next := st.realNow + retryAfter(d.attempts+1).Milliseconds()
	if !taken && next <= d.queuedAt+deliveryLife.Milliseconds() {
		_, err := st.Q.ExecContext(ctx, `UPDATE stripe_deliveries SET attempts = ?, next_at = ? WHERE seq = ?`, d.attempts+1, next, d.seq)
		return err
	}
	if _, err := st.Q.ExecContext(ctx, `DELETE FROM stripe_deliveries WHERE seq = ?`, d.seq); err != nil || !taken {
		return err
	}
	_, err := st.Q.ExecContext(ctx, `
		UPDATE stripe_objects SET doc = json_set(doc, '$.pending_webhooks', max(0, doc ->> '$.pending_webhooks' - 1))
		WHERE kind = 'event' AND id = ? AND NOT EXISTS (
			SELECT 1 FROM stripe_deliveries WHERE event = stripe_objects.id AND endpoint = ?)`, d.event, d.endpoint)
	return err
}
