package guides

import (
	"bytes"
	"errors"
	"html/template"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
	"github.com/tenantry/tenantry/internal/i18n"
)

// referenceFunctions are the functions of the templates of the API reference.
var referenceFunctions = template.FuncMap{
	"inline": inline,
	"highlight": func(language, code string) template.HTML {
		return template.HTML(highlightCode(language, code)) //nolint:gosec // It is escaped.
	},
	"path": markPath,
	"fields": func(anchor, title string, fields []apidoc.Field) fieldSection {
		return fieldSection{anchor, title, fields}
	},
	"samples": func(title string, samples []apidoc.Sample) sampleSection { return sampleSection{title, samples} },
}

type fieldSection struct {
	Anchor, Title string
	Fields        []apidoc.Field
}

type sampleSection struct {
	Title   string
	Samples []apidoc.Sample
}

// referenceView is the data of the pages of the API reference.
type referenceView struct {
	view

	Reference     *apidoc.Reference
	About         []string // paragraphs
	Description   string   // address of the OpenAPI document
	Group         *apidoc.Group
	Operation     *apidoc.Operation
	Before, After *apidoc.Operation
	Event         *apidoc.Event
}

// OperationHref returns the address of an operation relative to the current page.
func (v referenceView) OperationHref(op *apidoc.Operation) string {
	return v.Root + operationAddress(op) + v.Suffix
}

// EventHref returns the address of a webhook event relative to the current page.
func (v referenceView) EventHref(e *apidoc.Event) string {
	return v.Root + eventAddress(e) + v.Suffix
}

func eventAddress(e *apidoc.Event) string { return "api/events/" + e.Type }

func operationAddress(op *apidoc.Operation) string { return "api/" + op.Group.Slug + "/" + op.Slug }

var errNoDescription = errors.New("guides: the OpenAPI document is missing")

// readReference reads the OpenAPI document of the configuration, which is JSON or YAML.
func (s *Site) readReference() (*apidoc.Reference, error) {
	if s.config.Description == nil {
		return nil, errNoDescription
	}
	text, err := s.config.Description()
	if err != nil {
		return nil, err
	}
	if jsontext.Value(text).Kind() != '{' {
		var document any
		if err := yaml.Unmarshal(text, &document); err != nil {
			return nil, err
		}
		if text, err = json.Marshal(document); err != nil {
			return nil, err
		}
	}
	page, err := fs.ReadFile(s.config.Texts, errorsFile)
	if err != nil {
		return nil, err
	}
	messages, err := i18n.Load()
	if err != nil {
		return nil, err
	}
	return apidoc.Read(text, referenceTexts(string(page), messages))
}

// plainErrors are the messages of errors without a code, by status.
var plainErrors = map[string]string{
	"400": "error.query_malformed", "401": "error.unauthenticated", "403": "error.forbidden", "404": "error.not_found",
	"409": "error.duplicate_usage_event", "429": "error.too_many_requests",
}

// referenceTexts returns the texts of errors: meanings and actions from the page of errors, and
// the messages of responses in English.
func referenceTexts(page string, messages *i18n.Catalog) apidoc.Texts {
	english := func(key string) string { return messages.Text(i18n.Default, key, nil) }
	texts := apidoc.Texts{Codes: errorTexts(page), Statuses: map[string]string{}, Required: english("validation.required")}
	for code, text := range texts.Codes {
		if messages.Has("error." + code) {
			text.Message = english("error." + code)
			texts.Codes[code] = text
		}
	}
	for status, key := range plainErrors {
		texts.Statuses[status] = english(key)
	}
	return texts
}

// errorsFile is the page of errors.
const errorsFile = "docs/errors.md"

// errorRow matches a row of the table of error codes: code, status, meaning and action.
var errorRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| [^|]+ \\| ([^|]*) \\| ([^|]*) \\|$")

