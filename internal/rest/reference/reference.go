// Package reference completes the OpenAPI document. What decides about a request (the
// guards, the limits, what is read of it) also says here how it can be answered, so that the
// two never differ. A Book adds what only people can write: names, texts, and the refusals of
// the domains.
package reference

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/page"
)

// Book is what is written about an API by hand. Its zero value says nothing.
type Book struct {
	About   string // the description of the whole
	Tags    []Tag
	Kinds   []Kind
	Enums   []Enum
	Mounted []Mounted
	// Refusals are names for several codes, which stand in order with spaces between. Without one the
	// codes are the name.
	Refusals map[string]string
	// Names renames schemas, which are otherwise called as their types.
	Names map[string]string
	// Params are the texts of parameters that have none, by their names.
	Params map[string]string
	// Fields are the texts of properties that have none, by their names, or by those of
	// their schema and theirs with a dot between.
	Fields map[string]string
	// Examples returns the examples of operations, by their names; nil has none.
	Examples func() map[string]Example
}

// Example is what an operation was asked and what it answered.
type Example struct {
	Request any            `json:"request,omitempty"`
	Answers map[string]any `json:"answers"` // by status
}

// Tag is a group of operations.
type Tag struct{ Name, Text string }

// Entry is what is written about one operation by hand. Its zero value says nothing.
type Entry struct {
	ID   string // a name for generators, in camel case
	Tag  string
	Text string
	// Answers are the codes that its domain refuses with, by status; "" stands for a
	// refusal without a code. 304 says that the answer has a tag.
	Answers map[int][]string
}

// Mounted is something that is answered outside of the route table.
type Mounted struct {
	Entry

	Method, Path, Summary string
	// Answers are what it answers, by status: what that means.
	Answers map[int]string
	// Headers are the headers of a success and their texts.
	Headers map[string]string
}

// Input is what of a request is read before its handler.
type Input uint8

// The inputs.
const (
	Raw       Input = iota // nothing: the handler does it
	QueryOnly              // the query
	JSON                   // the query and a JSON body
	Upload                 // a file in a form
)

// Operation is what a route says about itself.
type Operation struct {
	Entry

	Method, Path string
	Scope        string
	Guards       []string
	Permission   string
	Rate         string
	KeyScope     string
	Input        Input
	List         *page.Spec // of a list; nil for others
}

// secured reports whether the operation needs a credential.
func (op Operation) secured() bool { return len(op.Guards) > 0 }

// changes reports whether the operation's method may change something.
func (op Operation) changes() bool { return op.Method != http.MethodGet }

// Complete adds to a document what follows from its operations and what the book says about
// them. ops are all of its operations; doc has their answers to what succeeds.
func (b *Book) Complete(doc *huma.OpenAPI, ops []Operation) {
	schemas := doc.Components.Schemas.Map()
	kinds := map[string]*huma.Schema{}
	for name, s := range b.errorSchemas() {
		if slices.ContainsFunc(b.Kinds, func(k Kind) bool { return k.Name == name }) {
			kinds[name] = s // in the document where a refusal has no other form
		} else {
			schemas[name] = s
		}
	}
	doc.Components.Headers = headers()
	for _, op := range ops {
		item := OperationOf(doc, op.Method, op.Path)
		b.describe(item, op)
		addPathParams(item, op)
		if op.List != nil {
			describeList(doc, item, *op.List)
		}
		b.addRefusals(schemas, kinds, item, op)
		addHeaders(item, op)
	}
	for _, m := range b.Mounted {
		b.mount(doc, m)
	}
	for _, tag := range b.Tags {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: tag.Name, Description: tag.Text})
	}
	eachOperation(doc, func(op *huma.Operation) {
		for _, p := range op.Parameters {
			p.Description = cmp.Or(p.Description, b.Params[p.Name])
		}
	})
	for name, s := range schemas {
		b.describeFields(name, s)
	}
	b.addExamples(doc)
	nameTexts(schemas)
	b.nameEnums(doc)
	shareResponses(doc)
}

// OperationOf returns an operation of a document.
func OperationOf(doc *huma.OpenAPI, method, path string) *huma.Operation {
	item := doc.Paths[path]
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}

// describe adds the words, and which credentials open the operation.
func (b *Book) describe(item *huma.Operation, op Operation) {
	item.Description = strings.TrimSpace(op.Text + "\n\n" + op.access())
	item.Security = []map[string][]string{} // not nil: nobody has to log in
	if !op.secured() {
		return
	}
	session := map[string][]string{"session": {}}
	if op.changes() {
		session["csrf"] = []string{}
	}
	item.Security = append(item.Security, map[string][]string{"bearer": {}}, session)
	if op.KeyScope != "" {
		item.Security = append(item.Security, map[string][]string{"apiKey": {}})
	}
}

// addPathParams adds the parameters of the path that only guards read.
func addPathParams(item *huma.Operation, op Operation) {
	for part := range strings.SplitSeq(op.Path, "/") {
		name, ok := strings.CutPrefix(part, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		if !slices.ContainsFunc(item.Parameters, func(p *huma.Param) bool { return p.In == "path" && p.Name == name }) {
			item.Parameters = append(item.Parameters, &huma.Param{
				Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString},
			})
		}
	}
}

// addExamples adds what was recorded. Refusals that operations share have none.
func (b *Book) addExamples(doc *huma.OpenAPI) {
	if b.Examples == nil {
		return
	}
	examples := b.Examples()
	eachOperation(doc, func(op *huma.Operation) {
		e := examples[op.OperationID]
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

// describeFields adds the texts of a schema's properties.
func (b *Book) describeFields(name string, s *huma.Schema) {
	for key, p := range s.Properties {
		if p.Description == "" {
			p.Description = cmp.Or(b.Fields[name+"."+key], b.Fields[key])
		}
		b.describeFields(name, p)
	}
}

// mount describes what is answered outside of the route table.
func (b *Book) mount(doc *huma.OpenAPI, m Mounted) {
	item := &huma.Operation{
		OperationID: m.ID, Method: m.Method, Path: m.Path, Summary: m.Summary, Description: m.Text, Tags: []string{m.Tag},
		Security: []map[string][]string{}, Responses: map[string]*huma.Response{},
	}
	for status, meaning := range m.Answers {
		response := &huma.Response{Description: meaning}
		if status != http.StatusNoContent {
			response.Content = content(ref(errorName))
		}
		if status < http.StatusMultipleChoices {
			response.Headers = map[string]*huma.Param{}
			for name, text := range m.Headers {
				response.Headers[name] = &huma.Param{Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
			}
		}
		item.Responses[text(status)] = response
	}
	doc.AddOperation(item)
}
