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
	// timeout is how long an endpoint can take to respond.
	timeout = 15 * time.Second
	// maxAnswer is how much of a response body is read, in bytes.
	maxAnswer = 64 << 10
	// maxAttempts is how many attempts are stored per delivery; older ones are dropped.
	maxAttempts = 50
)

// delays are the times between consecutive attempts. Each is varied randomly by up to 20 %, so that
// deliveries that failed together are not retried together.
var delays = [...]time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// task is a delivery that this instance leases.
type task struct {
	delivery uuid.UUID
	event    uuid.UUID
	lease    uuid.UUID
	attempt  int // attempts made since the delivery was stored or resent
	attempts []Attempt
	body     []byte
	endpoint Endpoint
	// destination is the tenant and the host whose limit the attempt counts towards.
	destination string
}

// nextNumber returns the number of the next attempt.
func (t task) nextNumber() int {
	if len(t.attempts) == 0 {
		return 1
	}
	return t.attempts[len(t.attempts)-1].Number + 1
}

// result is the result of a task. If made is false, nothing was sent because the endpoint is
// disabled.
type result struct {
	task
	made        bool
	attempt     Attempt
	exchange    *exchange // nil if no request was made
	interrupted bool      // by the shutdown of the service; the attempt does not count
}

func (r result) isOK() bool {
	return r.made && r.attempt.StatusCode != nil && *r.attempt.StatusCode >= 200 && *r.attempt.StatusCode < 300
}

// isGone reports whether the endpoint responded with 410, which stops all deliveries to it.
func (r result) isGone() bool {
	return r.made && r.attempt.StatusCode != nil && *r.attempt.StatusCode == http.StatusGone
}

// nextAttempt returns the time of the next attempt, or nil if no attempt is left.
func (r result) nextAttempt() *time.Time {
	if r.isOK() || r.isGone() || r.task.attempt >= len(delays) {
		return nil
	}
	delay := delays[r.task.attempt]
	at := r.attempt.At.Add(delay*4/5 + rand.N(delay*2/5)) //nolint:gosec // Chance, not secrecy.
	return &at
}

// attempt sends a delivery. The signed time comes from the machine's clock, because receivers
// compare it with their own clocks and the sandbox can move the service's clock.
func (d *sender) attempt(ctx context.Context, t task) result {
	now, began := d.svc.deps.Clock.Now(), d.svc.deps.Machine.Now()
	r := result{task: t, made: true, attempt: Attempt{Number: t.nextNumber(), At: now}}
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
	r.exchange = &exchange{number: r.attempt.Number, url: t.endpoint.URL, requestHeaders: requestHeaders(req.Header)}
	answer, err := d.client.Do(req)
	if err == nil {
		r.attempt.StatusCode = &answer.StatusCode
		if !d.svc.deps.DiscardResponses {
			r.exchange.response = readResponse(answer)
		}
		_, _ = io.Copy(io.Discard, answer.Body) // the rest of a long body is not read
		_ = answer.Body.Close()
	} else {
		r.attempt.Error = new(kindOf(err))
		r.interrupted = ctx.Err() != nil
	}
	r.attempt.DurationMS = d.svc.deps.Machine.Now().Sub(began).Milliseconds()
	return r
}

// kindOf classifies the error of an attempt. The original error is hidden, because it could reveal
// details of the service's internal network to the endpoint's owner.
func kindOf(err error) string {
	var name *net.DNSError
	var broken *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var slow net.Error
	switch {
	case errors.Is(err, safehttp.ErrForbidden), errors.As(err, &name):
		// Unknown names get the same code as forbidden addresses, so that the code does not reveal
		// which names exist in the service's network.
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
