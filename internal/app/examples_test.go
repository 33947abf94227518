package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/handbook"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/rest/reference"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The examples in the reference are recorded from a real run of the story below. With
// TENANTRY_UPDATE set, the test records them again. It does not compare them, because some values
// depend on the date, such as the number of days in a month. The linters check that they are valid.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite, allowEmailCodes)
	made := &recording{start: clock.System().Now(), known: map[string]string{}, examples: map[string]reference.Example{}}
	s.Record(made.add)
	story(s)
	for _, name := range exampled(s) {
		if e := made.examples[name]; e.Request == nil && len(e.Answers) == 0 {
			t.Errorf("the story does not call %s: add it in story_test.go", name)
		}
	}
	if os.Getenv("TENANTRY_UPDATE") != "" {
		made.examples["receiveStripeEvent"] = handbook.Examples()["receiveStripeEvent"] // written by hand
		text, err := json.MarshalIndent(made.examples, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("handbook/examples.json", append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept := handbook.Examples()
	for name := range made.examples {
		if _, ok := kept[name]; !ok {
			t.Errorf("no example of %s: run `make generate`", name)
		}
	}
}

// exampled returns the names of the operations with JSON bodies. It omits the webhook of the
// payment provider, because the provider defines its bodies.
func exampled(s *apptest.Server) []string {
	var names []string
	paths, _ := s.Call("GET", "/openapi.json", "", nil).Want(200).At("paths").(apptest.Object)
	for _, item := range paths {
		for _, op := range item.(apptest.Object) {
			op := op.(apptest.Object)
			body, _ := op["requestBody"].(apptest.Object)
			does := hasJSON(body)
			for status, response := range op["responses"].(apptest.Object) {
				does = does || status < "300" && hasJSON(response.(apptest.Object))
			}
			if name := op["operationId"].(string); does && name != "receiveStripeEvent" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func hasJSON(described apptest.Object) bool {
	content, _ := described["content"].(apptest.Object)
	return content["application/json"] != nil
}

// recording holds the first exchange of each operation and status, with values that differ between
// runs replaced.
type recording struct {
	start    time.Time
	known    map[string]string
	examples map[string]reference.Example
}

func (m *recording) add(e apptest.Exchange) {
	if e.Status >= 400 && e.Status != 409 && e.Status != 422 && e.Status != 429 {
		return
	}
	example, ok := m.examples[e.Operation]
	if !ok {
		example = reference.Example{Answers: map[string]any{}}
	}
	status := strconv.Itoa(e.Status)
	if _, twice := example.Answers[status]; twice {
		return
	}
	if answer := m.stable(e.Answer); answer != nil {
		example.Answers[status] = answer
	}
	if request := m.stable(e.Request); request != nil && e.Status < 300 {
		example.Request = request
	}
	if len(example.Answers) > 0 || example.Request != nil {
		m.examples[e.Operation] = example
	}
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	foreign = regexp.MustCompile(`\b(cus|in|pi|cs_test|cs|price|sub|prod|mtr|si|bps)_[A-Za-z0-9]{6,}`)
	secrets = regexp.MustCompile(`\b(whsec_)[A-Za-z0-9+/=]{20,}|\b(tnk_)?[A-Za-z0-9+=_-]{40,}`)
	moments = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)
	dates   = regexp.MustCompile(`"\d{4}-\d\d-\d\d"`)
	hosts   = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
)

// stable returns a JSON value in which ids, secrets and times are the same in each run. It returns
// nil for an empty text.
func (m *recording) stable(text []byte) any {
	numbered := func(format string) func(string) string {
		return func(found string) string {
			if m.known[found] == "" {
				m.known[found] = fmt.Sprintf(format, len(m.known)+1)
			}
			return m.known[found]
		}
	}
	out := uuids.ReplaceAllStringFunc(string(text), numbered("0199a1b2-0000-7000-8000-%012d"))
	out = foreign.ReplaceAllString(out, "${1}_1Example")
	out = uuids.ReplaceAllStringFunc(out, func(id string) string { return "\x00" + id + "\x00" })
	out = secrets.ReplaceAllStringFunc(out, func(secret string) string {
		found := secrets.FindStringSubmatch(secret)
		prefix := found[1] + found[2]
		return prefix + strings.Repeat("Example0", len(secret))[:len(secret)-len(prefix)]
	})
	out = regexp.MustCompile("\x00").ReplaceAllString(out, "")
	base := time.Date(2026, 1, 15, 9, 30, 0, 0, time.UTC)
	out = moments.ReplaceAllStringFunc(out, func(at string) string {
		moment, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return at
		}
		return base.Add(moment.Sub(m.start).Round(time.Hour)).Format("2006-01-02T15:04:05.000000Z")
	})
	out = dates.ReplaceAllStringFunc(out, func(at string) string {
		day, err := time.Parse(`"2006-01-02"`, at)
		if err != nil {
			return at
		}
		return base.Add(day.Sub(m.start).Round(24 * time.Hour)).Format(`"2006-01-02"`)
	})
	out = hosts.ReplaceAllString(out, "https://api.example.com")
	var value any
	if json.Unmarshal([]byte(out), &value) != nil {
		return nil
	}
	return shortLists(value)
}

// shortLists cuts each list to two entries.
func shortLists(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			value[key] = shortLists(child)
		}
	case []any:
		value = slices.Clone(value[:min(len(value), 2)])
		for i, child := range value {
			value[i] = shortLists(child)
		}
		return value
	}
	return value
}
