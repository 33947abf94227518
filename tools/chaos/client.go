//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// answerTimeout is the timeout of requests. It is longer than all timeouts of the service.
const answerTimeout = 40 * time.Second

// cut is the status of a request without a response.
const cut = 0

// client sends requests to the service and counts the responses by status.
type client struct {
	base string
	http *http.Client
	// may lists the statuses that a fault can cause, besides 503 and a missing response.
	may []int

	mu      sync.Mutex
	answers map[int]int
	slowest time.Duration // of responses with 503
	wrong   []string      // examples of unexpected responses
	wrongs  int
}

func newClient(address string) *client {
	return &client{
		base:    "http://" + address,
		http:    &http.Client{Timeout: answerTimeout, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		answers: map[int]int{},
	}
}

// fields is the body of a request.
type fields map[string]any

// answer is a response.
type answer struct {
	status int // cut if there is no response
	body   []byte
}

// isOK reports whether the request succeeded.
func (a answer) isOK() bool { return a.status/100 == 2 }

// isRetryable reports whether the outcome of the request is unknown or temporary, so that the
// caller has to retry it.
func (a answer) isRetryable() bool {
	return a.status == cut || a.status == http.StatusServiceUnavailable || a.status == http.StatusBadGateway || a.status == http.StatusTooManyRequests
}

// textAt returns a string of the response at a path of keys.
func (a answer) textAt(keys ...string) string {
	var v any
	if json.Unmarshal(a.body, &v) != nil {
		return ""
	}
	for _, key := range keys {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			if i, err := strconv.Atoi(key); err == nil && i < len(in) {
				v = in[i]
			} else {
				return ""
			}
		default:
			return ""
		}
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return ""
	}
}

// do sends a request. body can be nil. expected are statuses of errors that are acceptable for this
// request; do records all other errors as unexpected.
func (c *client) do(ctx context.Context, method, path, token string, body any, expected ...int) answer {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) //nolint:errchkjson // maps of texts and numbers
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return answer{}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	began := clock.System().Now()
	resp, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			c.note(method+" "+path, answer{}, "", clock.System().Now().Sub(began), expected)
		}
		return answer{}
	}
	a := answer{status: resp.StatusCode}
	a.body, err = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.Header.Get(cutHeader) != "" {
		a = answer{}
	}
	if ctx.Err() == nil || a.status != cut {
		c.note(method+" "+path, a, resp.Header.Get("Retry-After"), clock.System().Now().Sub(began), expected)
	}
	return a
}

// note records a response.
func (c *client) note(what string, a answer, retryAfter string, took time.Duration, expected []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[a.status]++
	reason := ""
	switch {
	case a.isOK() || a.status == cut && took < c.http.Timeout:
	case a.status == cut:
		reason = "no answer"
	case a.status == http.StatusServiceUnavailable:
		c.slowest = max(c.slowest, took)
		if seconds, err := strconv.Atoi(retryAfter); err != nil || seconds < 1 {
			reason = "without Retry-After"
		} else if took > maxRefusal {
			reason = "too late"
		}
	case !slices.Contains(expected, a.status) && !slices.Contains(c.may, a.status):
		reason = "not expected"
	}
	if reason != "" {
		c.fault(fmt.Sprintf("%s: %d %s after %s: %s", what, a.status, reason, took.Round(time.Millisecond), strings.TrimSpace(string(a.body))))
	}
}

// recordFault records an unexpected behavior.
func (c *client) recordFault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault(fmt.Sprintf(format, args...))
}

// fault is like recordFault, but the caller holds mu.
func (c *client) fault(what string) {
	c.wrongs++
	if len(c.wrong) < 10 {
		c.wrong = append(c.wrong, what[:min(len(what), 400)])
	}
}
