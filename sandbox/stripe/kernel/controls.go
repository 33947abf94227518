package kernel

import (
	stdjson "encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// Controls are the sandbox's own endpoints, next to Stripe's. They follow the conventions of the
// service's API and, like all of the sandbox, need no key.

// Problem is the body of an error response of a control.
type Problem struct {
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// ReadControl reads a JSON body into v. Fields that the body omits keep their values. Fields that v
// does not have are refused. If the body is invalid, ReadControl writes an error response and
// returns false.
func ReadControl(w http.ResponseWriter, r *http.Request, v any) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" && r.Header.Get("Content-Type") != "" {
		WriteControl(w, http.StatusUnsupportedMediaType, Problem{Message: "The body must be JSON."})
		return false
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, form.MaxBody))
	if err != nil {
		WriteControl(w, http.StatusRequestEntityTooLarge, Problem{Message: "The body is unreadable."})
		return false
	}
	err = json.Unmarshal(body, v, json.RejectUnknownMembers(true))
	wrong, semantic := errors.AsType[*json.SemanticError](err)
	switch {
	case err == nil:
		return true
	case !semantic:
		WriteControl(w, http.StatusBadRequest, Problem{Message: "The body is not JSON."})
	case errors.Is(err, json.ErrUnknownName):
		RefuseControl(w, map[string]string{fieldName(wrong): "There is no " + fieldName(wrong) + " here."})
	default:
		RefuseControl(w, map[string]string{fieldName(wrong): "The " + fieldName(wrong) + " has the wrong type."})
	}
	return false
}

// fieldName returns the path of the invalid field, as in webhooks.drop.
func fieldName(e *json.SemanticError) string {
	name := strings.ReplaceAll(strings.TrimPrefix(string(e.JSONPointer), "/"), "/", ".")
	if name == "" {
		return "body"
	}
	return name
}

// RefuseControl responds with 422 and the error messages by field.
func RefuseControl(w http.ResponseWriter, fields map[string]string) {
	p := Problem{Message: "The given data was invalid.", Errors: make(map[string][]string, len(fields))}
	for field, reason := range fields {
		p.Errors[field] = []string{reason}
		if len(fields) == 1 {
			p.Message = reason
		}
	}
	WriteControl(w, http.StatusUnprocessableEntity, p)
}

// FailControl logs the error and responds with 500.
func FailControl(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	log.ErrorContext(r.Context(), "stripe sandbox: control request failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	WriteControl(w, http.StatusInternalServerError, Problem{Message: "Something went wrong in the payment sandbox."})
}

// WriteControl writes a JSON response.
func WriteControl(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = stdjson.NewEncoder(w).Encode(body) // an error means that the client has disconnected
}

// Data is the body of a control's response.
type Data struct {
	Data any `json:"data"`
}
