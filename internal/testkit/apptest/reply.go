package apptest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Object is a JSON object.
type Object = map[string]any

// NoSuchID is a valid id that no object has.
const NoSuchID = "01990000-0000-7000-8000-000000000000"

// Reply is a response with its body. Its methods with the prefix Want fail the test.
type Reply struct {
	T      testing.TB
	Status int
	Header http.Header
	Text   string
	Body   Object // the decoded Text, if it is a JSON object

	what string // name of the reply in failures
}

// As sets the name of the reply in failures, such as the name of a test case. The default is the
// method and the path.
func (a Reply) As(what string) Reply {
	a.what = what
	return a
}

// Want ends the test unless the status matches.
func (a Reply) Want(status int) Reply {
	a.T.Helper()
	if a.Status != status {
		a.T.Fatalf("%s: status %d, want %d: %s", a.what, a.Status, status, a.Text)
	}
	return a
}

// WantAt checks the value at a path, see [Reply.At].
func (a Reply) WantAt(path string, want any) Reply {
	a.T.Helper()
	if diff := cmp.Diff(want, a.At(path)); diff != "" {
		a.T.Errorf("%s: %s: %s", a.what, path, diff)
	}
	return a
}

// WantRefused checks for an error with a status, a message and a code ("" for no code).
func (a Reply) WantRefused(status int, code string) {
	a.T.Helper()
	if got, _ := a.At("code").(string); a.Status != status || got != code || a.At("message") == nil {
		a.T.Errorf("%s: %d %s, want %d with code %q", a.what, a.Status, a.Text, status, code)
	}
}

// WantInvalid checks for status 422 with exactly these invalid fields.
func (a Reply) WantInvalid(fields ...string) {
	a.T.Helper()
	errs, _ := a.At("errors").(Object)
	ok := a.Status == http.StatusUnprocessableEntity && len(errs) == len(fields)
	for _, field := range fields {
		ok = ok && errs[field] != nil
	}
	if !ok {
		a.T.Errorf("%s: %d %s, want 422 on %q alone", a.what, a.Status, a.Text, fields)
	}
}

// At returns the value at a path such as data.plan.name or data.0.code, or nil if there is none.
func (a Reply) At(path string) any {
	var v any = a.Body
	for key := range strings.SplitSeq(path, ".") {
		switch node := v.(type) {
		case Object:
			v = node[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}

// Str returns the text at a path. It ends the test if there is none.
func (a Reply) Str(path string) string {
	a.T.Helper()
	s, ok := a.At(path).(string)
	if !ok {
		a.T.Fatalf("%s: %s is %v in %s", a.what, path, a.At(path), a.Text)
	}
	return s
}

// TimeAt returns the time at a path. It must be in UTC with microseconds.
func (a Reply) TimeAt(path string) time.Time {
	a.T.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000000Z", a.Str(path))
	if err != nil {
		a.T.Fatal(err)
	}
	return at
}

// Column returns the value of a key in every entry of the list at data.
func (a Reply) Column(key string) []any {
	a.T.Helper()
	list, ok := a.At("data").([]any)
	if !ok {
		a.T.Fatalf("%s: no list in %s", a.what, a.Text)
	}
	values := make([]any, len(list))
	for i, entry := range list {
		values[i] = entry.(Object)[key]
	}
	return values
}

// Actions returns the actions in a page of the audit log.
func (a Reply) Actions() []string {
	a.T.Helper()
	actions := []string{}
	for _, action := range a.Want(200).Column("action") {
		actions = append(actions, action.(string))
	}
	return actions
}

// IDText formats an id that is a number in JSON.
func IDText(n float64) string { return strconv.FormatInt(int64(n), 10) }
