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

// Error is a refusal by the service, or an answer with a status from 300 on.
type Error struct {
	Status int
	// Code is for programs; empty where the status says it all.
	Code Code
	// Message is for people, in the language of [WithLocale].
	Message string
	// Fields are the messages of invalid fields, by their names.
	Fields map[string][]string
	// RetryAfter is how long to wait before the next request; 0 where nothing was said.
	RetryAfter time.Duration
	// RequestID finds the request in the service's log.
	RequestID string
	// Body is the answer, for what else some refusals say (missing_fields, violations, …).
	Body []byte
}

// Error returns the message with the status and, where there are any, code and fields.
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

// Is reports whether the refusal has the [Code] that target is.
func (e *Error) Is(target error) bool {
	code, ok := target.(Code)
	return ok && code != "" && e.Code == code
}

// StatusOf returns the status of the refusal that err is or wraps, 0 for other errors.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// refusal makes an Error of an answer, and closes its body.
func refusal(resp *http.Response) *Error {
	e := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-Id"), RetryAfter: retryAfter(resp.Header)}
	e.Body, _ = api.ReadBody(resp) // what can be read says more than that the rest could not
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

// retryAfter reads the header, which the service writes in seconds.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
