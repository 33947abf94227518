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

// answerTimeout is how long an answer is waited for, which is longer than the service takes
// for any.
const answerTimeout = 40 * time.Second

// cut is the status of a request without an answer.
const cut = 0

// client makes requests to the service and takes down how they were answered.
type client struct {
	base string
	http *http.Client
	// may has the statuses that a fault may cause besides 503 and no answer at all.
	may []int

	mu      sync.Mutex
	answers map[int]int
	slowest time.Duration // of the refusals with 503
	wrong   []string      // answers that should not have been, some of them
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

// answer is what a request was answered.
type answer struct {
	status int // cut without one
	body   []byte
}

// isOK reports whether the request did what it should.
func (a answer) isOK() bool { return a.status/100 == 2 }

// isRetryable reports whether the request was not understood to fail for good: it may have been
// done or not, and whoever made it tries again.
func (a answer) isRetryable() bool {
	return a.status == cut || a.status == http.StatusServiceUnavailable || a.status == http.StatusBadGateway || a.status == http.StatusTooManyRequests
}

// textAt returns a text of the answer by its keys.
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

// do makes a request, body nil for none. expected are the statuses of refusals that are
// right here; whatever else is not a success is taken down as wrong.
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

// note takes an answer down.
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

// recordFault takes down that something was not as it should be.
func (c *client) recordFault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault(fmt.Sprintf(format, args...))
}

// fault is complain for a caller who holds mu.
func (c *client) fault(what string) {
	c.wrongs++
	if len(c.wrong) < 10 {
		c.wrong = append(c.wrong, what[:min(len(what), 400)])
	}
}
