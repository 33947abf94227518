// Package api has the operations and types of the API, made from its description. Programs use
// it through the package client, whose Client has all methods of this one: client.New says who
// calls, tries again where that is safe, and makes errors of refusals.
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

// MaxBody is how many bytes of an answer are read, 32 MiB. Files (Client.DownloadInvoice,
// Client.ExportUsage) are handed on without a limit.
const MaxBody = 32 << 20

// ErrTooLarge is returned for an answer of more than [MaxBody] bytes.
var ErrTooLarge = errors.New("tenantry: the answer is too large")

// Client has a method for each operation of the API.
type Client struct {
	// Send makes a request and returns an answer with a status below 300, or an error. The path
	// is escaped and begins with a slash.
	Send func(ctx context.Context, r Request) (*http.Response, error)
}

// Request is what an operation sends.
type Request struct {
	Method, Path string
	Query        url.Values
	ContentType  string // empty without a body
	// Body is the whole body, so that the request can be repeated; nil where there is none or
	// Stream is set.
	Body []byte
	// Stream is a body that can be read once.
	Stream io.Reader
	// Idempotent says that nothing happens twice when the request is made twice.
	Idempotent bool
}

// Date is a day, such as 2026-01-31.
type Date string

// Time returns the first moment of the day in UTC.
func (d Date) Time() (time.Time, error) { return time.Parse(time.DateOnly, string(d)) }

// call is what the generated methods fill in.
type call struct {
	method, path string
	query        url.Values
	body         any       // is sent as JSON
	raw          io.Reader // is sent as it is
	contentType  string    // of raw
}

func (c *Client) send(ctx context.Context, in call) (*http.Response, error) {
	if parts := strings.Split(in.path, "/")[1:]; slices.ContainsFunc(parts, hollow) {
		return nil, fmt.Errorf("tenantry: %s %s: a parameter of the path is empty or consists of dots", in.method, in.path)
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

// idempotent reports whether nothing happens twice when a request is made twice.
func idempotent(method string, body any) bool {
	switch body := body.(type) {
	case UsageEventInput:
		return body.keyed()
	case RecordUsageBatchRequest:
		return !slices.ContainsFunc(body.Events, func(e UsageEventInput) bool { return !e.keyed() })
	}
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodPut || method == http.MethodDelete
}

// keyed reports whether the event has an idempotency key.
func (e UsageEventInput) keyed() bool {
	key, err := e.IdempotencyKey.Get()
	return err == nil && key != ""
}

// decode reads the answer of an operation. An answer without a body gives a zero value.
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
		return nil, fmt.Errorf("tenantry: the answer cannot be read: %w", err)
	}
	return out, nil
}

// done reads an answer that has nothing in it, so that the connection can be used again.
func done(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	_, err = ReadBody(resp)
	return err
}

// ReadBody reads the body of an answer, up to [MaxBody], and closes it.
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

// hollow reports whether a part of a path would lead to another route.
func hollow(part string) bool { return strings.Trim(part, ".") == "" }

// segment is a parameter as a part of a path.
func segment(v any) string { return url.PathEscape(text(v)) }

// text is a parameter as it stands in an address.
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
