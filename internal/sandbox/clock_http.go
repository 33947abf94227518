package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// timeLayout is the API's: UTC with exactly six fraction digits.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// maxBody is beyond what any request of the sandbox's own pages has.
const maxBody = 64 << 10

// showClock answers GET /sandbox/clock.
func (w *World) showClock(rw http.ResponseWriter, _ *http.Request) {
	writeNow(rw, w.time.clock.Now())
}

// moveClock answers POST /sandbox/clock. A form, which is how the page asks, is
// led back to the page.
func (w *World) moveClock(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "application/x-www-form-urlencoded":
		advance := r.PostFormValue("advance")
		if _, fields, err := w.apply(r, move{Advance: &advance}); !answerProblem(rw, fields, err) {
			http.Redirect(rw, r, "/sandbox", http.StatusSeeOther)
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

// move is what the clock is asked to do.
type move struct {
	Advance *string `json:"advance"`
	To      *string `json:"to"`
}

// readMove reads a JSON body, or answers why it cannot.
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

// apply does what was asked; fields says what is wrong with it.
func (w *World) apply(r *http.Request, m move) (now time.Time, fields map[string]string, err error) {
	field := "advance"
	switch {
	case (m.Advance == nil) == (m.To == nil):
		const reason = "Give either advance or to."
		return now, map[string]string{"advance": reason, "to": reason}, nil
	case m.Advance != nil:
		d, readable := parsed(time.ParseDuration(*m.Advance))
		if !readable {
			return now, map[string]string{"advance": "The advance must be a duration such as 720h or 90m."}, nil
		}
		now, err = w.time.advance(r.Context(), d)
		return outcome(now, field, err)
	}
	field = "to"
	to, readable := parsed(time.Parse(time.RFC3339, *m.To))
	if !readable {
		return now, map[string]string{"to": "The to must be a time such as 2026-01-31T08:15:30Z."}, nil
	}
	now, err = w.time.advanceTo(r.Context(), to)
	return outcome(now, field, err)
}

func outcome(now time.Time, field string, err error) (time.Time, map[string]string, error) {
	switch {
	case errors.Is(err, errNotAhead):
		return now, map[string]string{field: "The " + field + " must be ahead: time only moves forward."}, nil
	case errors.Is(err, errTooFar):
		return now, map[string]string{field: "The " + field + " is too far ahead."}, nil
	}
	return now, nil, err
}

// problem is the body of a refusal.
type problem struct {
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// answerProblem answers what is wrong, if anything is.
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
		p.Message = reason // of two fields both say the same
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

// parsed tells whether a text could be read; why not does not matter to whoever
// is told the right form.
func parsed[T any](v T, err error) (T, bool) { return v, err == nil }
