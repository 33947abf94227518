package apidoc

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Operation is a method of a path.
type Operation struct {
	ID, Title, Slug string
	Method          string // in upper case
	Path            string
	Group           *Group
	Text            []string // paragraphs
	Access, Rate    string
	KeyScope        string

	from operation
	ref  *Reference
}

// Field is a parameter, or a field of a body.
type Field struct {
	Name, Anchor, Type, Text string
	Required                 bool // in a request
	Limits                   []string
	Fields                   []Field // of an object, or of the items of a list
}

// Sample is code that calls the operation, or a response.
type Sample struct{ Name, Language, Code string }

// Problem is an error response. Codes are empty for a status without codes.
type Problem struct {
	Status, Text string
	Codes        []Code
}

// Code is an error code with its text.
type Code struct {
	Name string
	ErrorText
}

func (r *Reference) newOperation(g *Group, path, method string, from operation) *Operation {
	op := &Operation{
		ID: from.ID, Title: from.Summary, Slug: slug(from.ID), Method: strings.ToUpper(method), Path: path, Group: g, from: from, ref: r,
	}
	for paragraph := range strings.SplitSeq(from.Description, "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "**Access:** "):
			op.Access = sentence(strings.TrimPrefix(paragraph, "**Access:** "))
			if _, after, found := strings.Cut(op.Access, " API keys require the scope "); found {
				op.Access, op.KeyScope = strings.TrimSuffix(op.Access, " API keys require the scope "+after), strings.TrimSuffix(after, ".")
			}
			op.Access = strings.TrimSuffix(strings.TrimSuffix(op.Access, " API keys are not accepted."), ".")
		case strings.HasPrefix(paragraph, "**Rate limit:** "):
			_, rate, _ := strings.Cut(paragraph, ", ")
			count, rest, _ := strings.Cut(strings.TrimSuffix(strings.Replace(rate, " by default,", "", 1), "."), " ")
			if n, err := strconv.ParseFloat(count, 64); err == nil {
				count = number(n)
			}
			op.Rate = count + " " + rest
		case paragraph != "":
			op.Text = append(op.Text, paragraph)
		}
	}
	return op
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// Verb returns the method in at most four letters.
func (op *Operation) Verb() string {
	if op.Method == http.MethodDelete {
		return "DEL"
	}
	return op.Method
}

// Parameters returns the parameters in a part of the request: path, query or header.
func (op *Operation) Parameters(in string) []Field { return op.ref.parameters(op.from, in) }

func (r *Reference) parameters(of operation, in string) []Field {
	var fields []Field
	for _, p := range of.Parameters {
		if p = r.doc.parameter(p); p.In == in {
			fields = append(fields, r.field(p.Name, p.Name, cmp.Or(p.Description, p.Schema.Description), p.Required, p.Schema, nil))
		}
	}
	return fields
}

// Body returns the fields of the request body.
func (op *Operation) Body() []Field {
	if op.from.Body == nil {
		return nil
	}
	for _, content := range op.from.Body.Content {
		return op.ref.fields("", content.Schema, nil)
	}
	return nil
}

// Result returns the fields of the body of a success.
func (op *Operation) Result() []Field {
	content := op.success().Content["application/json"]
	if content.Schema == nil {
		return nil
	}
	return op.ref.fields(resultPrefix, content.Schema, nil)
}

// resultPrefix is the prefix of the anchors of response fields.
const resultPrefix = "result-"

func (op *Operation) success() *response {
	for _, status := range slices.Sorted(maps.Keys(op.from.Responses)) {
		if status[0] == '2' {
			return op.ref.doc.response(op.from.Responses[status])
		}
	}
	return &response{}
}

// maxDepth limits the depth to which nested fields are shown.
const maxDepth = 4

// fields returns the fields of an object. Anchors begin with prefix. above are the components that
// contain the object.
func (r *Reference) fields(prefix string, s *schema, above []string) []Field {
	of, name, _ := r.doc.resolved(s)
	if len(above) >= maxDepth || name != "" && slices.Contains(above, name) {
		return nil
	}
	above = append(slices.Clone(above), name)
	var fields []Field
	for _, key := range of.names() {
		p := of.Properties[key]
		resolved, _, _ := r.doc.resolved(p)
		fields = append(fields, r.field(key, prefix+key, cmp.Or(p.Description, resolved.Description), slices.Contains(of.Required, key), p, above))
	}
	return fields
}

