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

// send makes a request, again where that is safe and may help, and returns an answer with a
// status below 300.
func (c *Client) send(ctx context.Context, r api.Request) (*http.Response, error) {
	var renewed bool
	for attempt := 1; ; attempt++ {
		token, err := c.credentials.token(ctx, c)
		if err != nil {
			return nil, err
		}
		resp, err := c.once(ctx, r, token)
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

// once makes a request once.
func (c *Client) once(ctx context.Context, in api.Request, token string) (*http.Response, error) {
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

// repeatable reports whether a request that ended in err may be made again. idempotent says that
// nothing happens twice then, whatever became of it.
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
		return true // nothing was sent
	}
	return idempotent
}

// wait is how long to wait after an attempt that ended in err.
func (c *Client) wait(attempt int, err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok && e.RetryAfter > 0 {
		return e.RetryAfter
	}
	return c.pause(attempt)
}

// backOff is a random time, between half of a limit that doubles with each attempt and all of it.
func backOff(attempt int) time.Duration {
	limit := min(firstPause<<min(attempt-1, 10), longestPause)
	return limit/2 + rand.N(limit/2) //nolint:gosec // nothing secret
}

// sleep waits, and reports whether ctx goes on for that long.
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
