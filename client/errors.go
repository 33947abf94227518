package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

// Error is an error response of the service, with a status of 300 or above.
type Error struct {
	Status int
	// Code identifies the error. It is empty if the status is sufficient.
	Code Code
	// Message is a message for people, in the language of [WithLocale].
	Message string
	// Fields maps invalid fields to their messages.
	Fields map[string][]string
	// RetryAfter is how long to wait before the next request, or 0 if unknown.
	RetryAfter time.Duration
	// RequestID identifies the request in the service's log.
	RequestID string
	// Body is the response body. Some errors have additional fields (missing_fields, violations,
	// …).
	Body []byte
}

// Error returns the status, code, message and fields.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tenantry: %d", e.Status)
	if e.Code != "" {
		b.WriteString(" " + string(e.Code))
	}
	b.WriteString(": " + e.Message)
	names := make([]string, 0, len(e.Fields))
	for name := range e.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "; %s: %s", name, strings.Join(e.Fields[name], " "))
	}
	return b.String()
}

// Is reports whether target is the error's [Code].
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code != "" && e.Code == code
}

// StatusOf returns the status of the error response that err is or wraps. It returns 0 for other
// errors.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// refusal converts a response to an Error and closes its body.
func refusal(resp *http.Response) *Error {
	e := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), RetryAfter: retryAfter(resp.Header)}
	e.Body, _ = api.ReadBody(resp) // a partial body is more useful than the read error
	var told struct {
		Message string              `json:"message"`
		Code    Code                `json:"code"`
		Errors  map[string][]string `json:"errors"`
	}
	if err := json.Unmarshal(e.Body, &told); err == nil {
		e.Message, e.Code, e.Fields = told.Message, told.Code, told.Errors
	}
	if e.Message == "" {
		e.Message = http.StatusText(e.Status)
	}
	return e
}

// retryAfter parses the Retry-After header, which the service sends in seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