func (r *Reference) field(name, anchor, text string, isRequired bool, s *schema, above []string) Field {
	of, _, isNullable := r.doc.resolved(s)
	f := Field{Name: name, Anchor: anchor, Text: text, Required: isRequired && !strings.HasPrefix(anchor, resultPrefix), Type: r.typeOf(of), Limits: limits(of)}
	if isNullable {
		f.Type += " or null"
	}
	switch of.kind() {
	case "object":
		f.Fields = r.fields(anchor+".", s, above)
	case "array":
		f.Fields = r.fields(anchor+".", of.Items, above)
		items, _, _ := r.doc.resolved(of.Items)
		f.Limits = append(f.Limits, limits(items)...)
	}
	return f
}

// typeOf returns the type of a value in words.
func (r *Reference) typeOf(s *schema) string {
	kind := s.kind()
	switch {
	case kind == "array":
		items, _, _ := r.doc.resolved(s.Items)
		return "list of " + plural(r.typeOf(items))
	case kind == "":
		return "any"
	case len(s.Enum) > 0:
		return "enum"
	case s.Format == "uuid":
		return "string, UUID"
	case s.Format == "date-time" || s.Format == "date" || s.Format == "email" || s.Format == "uri" || s.Format == "binary":
		return "string, " + s.Format
	default:
		return kind
	}
}

// plural returns the plural of a type: "string, UUID" becomes "strings, UUID".
func plural(kind string) string {
	first, rest, found := strings.Cut(kind, ", ")
	if found {
		return first + "s, " + rest
	}
	if strings.HasPrefix(kind, "list of") || kind == "any" {
		return kind
	}
	return kind + "s"
}

// limits returns the rules of a value in words.
func limits(s *schema) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if len(s.Default) > 0 && s.Default.Kind() != 'n' {
		add("Default %s", strings.Trim(string(s.Default), `"`))
	}
	switch {
	case s.MinLength > 1 && s.MaxLength > 0:
		add("%s to %s characters", number(float64(s.MinLength)), number(float64(s.MaxLength)))
	case s.MaxLength > 0:
		add("At most %s characters", number(float64(s.MaxLength)))
	case s.MinLength > 1:
		add("At least %s characters", number(float64(s.MinLength)))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		add("%s to %s", number(*s.Minimum), number(*s.Maximum))
	case s.Minimum != nil:
		add("At least %s", number(*s.Minimum))
	case s.Maximum != nil:
		add("At most %s", number(*s.Maximum))
	}
	switch {
	case s.MinItems > 0 && s.MaxItems > 0:
		add("%d to %s items", s.MinItems, number(float64(s.MaxItems)))
	case s.MaxItems > 0:
		add("At most %s items", number(float64(s.MaxItems)))
	}
	if s.MaxBytes > 0 {
		add("At most %s bytes of JSON", number(float64(s.MaxBytes)))
	}
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			list = append(list, "`"+text+"`")
		}
	}
	return list
}

// number returns a number with thousands separators.
func number(value float64) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(value, 'f', -1, 64), ".")
	sign := ""
	if whole[0] == '-' {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// Problems returns the error responses.
func (op *Operation) Problems() []Problem {
	var problems []Problem
	for _, status := range slices.Sorted(maps.Keys(op.from.Responses)) {
		if status[0] < '4' {
			continue
		}
		answer := op.ref.doc.response(op.from.Responses[status])
		p := Problem{Status: status, Text: answer.Description}
		content := answer.Content["application/json"]
		for _, code := range op.ref.codes(content.Schema) {
			p.Codes = append(p.Codes, Code{Name: code, ErrorText: op.ref.texts.Codes[code]})
		}
		problems = append(problems, p)
	}
	return problems
}

// codes returns the error codes of an error schema.
func (r *Reference) codes(s *schema) []string {
	of, _, _ := r.doc.resolved(s)
	var all []string
	for _, form := range slices.Concat(of.OneOf, of.AnyOf) {
		all = append(all, r.codes(form)...)
	}
	if code := of.Properties["code"]; code != nil {
		resolved, _, _ := r.doc.resolved(code)
		for _, value := range resolved.Enum {
			if text, ok := value.(string); ok {
				all = append(all, text)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
