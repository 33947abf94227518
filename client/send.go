package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

const (
	defaultAttempts = 4
	firstPause      = 200 * time.Millisecond
	longestPause    = 5 * time.Second
)

// send sends a request, retries it if that is safe and useful, and returns a response with a status
// below 300.
func (c *Client) send(ctx context.Context, r api.Request) (*http.Response, error) {
	var renewed bool
	for attempt := 1; ; attempt++ {
		token, err := c.credentials.token(ctx, c)
		if err != nil {
			return nil, err
		}
		resp, err := c.sendOnce(ctx, r, token)
		if err == nil && resp.StatusCode < http.StatusMultipleChoices {
			return resp, nil
		}
		if err == nil {
			err = refusal(resp)
		}
		if StatusOf(err) == http.StatusUnauthorized && token != "" && !renewed && r.Stream == nil {
			renewed = true
			if again, failed := c.credentials.renew(ctx, c, token); failed != nil {
				return nil, failed
			} else if again {
				attempt--
				continue
			}
		}
		if attempt >= c.attempts || r.Stream != nil || !repeatable(err, r.Idempotent) || ctx.Err() != nil {
			return nil, err
		}
		if !sleep(ctx, c.wait(attempt, err)) {
			return nil, err
		}
	}
}

// sendOnce sends a request once.
func (c *Client) sendOnce(ctx context.Context, in api.Request, token string) (*http.Response, error) {
	address := strings.TrimRight(c.base.String(), "/") + in.Path
	if len(in.Query) > 0 {
		address += "?" + in.Query.Encode()
	}
	var body io.Reader = http.NoBody
	switch {
	case in.Stream != nil:
		body = in.Stream
	case in.Body != nil:
		body = bytes.NewReader(in.Body)
	}
	r, err := http.NewRequestWithContext(ctx, in.Method, address, body)
	if err != nil {
		return nil, fmt.Errorf("tenantry: %w", err)
	}
	r.Header.Set("User-Agent", c.userAgent)
	if in.ContentType != "" {
		r.Header.Set("Content-Type", in.ContentType)
	}
	if c.locale != "" {
		r.Header.Set("Accept-Language", c.locale)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("tenantry: %w", err)
	}
	return resp, nil
}

// repeatable reports whether a request that failed with err can be retried. idempotent means that
// sending the request twice is safe.
func repeatable(err error, idempotent bool) bool {
	if e, ok := errors.AsType[*Error](err); ok {
		switch e.Status {
		case http.StatusTooManyRequests:
			return e.RetryAfter > 0 && e.Code == ""
		case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return idempotent
		}
		return false
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return true // the request was not sent
	}
	return idempotent
}

// wait returns the delay before the next attempt.
func (c *Client) wait(attempt int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return c.pause(attempt)
}

// backOff returns a random delay between half of a limit and the limit, which doubles with each
// attempt.
func backOff(attempt int) time.Duration {
	limit := min(firstPause<<min(attempt-1, 10), longestPause)
	return limit/2 + rand.N(limit/2) //nolint:gosec // nothing secret
}

// sleep waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
