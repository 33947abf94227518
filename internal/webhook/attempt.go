package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// timeout is how long an endpoint may take to answer.
	timeout = 15 * time.Second
	// maxAnswer is how much of an answer is read, in bytes. None of it is kept.
	maxAnswer = 64 << 10
	// maxAttempts is how many attempts of a delivery are remembered, the newest.
	maxAttempts = 50
)

// delays are the times between an attempt and the next, each more or less by a fifth, by
// chance, so that what failed together does not return together.
var delays = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// task is a delivery that this instance holds the lease of.
type task struct {
	delivery uuid.UUID
	event    uuid.UUID
	lease    uuid.UUID
	attempt  int // how many were made since it was begun
	attempts []Attempt
	body     []byte
	endpoint Endpoint
	// destination is the tenant and the host that the attempt counts for.
	destination string
}

// result is what became of a task. One without an attempt was not sent: its endpoint is
// disabled.
type result struct {
	task
	made        bool
	attempt     Attempt
	interrupted bool // the service stops; the attempt does not count
}

func (r result) isOK() bool {
	return r.made && r.attempt.StatusCode != nil && *r.attempt.StatusCode >= 200 && *r.attempt.StatusCode < 300
}

// isGone reports whether the endpoint wants nothing any more.
func (r result) isGone() bool {
	return r.made && r.attempt.StatusCode != nil && *r.attempt.StatusCode == http.StatusGone
}

// nextAttempt returns when the delivery is tried again, nil for never.
func (r result) nextAttempt() *time.Time {
	if r.isOK() || r.isGone() || r.task.attempt >= len(delays) {
		return nil
	}
	delay := delays[r.task.attempt]
	at := r.attempt.At.Add(delay*4/5 + rand.N(delay*2/5)) //nolint:gosec // Chance, not secrecy.
	return &at
}

// attempt sends a delivery. The time that is signed is the machine's: receivers compare it
// with their own, also where the sandbox has moved the service's.
func (d *sender) attempt(ctx context.Context, t task) result {
	now, began := d.svc.deps.Clock.Now(), d.svc.deps.Machine.Now()
	r := result{task: t, made: true, attempt: Attempt{At: now}}
	id, at := t.event.String(), began.Unix()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint.URL, bytes.NewReader(t.body))
	if err != nil {
		r.attempt.Error = new("address_not_allowed")
		return r
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Tenantry-Webhooks/1")
	req.Header["webhook-id"] = []string{id}
	req.Header["webhook-timestamp"] = []string{strconv.FormatInt(at, 10)}
	req.Header["webhook-signature"] = []string{t.endpoint.secrets.sign(id, at, t.body, now)}
	answer, err := d.client.Do(req)
	if err == nil {
		r.attempt.StatusCode = &answer.StatusCode
		_, _ = io.Copy(io.Discard, answer.Body) // the status has said it; what is too long is left
		_ = answer.Body.Close()
	} else {
		r.attempt.Error = new(kindOf(err))
		r.interrupted = ctx.Err() != nil
	}
	r.attempt.DurationMS = d.svc.deps.Machine.Now().Sub(began).Milliseconds()
	return r
}

// kindOf names why there was no answer. The error itself could tell the endpoint's owner of
// a network that only the service can reach.
func kindOf(err error) string {
	var name *net.DNSError
	var broken *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var slow net.Error
	switch {
	case errors.Is(err, safehttp.ErrForbidden), errors.As(err, &name):
		// One error for both: it must not reveal which names exist in the service's network.
		return "address_not_allowed"
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &broken), errors.As(err, &record), errors.As(err, &alert), errors.Is(err, http.ErrSchemeMismatch):
		return "tls_failed"
	}
	var failed *net.OpError
	if errors.As(err, &failed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "connection_failed"
	}
	return "invalid_answer"
}
