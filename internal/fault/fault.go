// Package fault defines errors that are meant for API clients. Domain packages choose the kind of
// an error, and only package rest maps kinds to HTTP statuses. Any other error is unexpected: rest
// logs it and responds with 500 without its text.
package fault

import (
	"errors"
	"time"
)

// Kind is a class of errors with the same HTTP status.
type Kind uint8

// The kinds, with the status in responses (rules: http#errors).
const (
	Internal        Kind = iota // 500
	Malformed                   // 400: the request is malformed, or a guard rail failed
	Unauthenticated             // 401
	Forbidden                   // 403
	NotFound                    // 404
	Slow                        // 408: the body did not arrive in time
	Conflict                    // 409
	Gone                        // 410
	TooLarge                    // 413
	Unsupported                 // 415: unsupported content type of the body
	CSRF                        // 419
	Invalid                     // 422: validation (Fields) or a domain rule (Code)
	TooMany                     // 429
	Provider                    // 502: the payment provider failed
	Unavailable                 // 503: retry later
)

// Error is an error for the client. Message is a key of the i18n catalogs, and Args fill its
// placeholders. Code is stable and never localized. An Error with Fields is a validation error.
// Extra keys are added to the response body next to message and code.
type Error struct {
	Kind       Kind
	Code       Code
	Message    string
	Args       map[string]any
	Fields     []Field
	Extra      map[string]any
	RetryAfter time.Duration
	cause      error
}

// Field is an invalid field: its dotted path (`prices.0.currency`) and the message key of the
// reason.
type Field struct {
	Path    string
	Message string
	Args    map[string]any
}

// New returns an Error without a code.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// NewCoded returns an Error with a stable code. Its message key is "error." plus the code.
func NewCoded(kind Kind, code Code) *Error {
	return &Error{Kind: kind, Code: code, Message: "error." + string(code)}
}

// OnField returns a validation error for one field.
func OnField(path, message string) *Error {
	return &Error{Kind: Invalid, Fields: []Field{{Path: path, Message: message}}}
}

// With returns a copy with one more key for the response body.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	for k, v := range e.Extra {
		c.Extra[k] = v
	}
	c.Extra[key] = value
	return &c
}

// Wrap returns a copy with a cause for the log.
func (e *Error) Wrap(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns a text for the log and for commands. It is never sent to the client. The text of a
// failed call to the payment provider is its cause.
func (e *Error) Error() string {
	if e.Kind == Provider && e.cause != nil {
		return e.cause.Error()
	}
	s := e.Message
	if len(e.Fields) > 0 {
		s = "invalid " + e.Fields[0].Path + ": " + e.Fields[0].Message
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an Error of the same kind, code and message. Copies made by With and
// Wrap therefore match their sentinel.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return e.Kind == t.Kind && e.Code == t.Code && e.Message == t.Message && len(e.Fields) == 0 && len(t.Fields) == 0
}

// Fields collects invalid fields, so that all of them are reported together.
type Fields []Field

// Add adds an invalid field.
func (f *Fields) Add(path, message string) { *f = append(*f, Field{Path: path, Message: message}) }

// Join returns one validation error with the fields of all errors, so that the client sees all of
// them. If an error is not a validation error, Join returns the first such error. It returns nil if
// all errors are nil.
func Join(errs ...error) error {
	var broken Fields
	for _, err := range errs {
		var refused *Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && len(refused.Fields) > 0:
			broken = append(broken, refused.Fields...)
		default:
			return err
		}
	}
	return broken.Err()
}

// Err returns a validation error with the fields, or nil if f is empty.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Fields: f}
}
