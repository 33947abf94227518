package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// timeLayout is the API's format of times: UTC with exactly six decimals.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// maxBody is more than any request to the sandbox's own pages has, in bytes.
const maxBody = 64 << 10

// showClock answers GET /sandbox/clock.
func (w *World) showClock(rw http.ResponseWriter, _ *http.Request) {
	writeNow(rw, w.time.clock.Now())
}

// moveClock answers POST /sandbox/clock. A form, which is what the page sends,
// is redirected to the page.
func (w *World) moveClock(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "application/x-www-form-urlencoded":
		advance := r.PostFormValue("advance")
		if _, fields, err := w.apply(r, move{Advance: &advance}); !answerProblem(rw, fields, err) {
			back := "/sandbox"
			if r.PostFormValue("back") == "dashboard" {
				back = "/sandbox/dashboard"
			}
			http.Redirect(rw, r, back, http.StatusSeeOther)
		}
		return
	case kind != "application/json" && r.Header.Get("Content-Type") != "":
		writeJSON(rw, http.StatusUnsupportedMediaType, problem{Message: "The body must be JSON."})
		return
	}
	var m move
	if !readMove(rw, r, &m) {
		return
	}
	if now, fields, err := w.apply(r, m); !answerProblem(rw, fields, err) {
		writeNow(rw, now)
	}
}

// move is a request to move the clock: either by a duration or to a time.
type move struct {
	Advance *string `json:"advance"`
	To      *string `json:"to"`
}

// readMove reads a JSON body. If it cannot be read, readMove answers the
// request and returns false.
func readMove(rw http.ResponseWriter, r *http.Request, m *move) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		writeJSON(rw, status, problem{Message: "The body cannot be read."})
		return false
	}
	if !json.Valid(body) {
		writeJSON(rw, http.StatusBadRequest, problem{Message: "The body is not JSON."})
		return false
	}
	if err := json.Unmarshal(body, m); err != nil {
		field := "body"
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			field = wrong.Field
		}
		answerProblem(rw, map[string]string{field: "The " + field + " has the wrong type."}, nil)
		return false
	}
	return true
}

// apply moves the clock as asked. fields has the reasons by field why it was
// refused.
func (w *World) apply(r *http.Request, m move) (now time.Time, fields map[string]string, err error) {
	field := "advance"
	switch {
	case (m.Advance == nil) == (m.To == nil):
		const reason = "Give either “advance” or “to”."
		return now, map[string]string{"advance": reason, "to": reason}, nil
	case m.Advance != nil:
		d, readable := parsed(time.ParseDuration(*m.Advance))
		if !readable {
			return now, map[string]string{"advance": "“advance” must be a duration such as 720h or 90m."}, nil
		}
		now, err = w.time.advance(r.Context(), d)
		return outcome(now, field, err)
	}
	field = "to"
	to, readable := parsed(time.Parse(time.RFC3339, *m.To))
	if !readable {
		return now, map[string]string{"to": "“to” must be a time such as 2026-01-31T08:15:30Z."}, nil
	}
	now, err = w.time.advanceTo(r.Context(), to)
	return outcome(now, field, err)
}

// outcome turns the reason why the clock was not moved into a message about the
// field.
func outcome(now time.Time, field string, err error) (time.Time, map[string]string, error) {
	switch {
	case errors.Is(err, errNotAhead):
		return now, map[string]string{field: "“" + field + "” must be ahead: time only moves forward."}, nil
	case errors.Is(err, errTooFar):
		return now, map[string]string{field: "“" + field + "” is too far ahead."}, nil
	}
	return now, nil, err
}

// problem is the body of a refusal.
type problem struct {
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// answerProblem answers with the error or the reasons by field, and reports
// whether there were any.
func answerProblem(rw http.ResponseWriter, fields map[string]string, err error) bool {
	if err != nil {
		writeJSON(rw, http.StatusInternalServerError, problem{Message: err.Error()})
		return true
	}
	if len(fields) == 0 {
		return false
	}
	p := problem{Errors: make(map[string][]string, len(fields))}
	for field, reason := range fields {
		p.Errors[field] = []string{reason}
		p.Message = reason // if there are two, their reasons are the same
	}
	writeJSON(rw, http.StatusUnprocessableEntity, p)
	return true
}

func writeNow(rw http.ResponseWriter, now time.Time) {
	writeJSON(rw, http.StatusOK, map[string]any{"data": map[string]string{"now": now.UTC().Format(timeLayout)}})
}

func writeJSON(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Cache-Control", "no-store")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body)
}

// parsed drops the reason why a text could not be parsed and reports whether it
// could: the answer says what form it must have.
func parsed[T any](v T, err error) (T, bool) { return v, err == nil }
