// Package reference completes the OpenAPI document. It derives the possible responses from the same
// data that controls requests (guards, limits, inputs), so the documentation cannot differ from the
// behavior. A Book adds handwritten parts: names, texts, and the errors of the domains.
package reference

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Book holds the handwritten texts of an API. Its zero value is empty.
type Book struct {
	About   string // description of the API
	Tags    []Tag
	Kinds   []Kind
	Enums   []shape.Enum
	Mounted []MountedOperation
	// Refusals maps several codes, in order and separated by spaces, to the name of their error.
	// The default name is made of the codes.
	Refusals map[string]string
	// Names renames schemas, whose default name is the type name.
	Names map[string]string
	// Params has descriptions of parameters without one, by name.
	Params map[string]string
	// Fields has descriptions of properties without one, by name or by schema and name separated by
	// a dot.
	Fields map[string]string
	// Examples returns examples by operation ID; nil means none.
	Examples func() map[string]Example
}

// Example is a request of an operation with its responses.
type Example struct {
	Request any            `json:"request,omitempty"`
	Answers map[string]any `json:"answers"` // by status
}

// Tag is a group of operations.
type Tag struct {
	Name string `json:"name"`
	Text string `json:"description,omitempty"`
}

// Entry holds the handwritten texts of an operation. Its zero value is empty.
type Entry struct {
	ID   string // operation ID for generators, in camel case
	Tag  string
	Text string
	// Answers are the error codes of its domain by status; "" is an error without a code. 304 means
	// that the response has an ETag.
	Answers map[int][]string
}

// MountedOperation is an operation that is served outside of the route table.
type MountedOperation struct {
	Entry

	Method, Path, Summary string
	// Answers are descriptions of its responses, by status.
	Answers map[int]string
	// Headers are the headers of a success with their descriptions.
	Headers map[string]string
}

// Input is the part of a request that is read before the handler.
type Input uint8

// The inputs.
const (
	Raw       Input = iota // nothing: the handler reads everything
	QueryOnly              // the query
	JSON                   // the query and a JSON body
	Upload                 // a file in a form
)

// isSecured reports whether the operation needs a credential.
func (op *Operation) isSecured() bool { return len(op.Guards) > 0 }

// mayChange reports whether the operation's method can change state.
func (op *Operation) mayChange() bool { return op.Method != http.MethodGet }

// Complete adds everything that follows from the operations and the book to a document that
// contains the operations with their success responses.
func (b *Book) Complete(doc *Document) {
	doc.addHeaderComponents()
	doc.Components.Responses, doc.Components.Parameters = map[string]*Response{}, map[string]*Parameter{}
	schemas := doc.Components.Schemas
	maps.Copy(schemas, b.errorSchemas())
	doc.eachOperation(func(op *Operation) {
		b.describe(op)
		addPathParams(op)
		if op.List != nil {
			b.describeList(doc, op)
		}
		describeCSV(op)
		addHeaders(op)
		b.addRefusals(doc, op)
		for _, p := range op.Parameters {
			p.Description = cmp.Or(p.Description, b.Params[p.Name])
		}
	})
	for _, m := range b.Mounted {
		doc.Add(m.operation())
	}
	doc.Tags = b.Tags
	for name, s := range schemas {
		b.describeFields(name, s)
	}
	b.addExamples(doc)
}

// describe adds the texts and the accepted credentials of an operation.
func (b *Book) describe(op *Operation) {
	op.Description = strings.TrimSpace(op.Entry.Text + "\n\n" + op.access())
	op.Security = []map[string][]string{} // not nil: no credential is needed
	if !op.isSecured() {
		return
	}
	session := map[string][]string{"session": {}}
	if op.mayChange() {
		session["csrf"] = []string{}
	}
	op.Security = append(op.Security, map[string][]string{"bearer": {}}, session)
	if op.KeyScope != "" {
		op.Security = append(op.Security, map[string][]string{"apiKey": {}})
	}
}