func errorTexts(page string) map[string]apidoc.ErrorText {
	texts := map[string]apidoc.ErrorText{}
	for _, found := range errorRow.FindAllStringSubmatch(page, -1) {
		texts[found[1]] = apidoc.ErrorText{Meaning: strings.TrimSpace(found[2]), Action: strings.TrimSpace(found[3])}
	}
	return texts
}

// addReference adds the pages of the API reference. They are rendered when they are requested,
// because there are hundreds.
func (s *Site) addReference(files map[string]file, ref *apidoc.Reference) {
	var all []*apidoc.Operation
	for _, g := range ref.Groups {
		all = append(all, g.Operations...)
	}
	add := func(address, name, title string, v referenceView) {
		v.Reference = ref
		files[address+s.config.suffix()] = file{kind: kinds[".html"], render: func() ([]byte, error) {
			return s.renderReference(address, name, title, v)
		}}
	}
	add("api", "operations", "API reference", referenceView{About: strings.Split(ref.About, "\n\n")})
	for i, op := range all {
		v := referenceView{Group: op.Group, Operation: op}
		if i > 0 {
			v.Before = all[i-1]
		}
		if i+1 < len(all) {
			v.After = all[i+1]
		}
		add(operationAddress(op), "operation", op.Title, v)
	}
	for _, e := range ref.Events {
		add(eventAddress(e), "event", e.Type, referenceView{Event: e})
	}
}

// renderReference renders a page of the API reference for an address below /docs/.
func (s *Site) renderReference(address, name, title string, v referenceView) ([]byte, error) {
	suggestions := v.Suggestions
	v.view = s.view(nil, nil)
	v.Suggestions = suggestions
	v.Root = strings.Repeat("../", strings.Count(address, "/"))
	v.Front = v.Root + map[bool]string{true: "index.html", false: "./"}[s.config.Files]
	v.Title, v.IsReference = title, true
	v.Description = map[bool]string{true: "openapi.yaml", false: "../openapi.json"}[s.config.Files]
	var b bytes.Buffer
	err := layout.ExecuteTemplate(&b, name+".html", v)
	return b.Bytes(), err
}

// indexReference returns the operations and their fields for the search.
func indexReference(ref *apidoc.Reference, suffix string) []foundPage {
	var index []foundPage
	for _, g := range ref.Groups {
		for _, op := range g.Operations {
			f := foundPage{Address: operationAddress(op) + suffix, Title: op.Title, Section: "API reference · " + g.Name, Names: []string{op.ID, op.Method, op.Path}}
			f.Passages = append(f.Passages, [3]string{"", "", op.Method + " " + op.Path + " " + op.ID + " " + strings.Join(op.Text, " ")})
			for _, field := range slices.Concat(op.Parameters("path"), op.Parameters("query"), op.Body()) {
				f.Passages = append(f.Passages, [3]string{field.Anchor, field.Name, field.Text})
			}
			index = append(index, f)
		}
	}
	for _, e := range ref.Events {
		index = append(index, foundPage{
			Address: eventAddress(e) + suffix, Title: e.Type, Section: "API reference · Webhook events",
			Passages: [][3]string{{"", "", e.Text()}},
		})
	}
	return index
}

var (
	inlineCode   = regexp.MustCompile("`([^`]+)`")
	inlineStrong = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	inlineLink   = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
	pathVariable = regexp.MustCompile(`\{\w+\}`)
)

// inline renders a text of the OpenAPI document: code, strong text, and the words of links.
func inline(text string) template.HTML {
	escaped := template.HTMLEscapeString(inlineLink.ReplaceAllString(text, "$1"))
	escaped = inlineCode.ReplaceAllString(escaped, "<code>$1</code>")
	return template.HTML(inlineStrong.ReplaceAllString(escaped, "<strong>$1</strong>")) //nolint:gosec // It is escaped.
}

// markPath marks the variables of a path.
func markPath(text string) template.HTML {
	return template.HTML(pathVariable.ReplaceAllString(template.HTMLEscapeString(text), "<var>$0</var>")) //nolint:gosec // It is escaped.
}
