package stripe

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
)

const (
	// maxDeliveries is how many webhooks are under way at once.
	maxDeliveries = 8
	// deliveryLife is how long an event is offered to a receiver that does not
	// take it, in real time.
	deliveryLife = 72 * time.Hour
)

// retryAfter is how long the sandbox waits after the n-th failure of a
// delivery: at first no longer than a service takes to start.
func retryAfter(n int) time.Duration {
	waits := [...]time.Duration{
		200 * time.Millisecond, time.Second, 5 * time.Second, 30 * time.Second,
		2 * time.Minute, 10 * time.Minute, time.Hour, 3 * time.Hour,
	}
	return waits[min(max(n, 1), len(waits))-1]
}

// delivery is an event on its way to the receiver.
type delivery struct {
	seq      int64
	event    string
	attempts int
	queuedAt int64 // milliseconds, real time
	body     []byte
}

// dispatchEvent lets an event about an object go its ways to the receiver.
func (st *step) dispatchEvent(ctx context.Context, event, object string, ways []passage) error {
	for n, way := range ways {
		after := object
		if !way.ordered {
			after = alone(event, n)
		}
		if err := st.enqueue(ctx, event, after, way.late); err != nil {
			return err
		}
	}
	return nil
}

// alone is in place of the object of a delivery that waits for no other one.
func alone(event string, n int) string { return event + "#" + strconv.Itoa(n) }

// enqueue lets an event about an object be delivered when it is late enough,
// after those about the same object that were queued before.
func (st *step) enqueue(ctx context.Context, event, object string, late time.Duration) error {
	_, err := st.q.ExecContext(ctx, `INSERT INTO stripe_deliveries (event, object, attempts, queued_at, next_at) VALUES (?, ?, 0, ?, ?)`,
		event, object, st.realNow, st.realNow+late.Milliseconds())
	if err != nil {
		return fmt.Errorf("queue delivery of %s: %w", event, err)
	}
	return nil
}

// runDeliveries sends what is due, a few at a time, until ctx ends. It leaves
// no goroutine behind.
func (s *Server) runDeliveries(ctx context.Context) {
	if s.cfg.WebhookURL == "" {
		return
	}
	out := outbox{busy: map[int64]bool{}, done: make(chan int64, maxDeliveries)}
	defer out.workers.Wait()
	for {
		wait, err := s.dispatch(ctx, &out)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			s.cfg.Log.ErrorContext(ctx, "stripe sandbox: deliveries", slog.Any("error", err))
			wait = errorPause
		}
		if !pause(ctx, wait, s.deliver) {
			return
		}
	}
}

// outbox is what one Run has under way. Only the goroutine that dispatches
// touches busy.
type outbox struct {
	busy    map[int64]bool // deliveries by their seq
	done    chan int64     // those that ended; with room for all of them
	workers sync.WaitGroup
}

// dispatch starts what is due and returns how long there is nothing more to do.
func (s *Server) dispatch(ctx context.Context, out *outbox) (time.Duration, error) {
	for range len(out.done) {
		delete(out.busy, <-out.done)
	}
	// Whatever is read as due from here on, and is not busy, nobody is sending.
	now := s.cfg.SignatureClock.Now().UnixMilli()
	due, err := s.dueDeliveries(ctx, now, maxDeliveries+len(out.busy))
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		if out.busy[d.seq] || len(out.busy) == maxDeliveries {
			continue
		}
		out.busy[d.seq] = true
		out.workers.Go(func() {
			s.attemptDelivery(ctx, d)
			out.done <- d.seq
			poke(s.deliver) // there is room, and the object's next event may go
		})
	}
	var next sql.NullInt64
	err = s.cfg.DB.QueryRowContext(ctx, `SELECT min(next_at) FROM stripe_deliveries WHERE next_at > ?`, now).Scan(&next)
	if err != nil || !next.Valid {
		return maxPause, err
	}
	return min(maxPause, time.Duration(next.Int64-now)*time.Millisecond), nil
}

// dueDeliveries reads what may be sent. An event waits for the first attempt at
// every earlier one about its object, so that they arrive in order unless one
// of them failed.
func (s *Server) dueDeliveries(ctx context.Context, now int64, limit int) ([]delivery, error) {
	rows, err := s.cfg.DB.QueryContext(ctx, `
		SELECT d.seq, d.event, d.attempts, d.queued_at, e.doc
		FROM stripe_deliveries d JOIN stripe_objects e ON e.kind = 'event' AND e.id = d.event
		WHERE d.next_at <= ? AND NOT EXISTS (
			SELECT 1 FROM stripe_deliveries earlier
			WHERE earlier.object = d.object AND earlier.seq < d.seq AND earlier.attempts = 0)
		ORDER BY d.seq LIMIT ?`, now, limit)
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	defer rows.Close()
	var due []delivery
	for rows.Next() {
		var d delivery
		if err := rows.Scan(&d.seq, &d.event, &d.attempts, &d.queuedAt, &d.body); err != nil {
			return nil, fmt.Errorf("read deliveries: %w", err)
		}
		due = append(due, d)
	}
	return due, rows.Err()
}

// attemptDelivery sends an event once and keeps what came of it. A delivery that
// the end of ctx breaks off stays as it was and is sent again by the next Run.
func (s *Server) attemptDelivery(ctx context.Context, d delivery) {
	failed := s.send(ctx, d)
	if failed != nil && ctx.Err() != nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if failed != nil {
		s.cfg.Log.WarnContext(ctx, "stripe sandbox: webhook not taken",
			slog.String("event", d.event), slog.Int("attempt", d.attempts+1), slog.Any("error", failed))
	}
	if err := s.settleDelivery(ctx, d, failed == nil); err != nil {
		s.cfg.Log.ErrorContext(ctx, "stripe sandbox: webhook", slog.String("event", d.event), slog.Any("error", err))
	}
}

// send posts an event; any answer but a 2xx is a failure.
func (s *Server) send(ctx context.Context, d delivery) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.WebhookURL, bytes.NewReader(d.body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	req.Header.Set("User-Agent", "Stripe/1.0 (Tenantry sandbox)")
	req.Header.Set("Stripe-Signature", sign(s.cfg.WebhookSecret, s.cfg.SignatureClock.Now(), d.body))
	res, err := s.cfg.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxBody)) // so that the connection can be used again
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return errors.New("answered " + res.Status)
	}
	return nil
}

// sign returns the header that proves who sent a body, and when.
func sign(secret string, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// settleDelivery ends a delivery, or plans the next attempt at it.
func (s *Server) settleDelivery(ctx context.Context, d delivery, taken bool) error {
	return s.write(ctx, func(ctx context.Context, st *step) error {
		next := st.realNow + retryAfter(d.attempts+1).Milliseconds()
		if !taken && next <= d.queuedAt+deliveryLife.Milliseconds() {
			_, err := st.q.ExecContext(ctx, `UPDATE stripe_deliveries SET attempts = ?, next_at = ? WHERE seq = ?`, d.attempts+1, next, d.seq)
			return err
		}
		if _, err := st.q.ExecContext(ctx, `DELETE FROM stripe_deliveries WHERE seq = ?`, d.seq); err != nil || !taken {
			return err
		}
		_, err := st.q.ExecContext(ctx, `
			UPDATE stripe_objects SET doc = json_set(doc, '$.pending_webhooks',
				(SELECT min(count(*), 1) FROM stripe_deliveries WHERE event = stripe_objects.id))
			WHERE kind = 'event' AND id = ?`, d.event)
		return err
	})
}
