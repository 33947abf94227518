// Package apidoc reads the OpenAPI description for the pages of the API reference: groups of
// operations with their parameters, fields, responses, errors and code samples.
package apidoc

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document is the part of an OpenAPI 3.1 document that the pages show.
type document struct {
	Info struct {
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"`
	Webhooks   map[string]map[string]operation `json:"webhooks"`
	Components struct {
		Schemas    map[string]*schema    `json:"schemas"`
		Parameters map[string]*parameter `json:"parameters"`
		Responses  map[string]*response  `json:"responses"`
		Headers    map[string]*parameter `json:"headers"`
	} `json:"components"`
}

type operation struct {
	ID          string               `json:"operationId"`
	Summary     string               `json:"summary"`
	Description string               `json:"description"`
	Tags        []string             `json:"tags"`
	Parameters  []*parameter         `json:"parameters"`
	Body        *body                `json:"requestBody"`
	Responses   map[string]*response `json:"responses"`
	Security    []map[string]any     `json:"security"`
}

type parameter struct {
	Ref         string  `json:"$ref"`
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Required    bool    `json:"required"`
	Description string  `json:"description"`
	Schema      *schema `json:"schema"`
}

type body struct {
	Content map[string]media `json:"content"`
}

type response struct {
	Ref         string           `json:"$ref"`
	Description string           `json:"description"`
	Content     map[string]media `json:"content"`
}

type media struct {
	Schema  *schema        `json:"schema"`
	Example jsontext.Value `json:"example"`
}

type schema struct {
	Ref         string             `json:"$ref"`
	Type        types              `json:"type"`
	Description string             `json:"description"`
	Format      string             `json:"format"`
	Enum        []any              `json:"enum"`
	Default     jsontext.Value     `json:"default"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	Values      jsontext.Value     `json:"additionalProperties"` // a schema, or a boolean
	MinLength   int                `json:"minLength"`
	MaxLength   int                `json:"maxLength"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MinItems    int                `json:"minItems"`
	MaxItems    int                `json:"maxItems"`
	MaxBytes    int                `json:"x-max-bytes"`
	Codes       []string           `json:"x-codes"` // the errors that have this field
}

// types is the type of a schema: a name, or a list of a name and "null".
type types []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *types) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() == '"' {
		*t = make(types, 1)
		return json.Unmarshal(text, &(*t)[0])
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// resolved follows the references of a schema. It returns the schema, the name of its component if
// it has one, and whether the value can be null.
func (d *document) resolved(s *schema) (*schema, string, bool) {
	name, isNullable := "", false
	for s != nil {
		switch {
		case s.Ref != "":
			name = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
			s = d.Components.Schemas[name]
		case len(s.AnyOf) == 2 && slices.Equal(s.AnyOf[1].Type, types{"null"}):
			s, isNullable = s.AnyOf[0], true
		default:
			return s, name, isNullable || slices.Contains(s.Type, "null")
		}
	}
	return &schema{}, name, isNullable
}

func (s *schema) kind() string {
	for _, t := range s.Type {
		if t != "null" {
			return t
		}
	}
	return ""
}

// values returns the schema of the values of an object with arbitrary keys, or nil.
func (s *schema) values() *schema {
	if s.Values.Kind() != '{' {
		return nil
	}
	of := new(schema)
	if json.Unmarshal(s.Values, of) != nil {
		return nil
	}
	return of
}

func (d *document) parameter(p *parameter) *parameter {
	if p.Ref == "" {
		return p
	}
	return d.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
}

func (d *document) response(r *response) *response {
	if r.Ref == "" {
		return r
	}
	return d.Components.Responses[r.Ref[strings.LastIndexByte(r.Ref, '/')+1:]]
}

// Group is a group of operations.
type Group struct {
	Name, Slug, Text string
	Operations       []*Operation
}

// Reference is the API as it is shown.
type Reference struct {
	About  string
	Groups []*Group
	Events []*Event // sorted by type

	doc   *document
	texts Texts
}

// Texts are the texts of errors, which the OpenAPI document lacks.
type Texts struct {
	Codes    map[string]ErrorText
	Statuses map[string]string // message of an error without a code, by status
	Required string            // message for a missing field
}

// ErrorText is the meaning of an error code, what to do, and the message of a response.
type ErrorText struct{ Meaning, Action, Message string }

// Read reads an OpenAPI document in JSON.
func Read(text []byte, texts Texts) (*Reference, error) {
	doc := new(document)
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, fmt.Errorf("apidoc: %w", err)
	}
	r := &Reference{About: doc.Info.Description, doc: doc, texts: texts}
	groups := map[string]*Group{}
	for _, tag := range doc.Tags {
		g := &Group{Name: tag.Name, Slug: slug(tag.Name), Text: tag.Description}
		groups[tag.Name] = g
		r.Groups = append(r.Groups, g)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range methods {
			op, there := doc.Paths[path][method]
			if !there {
				continue
			}
			g := groups[op.Tags[0]]
			if g == nil {
				return nil, fmt.Errorf("apidoc: %s has an unknown tag", op.ID)
			}
			g.Operations = append(g.Operations, r.newOperation(g, path, method, op))
		}
	}
	r.Groups = slices.DeleteFunc(r.Groups, func(g *Group) bool { return len(g.Operations) == 0 })
	for _, name := range slices.Sorted(maps.Keys(doc.Webhooks)) {
		r.Events = append(r.Events, &Event{Type: name, from: doc.Webhooks[name]["post"], ref: r})
	}
	return r, nil
}

// methods are the methods in the order of a path's operations.
var methods = []string{"get", "post", "put", "patch", "delete"}

// slug returns a name as a part of an address: "API keys" and "listAPIKeys" become "api-keys" and
// "list-api-keys".
func slug(name string) string {
	var b strings.Builder
	isUpper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	isLower := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	for i := range len(name) {
		if i > 0 && isUpper(i) && (isLower(i-1) || isUpper(i-1) && isLower(i+1)) {
			b.WriteByte('-')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(b.String()))
}

// names returns the properties of an object, required ones first.
func (s *schema) names() []string {
	return slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		first := func(name string) int {
			if slices.Contains(s.Required, name) {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a, b))
	})
}
