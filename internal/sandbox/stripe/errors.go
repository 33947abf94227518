package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// apiError is a refusal in Stripe's wire format. It is the only kind of error
// that a client gets to see; any other one is answered as an api_error.
type apiError struct {
	Type        string `json:"type"`
	Code        string `json:"code,omitempty"`
	DeclineCode string `json:"decline_code,omitempty"`
	DocURL      string `json:"doc_url,omitempty"`
	Message     string `json:"message"`
	Param       string `json:"param,omitempty"`

	status int `json:"-"`
	// unstarted marks a refusal that came before the endpoint began its work.
	// Such an answer is not kept for the request's idempotency key.
	unstarted bool `json:"-"`
}

func (e *apiError) Error() string {
	return fmt.Sprintf("stripe: %s %s: %s", e.Type, e.Code, e.Message)
}

// body renders the error as the client gets it.
func (e *apiError) body() []byte {
	shown := *e
	if shown.Code != "" {
		shown.DocURL = "https://docs.stripe.com/error-codes#" + strings.ReplaceAll(shown.Code, "_", "-")
	}
	// A struct of strings always marshals.
	body, _ := json.Marshal(struct {
		Error apiError `json:"error"`
	}{shown})
	return body
}

// refuse is an invalid_request_error about param; code may be empty, as Stripe
// leaves it for refusals without a code of their own.
func refuse(param, code, format string, args ...any) *apiError {
	return &apiError{
		Type: "invalid_request_error", Code: code, Param: param,
		Message: fmt.Sprintf(format, args...), status: http.StatusBadRequest,
	}
}

// missing is the refusal of an id that names nothing. One that came in a
// parameter is a 400, one that is the request's own path a 404.
func missing(label, id, param string) *apiError {
	e := refuse(param, "resource_missing", "No such %s: '%s'", label, id)
	if param == "id" {
		e.status = http.StatusNotFound
	}
	return e
}

func unauthenticated(message string) *apiError {
	return &apiError{
		Type: "invalid_request_error", Message: message,
		status: http.StatusUnauthorized, unstarted: true,
	}
}

func idempotencyConflict(format string, args ...any) *apiError {
	return &apiError{
		Type: "idempotency_error", Message: fmt.Sprintf(format, args...),
		status: http.StatusBadRequest, unstarted: true,
	}
}

func internalError() *apiError {
	return &apiError{
		Type: "api_error", Message: "An error occurred in the payment sandbox.",
		status: http.StatusInternalServerError, unstarted: true,
	}
}

func unstarted(e *apiError) *apiError {
	e.unstarted = true
	return e
}
