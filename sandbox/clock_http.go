package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/tenantry/tenantry/sandbox/theme"
)

// timeLayout is the API's format of times: UTC with exactly six decimals.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// maxBody is the maximum size of a request body, in bytes.
const maxBody = 64 << 10

// clockHandler serves the clock as a page and as JSON.
type clockHandler struct {
	*World

	page  *template.Template
	alone bool // whether the provider runs without the service
}

// show responds to GET /sandbox/clock with the page for browsers and JSON for other clients.
func (c clockHandler) show(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Vary", "Accept")
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		c.showPage(rw, r, http.StatusOK, "")
		return
	}
	writeNow(rw, c.time.clock.Now())
}

// move handles POST /sandbox/clock. Requests of the page's form are redirected to the referring
// page.
func (c clockHandler) move(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case kind == "application/x-www-form-urlencoded":
		c.moveByForm(rw, r)
		return
	case kind != "application/json" && r.Header.Get("Content-Type") != "":
		writeJSON(rw, http.StatusUnsupportedMediaType, problem{Message: "The body must be JSON."})
		return
	}
	var m move
	if !readMove(rw, r, &m) {
		return
	}
	if now, fields, err := c.apply(r, m); !answerProblem(rw, fields, err) {
		writeNow(rw, now)
	}
}

// month is the form value that moves the clock by a calendar month.
const month = "1mo"

// moveByForm moves the clock and redirects to the referring page. It shows errors on the clock's
// page.
func (c clockHandler) moveByForm(rw http.ResponseWriter, r *http.Request) {
	var m move
	if to := r.PostFormValue("to"); to != "" {
		m.To = &to
	} else if advance := r.PostFormValue("advance"); advance == month {
		to := c.time.clock.Now().AddDate(0, 1, 0).Format(time.RFC3339Nano)
		m.To = &to
	} else {
		m.Advance = &advance
	}
	_, fields, err := c.apply(r, m)
	if err != nil {
		answerProblem(rw, nil, err)
		return
	}
	for _, reason := range fields {
		c.showPage(rw, r, http.StatusUnprocessableEntity, reason)
		return
	}
	back := "/sandbox"
	switch r.PostFormValue("back") {
	case "dashboard":
		back = "/sandbox/dashboard"
	case "clock":
		back = "/sandbox/clock"
	}
	http.Redirect(rw, r, back, http.StatusSeeOther)
}

// shownComing is the maximum number of scheduled actions on the page.
const shownComing = 12

// upcomingAction is a scheduled action on the page.
type upcomingAction struct {
	theme.ScheduledAction
	When theme.Moment
}

// FormValue returns the time of the action in the format of the form.
func (c upcomingAction) FormValue() string { return c.At.UTC().Format(time.RFC3339) }

// clockView is the data of the page's template.
type clockView struct {
	theme.Frame

	Problem, Ahead string
	Next, Renewal  *upcomingAction // the next action; the next end of a period, unless it is the same action
	Coming         []upcomingAction
}

func (c clockHandler) showPage(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	view := clockView{Problem: problem}
	var err error
	var next []theme.ScheduledAction
	if c.access.Coming != nil {
		next, err = c.access.Coming(r.Context(), 4*shownComing)
	}
	now := c.time.clock.Now()
	view.Frame = theme.Frame{Title: "Clock", Here: "Clock", Now: theme.DescribeTime(now, now), Alone: c.alone}
	if ahead := c.time.clock.Offset(); ahead > 0 {
		view.Ahead = describeDuration(ahead)
	}
	for _, one := range next {
		shown := upcomingAction{one, theme.DescribeTime(one.At, now)}
		if one.Renews && view.Renewal == nil && len(view.Coming) > 0 {
			view.Renewal = &shown
		}
		if len(view.Coming) == 0 {
			view.Next = &shown
		}
		view.Coming = append(view.Coming, shown)
	}
	view.Coming = view.Coming[:min(len(view.Coming), shownComing)]
	if err == nil {
		err = theme.Write(rw, status, c.page, "'self'", view)
	}
	if err != nil {
		answerProblem(rw, nil, err)
	}
}

// describeDuration formats a duration in the largest unit that fits at least twice.
func describeDuration(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{365 * 24 * time.Hour, "years"}, {30 * 24 * time.Hour, "months"}, {24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}} {
		if n := d / unit.length; n >= 2 {
			return fmt.Sprintf("about %d %s", n, unit.name)
		}
	}
	return "a moment"
}

// move is a request to move the clock, either by a duration or to a time.
type move struct {
	Advance *string `json:"advance"`
	To      *string `json:"to"`
}

// readMove reads a JSON body. If the body is invalid, readMove writes an error response and returns
// false.
func readMove(rw http.ResponseWriter, r *http.Request, m *move) bool {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		status := http.StatusBadRequest
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		writeJSON(rw, status, problem{Message: "The body is unreadable."})
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

// apply moves the clock. If the request is invalid, fields maps fields to error messages.
func (w *World) apply(r *http.Request, m move) (now time.Time, fields map[string]string, err error) {
	field := "advance"
	switch {
	case (m.Advance == nil) == (m.To == nil):
		const reason = "Specify either “advance” or “to”."
		return now, map[string]string{"advance": reason, "to": reason}, nil
	case m.Advance != nil:
		d, readable := ignoreReason(time.ParseDuration(*m.Advance))
		if !readable {
			return now, map[string]string{"advance": "“advance” must be a duration such as 720h or 90m."}, nil
		}
		if err := w.beforeMove(r, d); err != nil {
			return now, nil, err
		}
		now, err = w.time.advance(r.Context(), d)
		return outcome(now, field, err)
	}
	field = "to"
	to, readable := ignoreReason(time.Parse(time.RFC3339, *m.To))
	if !readable {
		return now, map[string]string{"to": "“to” must be a time such as 2026-01-31T08:15:30Z."}, nil
	}
	if err := w.beforeMove(r, to.Sub(w.time.clock.Now())); err != nil {
		return now, nil, err
	}
	now, err = w.time.advanceTo(r.Context(), to)
	return outcome(now, field, err)
}

// beforeMove notifies the service that the clock is about to move.
func (w *World) beforeMove(r *http.Request, d time.Duration) error {
	if w.access.BeforeMove == nil || d <= 0 {
		return nil
	}
	return w.access.BeforeMove(r, d)
}

// outcome converts the error of a move into a message for the field.
func outcome(now time.Time, field string, err error) (time.Time, map[string]string, error) {
	switch {
	case errors.Is(err, errNotAhead):
		return now, map[string]string{field: "“" + field + "” must be in the future: time only moves forward."}, nil
	case errors.Is(err, errTooFar):
		return now, map[string]string{field: "“" + field + "” is too far in the future."}, nil
	}
	return now, nil, err
}

// problem is the body of an error response.
type problem struct {
	Message string              `json:"message"`
	Errors  map[string][]string `json:"errors,omitempty"`
}

// answerProblem writes the response for an error or for invalid fields. It reports whether it wrote
// a response.
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
		p.Message = reason // two invalid fields have the same reason
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

// ignoreReason replaces the parse error by a boolean, because the response describes the expected
// format instead.
func ignoreReason[T any](v T, err error) (T, bool) { return v, err == nil }