// addPathParams adds the path parameters that only guards read.
func addPathParams(op *Operation) {
	for part := range strings.SplitSeq(op.Path, "/") {
		name, isParam := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
		if isParam && !slices.ContainsFunc(op.Parameters, func(p *Parameter) bool { return p.In == "path" && p.Name == name }) {
			op.Parameters = append(op.Parameters, &Parameter{Name: name, In: "path", Required: true, Schema: &shape.Schema{Type: shape.TypeString}})
		}
	}
}

// addExamples adds the recorded examples. Errors have no examples, because operations share them.
func (b *Book) addExamples(doc *Document) {
	if b.Examples == nil {
		return
	}
	examples := b.Examples()
	doc.eachOperation(func(op *Operation) {
		e := examples[op.ID]
		if op.RequestBody != nil && e.Request != nil {
			op.RequestBody.Content["application/json"].Example = e.Request
		}
		for status, answer := range e.Answers {
			if response := op.Responses[status]; response != nil && response.Content["application/json"] != nil {
				response.Content["application/json"].Example = answer
			}
		}
	})
}

// describeFields adds descriptions to a schema's properties.
func (b *Book) describeFields(name string, s *shape.Schema) {
	for _, p := range s.Properties {
		if p.Description == "" {
			p.Description = cmp.Or(b.Fields[name+"."+p.Name], b.Fields[p.Name])
		}
		if p.Ref == "" {
			b.describeFields(name, p.Schema)
		}
	}
}

// operation describes an operation outside of the route table.
func (m MountedOperation) operation() *Operation {
	op := &Operation{
		ID: m.ID, Method: m.Method, Path: m.Path, Summary: m.Summary, Description: m.Text, Tags: []string{m.Tag},
		Security: []map[string][]string{}, Responses: map[string]*Response{},
	}
	for status, meaning := range m.Answers {
		response := &Response{Description: meaning}
		if status != http.StatusNoContent {
			response.Content = JSONContent(shape.Ref(errorName))
		}
		if status < http.StatusMultipleChoices && m.Headers != nil {
			response.Headers = map[string]*Parameter{}
			for name, text := range m.Headers {
				response.Headers[name] = &Parameter{Description: text, Schema: &shape.Schema{Type: shape.TypeString}}
			}
		}
		op.Responses[strconv.Itoa(status)] = response
	}
	return op
}

// audiences describes the callers of each scope.
var audiences = map[string]string{
	"public":        "public",
	"user":          "authenticated users",
	"member":        "members of the tenant, even before onboarding is complete",
	"tenant":        "members of the tenant",
	"admin":         "platform admins",
	"billing":       "members of the tenant, and platform admins for any tenant,",
	"impersonating": "platform admins who are impersonating a user",
}

// access describes who can call an operation and how often.
func (op *Operation) access() string {
	who := audiences[op.Scope]
	if op.Permission != "" {
		who += " with the permission `" + strings.NewReplacer("|", "` or `", "&", "` and `").Replace(op.Permission) + "`"
	}
	text := "**Access:** " + who + "."
	if slices.Contains(op.Guards, "impersonation.refuse") {
		text += " Not while impersonating (400)."
	}
	if slices.Contains(op.Guards, "email.verified") {
		text += " Requires a verified email if the settings say so."
	}
	switch {
	case op.KeyScope != "":
		text += " API keys require the scope `" + strings.ReplaceAll(op.KeyScope, "|", "` or `") + "`."
	case op.isSecured():
		text += " API keys are not accepted."
	}
	if op.Rate != "" {
		by := "client IP address"
		switch {
		case op.Rate == limit.Login:
			by = "client IP address and email"
		case op.isSecured() && limit.IsPerTenant(op.Rate):
			by = "tenant"
		case op.isSecured():
			by = "user or API key"
		}
		text += fmt.Sprintf("\n\n**Rate limit:** group %#q, %d requests per minute by default, per %s.", op.Rate, limit.Defaults()[op.Rate], by)
	}
	return text
}
