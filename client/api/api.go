// Package api contains the operations and types of the API, generated from its description. Use it
// through package client, whose Client has all methods of this package's Client. client.New
// configures authentication, retries requests if that is safe, and converts error responses to
// errors.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxBody is the maximum size of a response body, 32 MiB. Files (Client.DownloadInvoice,
// Client.ExportUsage) are streamed without a limit.
const MaxBody = 32 << 20

// ErrTooLarge is returned if a response is larger than [MaxBody] bytes.
var ErrTooLarge = errors.New("tenantry: the response is too large")

// Client has a method for each operation of the API.
type Client struct {
	// Send sends a request and returns a response with a status below 300, or an error. The path is
	// escaped and starts with a slash.
	Send func(ctx context.Context, r Request) (*http.Response, error)
}

// Request is the HTTP request of an operation.
type Request struct {
	Method, Path string
	Query        url.Values
	ContentType  string // empty without a body
	// Body is the complete body, so that the request can be retried. It is nil without a body, or if
	// Stream is set.
	Body []byte
	// Stream is a body that can be read only once.
	Stream io.Reader
	// Idempotent means that sending the request twice has the same effect as sending it once.
	Idempotent bool
}

// Date is a date, such as 2026-01-31.
type Date string

// Time returns the start of the day in UTC.
func (d Date) Time() (time.Time, error) { return time.Parse(time.DateOnly, string(d)) }

// call contains the inputs of a generated method.
type call struct {
	method, path string
	query        url.Values
	body         any       // sent as JSON
	raw          io.Reader // sent unchanged
	contentType  string    // of raw
}

func (c *Client) send(ctx context.Context, in call) (*http.Response, error) {
	if parts := strings.Split(in.path, "/")[1:]; slices.ContainsFunc(parts, isEmptySegment) {
		return nil, fmt.Errorf("tenantry: %s %s: a path parameter is empty or consists of dots", in.method, in.path)
	}
	r := Request{
		Method: in.method, Path: in.path, Query: in.query, Stream: in.raw, ContentType: in.contentType,
		Idempotent: idempotent(in.method, in.body),
	}
	if in.body != nil {
		body, err := json.Marshal(in.body)
		if err != nil {
			return nil, fmt.Errorf("tenantry: %s %s: %w", in.method, in.path, err)
		}
		r.Body, r.ContentType = body, "application/json"
	}
	return c.Send(ctx, r)
}

// idempotent reports whether sending a request twice has the same effect as sending it once.
func idempotent(method string, body any) bool {
	switch body := body.(type) {
	case UsageEventInput:
		return body.hasKey()
	case RecordUsageBatchRequest:
		return !slices.ContainsFunc(body.Events, func(e UsageEventInput) bool { return !e.hasKey() })
	}
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPut || method == http.MethodDelete
}

// hasKey reports whether the event has an idempotency key.
func (e UsageEventInput) hasKey() bool {
	key, err := e.IdempotencyKey.Get()
	return err == nil && key != ""
}

// decode decodes the response of an operation. It returns a zero value if the body is empty.
func decode[T any](resp *http.Response, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	body, err := ReadBody(resp)
	if err != nil {
		return nil, err
	}
	out := new(T)
	if len(bytes.TrimSpace(body)) == 0 {
		return out, nil
	}
	if err := json.Unmarshal(body, out); err != nil {
		return nil, fmt.Errorf("tenantry: invalid response: %w", err)
	}
	return out, nil
}

// done reads a response without content, so that the connection can be reused.
func done(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	_, err = ReadBody(resp)
	return err
}

// ReadBody reads and closes the body of a response. It returns [ErrTooLarge] if the body is larger
// than [MaxBody].
func ReadBody(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err == nil && len(body) > MaxBody {
		err = ErrTooLarge
	}
	return body, err
}

// isEmptySegment reports whether a path segment is empty or consists of dots, and would thus change the
// route.
func isEmptySegment(part string) bool { return strings.Trim(part, ".") == "" }

// segment formats a parameter as a path segment.
func segment(v any) string { return url.PathEscape(text(v)) }

// text formats a parameter for a URL.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case bool:
		return strconv.FormatBool(v)
	default:
		return fmt.Sprint(v)
	}
}
