package form

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Error is an error in Stripe's wire format. Clients receive only this kind of error; all other
// errors become an api_error.
type Error struct {
	Type        string `json:"type"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	DocURL      string `json:"doc_url,omitempty"`
	Message     string `json:"message"`
	Param       string `json:"param,omitempty"`

	// Status is the HTTP status of the response.
	Status int `json:"-"`
	// Unstarted marks an error that occurred before the endpoint started its work. Such a response
	// is not stored under the request's idempotency key.
	Unstarted bool `json:"-"`
}

func (e *Error) Error() string {
	return fmt.Sprintf("stripe: %s %s: %s", e.Type, e.Code, e.Message)
}

// Body returns the error as JSON.
func (e *Error) Body() []byte {
	shown := *e
	if shown.Code != "" {
		shown.DocURL = "https://docs.stripe.com/error-codes#" + strings.ReplaceAll(shown.Code, "_", "-")
	}
	// A struct of strings always marshals.
	body, _ := json.Marshal(struct {
		Error Error `json:"error"`
	}{shown})
	return body
}

// Refuse returns an invalid_request_error for a parameter. The code can be empty, as in many of
// Stripe's own errors.
func Refuse(param, code, format string, args ...any) *Error {
	return &Error{
		Type: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest,
	}
}

// NewMissing returns the error for an unknown id: a 404 for the id in the request's path, a 400 for
// an id in any other parameter.
func NewMissing(label, id, param string) *Error {
	e := Refuse(param, "resource_missing", "No such %s: '%s'", label, id)
	if param == "id" {
		e.Status = http.StatusNotFound
	}
	return e
}

// Unauthenticated returns a 401 for a missing or wrong key.
func Unauthenticated(message string) *Error {
	return &Error{
		Type: "invalid_request_error", Message: message,
		Status: http.StatusUnauthorized, Unstarted: true,
	}
}

// IdempotencyConflict returns the error for an idempotency key that was already used for a
// different request.
func IdempotencyConflict(format string, args ...any) *Error {
	return &Error{
		Type: "idempotency_error", Message: fmt.Sprintf(format, args...),
		Status: http.StatusBadRequest, Unstarted: true,
	}
}

// InternalError returns a 500 for a failure of the sandbox itself.
func InternalError() *Error {
	return &Error{
		Type: "api_error", Message: "An error occurred in the payment sandbox.",
		Status: http.StatusInternalServerError, Unstarted: true,
	}
}

// MarkUnstarted marks e as an error that occurred before the endpoint started its work.
func MarkUnstarted(e *Error) *Error {
	e.Unstarted = true
	return e
}
