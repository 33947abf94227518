package form

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Error is a refusal in Stripe's wire format. It is the only kind of error
// that a client gets to see; any other one is answered as an api_error.
type Error struct {
	Type        string `json:"type"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	DocURL      string `json:"doc_url,omitempty"`
	Message     string `json:"message"`
	Param       string `json:"param,omitempty"`

	Status int `json:"-"`
	// Unstarted marks a refusal that came before the endpoint began its work.
	// Such an answer is not kept for the request's idempotency key.
	Unstarted bool `json:"-"`
}

func (e *Error) Error() string {
	return fmt.Sprintf("stripe: %s %s: %s", e.Type, e.Code, e.Message)
}

// Body renders the error as the client gets it.
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

// Refuse is an invalid_request_error about param; code may be empty, as Stripe
// leaves it for refusals without a code of their own.
func Refuse(param, code, format string, args ...any) *Error {
	return &Error{
		Type: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...), Status: http.StatusBadRequest,
	}
}

// Missing is the refusal of an id that names nothing. One that came in a
// parameter is a 400, one that is the request's own path a 404.
func Missing(label, id, param string) *Error {
	e := Refuse(param, "resource_missing", "No such %s: '%s'", label, id)
	if param == "id" {
		e.Status = http.StatusNotFound
	}
	return e
}

func Unauthenticated(message string) *Error {
	return &Error{
		Type: "invalid_request_error", Message: message,
		Status: http.StatusUnauthorized, Unstarted: true,
	}
}

func IdempotencyConflict(format string, args ...any) *Error {
	return &Error{
		Type: "idempotency_error", Message: fmt.Sprintf(format, args...),
		Status: http.StatusBadRequest, Unstarted: true,
	}
}

func InternalError() *Error {
	return &Error{
		Type: "api_error", Message: "An error occurred in the payment sandbox.",
		Status: http.StatusInternalServerError, Unstarted: true,
	}
}

func Unstarted(e *Error) *Error {
	e.Unstarted = true
	return e
}
