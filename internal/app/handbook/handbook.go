// Package handbook contains the handwritten parts of the API reference: a name, a text and the
// errors of each operation, and the names of enums. The folder operations has a section for each
// operation.
package handbook

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest/reference"
)

//go:embed operations
var operations embed.FS

// Handbook is the parsed folder operations.
type Handbook struct {
	// Entries are the texts of operations, by method and path.
	Entries map[string]reference.Entry

	tags []reference.Tag
}

// Read parses the folder operations. It panics if a file is invalid, which is a programming error.
func Read() *Handbook {
	h := &Handbook{Entries: map[string]reference.Entry{}}
	files, err := fs.ReadDir(operations, "operations")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		text, err := operations.ReadFile("operations/" + file.Name())
		if err != nil {
			panic(err)
		}
		h.parse(string(text))
	}
	return h
}

// parse reads a file. "# Tag" starts a group, followed by its text. "## name" starts an operation,
// followed by a line with method and path, lines with a status and codes, and a text.
func (h *Handbook) parse(text string) {
	for section := range strings.SplitSeq("\n"+text, "\n#") {
		title, rest, _ := strings.Cut(section, "\n")
		switch {
		case strings.TrimSpace(section) == "":
		case !strings.HasPrefix(title, "#"):
			h.tags = append(h.tags, reference.Tag{Name: strings.TrimSpace(title), Text: strings.TrimSpace(rest)})
		default:
			h.add(strings.TrimSpace(strings.TrimPrefix(title, "#")), rest)
		}
	}
}

// add parses the section of an operation.
func (h *Handbook) add(id, section string) {
	route, rest, _ := strings.Cut(section, "\n")
	e := reference.Entry{ID: id, Tag: h.tags[len(h.tags)-1].Name, Answers: map[int][]string{}}
	for {
		line, after, _ := strings.Cut(rest, "\n")
		if !addAnswer(e.Answers, line) {
			break
		}
		rest = after
	}
	e.Text = strings.TrimSpace(rest)
	if _, twice := h.Entries[route]; twice {
		panic(route + " is described twice")
	}
	h.Entries[route] = e
}

// addAnswer parses a line with a status and codes; "-" is an error without a code. "provider" adds
// the errors of every call to the payment provider. addAnswer returns false for any other line.
func addAnswer(answers map[int][]string, line string) bool {
	if line == "provider" {
		answers[429] = append(answers[429], "")
		answers[502] = append(answers[502], string(fault.PSPError))
		return true
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return false
	}
	status, err := strconv.Atoi(words[0])
	if err != nil {
		return false
	}
	list := []string{}
	for _, code := range words[1:] {
		switch {
		case code == "-":
			code = ""
		case !slices.ContainsFunc(fault.Codes(), func(c fault.Code) bool { return string(c) == code }):
			panic(fmt.Sprintf("%q is not an error code", code))
		}
		list = append(list, code)
	}
	answers[status] = append(answers[status], list...)
	return true
}

// Entry returns the text of a route, or the zero Entry for an unknown route.
func (h *Handbook) Entry(method, path string) reference.Entry { return h.Entries[method+" "+path] }

// Book returns all texts of the reference.
func (h *Handbook) Book() reference.Book {
	csrf := h.mountedRoute("/csrf-cookie", "Start cookie mode", map[int]string{204: "The cookies are set."})
	csrf.Headers = map[string]string{"X-CSRF-Token": "Value of the cookie `XSRF-TOKEN`, for a frontend on another host that cannot read the cookie."}
	return reference.Book{
		About: about, Tags: h.tags, Kinds: kinds, Enums: enums(), Names: names, Refusals: refusals, Params: params, Fields: texts(), Examples: Examples,
		Mounted: []reference.MountedOperation{
			csrf,
			h.mountedRoute("/healthz", "Check liveness", map[int]string{200: "The process is running."}),
			h.mountedRoute("/readyz", "Check readiness", map[int]string{200: "The service accepts requests.", 503: "The service is not ready."}),
		},
	}
}

func (h *Handbook) mountedRoute(path, summary string, answers map[int]string) reference.MountedOperation {
	return reference.MountedOperation{Entry: h.Entry("GET", path), Method: "GET", Path: path, Summary: summary, Answers: answers}
}

//go:embed fields.txt
var fields string

//go:embed examples.json
var examples []byte

// Examples returns the recorded requests and responses by operation name. TestExamples records
// them.
func Examples() map[string]reference.Example {
	all := map[string]reference.Example{}
	if err := json.Unmarshal(examples, &all); err != nil {
		panic(err) // a programming error; tests detect it
	}
	return all
}

// texts returns the descriptions of fields. A key is "Schema.field" or "field".
func texts() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(fields) {
		name, text, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if all[name] != "" {
			panic(name + " has two texts")
		}
		all[name] = text
	}
	return all
}
