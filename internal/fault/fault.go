// Package fault has the error type of refusals: answers that refuse a caller. Domains
// know kinds of refusals; only package rest knows the status of each kind. Any other
// error is an accident, which rest logs and answers with 500, without its text.
package fault

import (
	"errors"
	"time"
)

// Kind is a sort of refusal.
type Kind uint8

// The kinds, with the status that rest answers (rules: http#errors).
const (
	Internal        Kind = iota // 500
	Malformed                   // 400: the request cannot be read, or a guard rail failed
	Unauthenticated             // 401
	Forbidden                   // 403
	NotFound                    // 404
	Slow                        // 408: the body did not arrive in time
	Conflict                    // 409
	Gone                        // 410
	TooLarge                    // 413
	Unsupported                 // 415: the body's content type
	CSRF                        // 419
	Invalid                     // 422: validation (Fields) or a domain rule (Code)
	TooMany                     // 429
	Provider                    // 502: the payment provider failed
	Unavailable                 // 503: come back later
)

// Error is a refusal. Message is a key of the i18n catalogs, Args fill its
// placeholders. Code is stable and never localized. Fields turn it into a
// validation answer. Extra keys are added to the body beside message and code.
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

// Field is one broken field: its dotted path (`prices.0.currency`) and the
// message key that says why.
type Field struct {
	Path    string
	Message string
	Args    map[string]any
}

// New makes a refusal without a code.
func New(kind Kind, message string) *Error { return &Error{Kind: kind, Message: message} }

// NewCoded makes a refusal with a stable code; its message key is "error." plus
// the code unless replaced.
func NewCoded(kind Kind, code Code) *Error {
	return &Error{Kind: kind, Code: code, Message: "error." + string(code)}
}

// OnField makes a validation refusal of one field.
func OnField(path, message string) *Error {
	return &Error{Kind: Invalid, Fields: []Field{{Path: path, Message: message}}}
}

// With returns a copy with one more key for the answer's body.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	for k, v := range e.Extra {
		c.Extra[k] = v
	}
	c.Extra[key] = value
	return &c
}

// Wrap returns a copy that carries its cause, for the log.
func (e *Error) Wrap(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns a text for the log, never for the caller.
func (e *Error) Error() string {
	s := e.Message
	if len(e.Fields) > 0 {
		s = "invalid " + e.Fields[0].Path + ": " + e.Fields[0].Message
	}
	if e.cause != nil {
		s += ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the cause, if any.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is the same refusal: same kind, code and message. So
// copies made by With and Wrap equal their sentinel.
func (e *Error) Is(target error) bool {
	var t *Error
	if !errors.As(target, &t) {
		return false
	}
	return e.Kind == t.Kind && e.Code == t.Code && e.Message == t.Message && len(e.Fields) == 0 && len(t.Fields) == 0
}

// Fields collects broken fields, so that all are reported at once.
type Fields []Field

// Add adds a broken field.
func (f *Fields) Add(path, message string) { *f = append(*f, Field{Path: path, Message: message}) }

// Join returns one refusal with the broken fields of all errors, so that a caller learns of
// them at once. It returns the first error that is not about fields instead, and nil if all
// errors are nil.
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

// Err returns a refusal with the fields, nil if there are none.
func (f Fields) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Fields: f}
}
