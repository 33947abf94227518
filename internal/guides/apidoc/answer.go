package apidoc

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Answer is a response of an operation, with a body for each form that it can have.
type Answer struct {
	Status string
	Bodies []Body
}

// Body is a response body. Codes are the error codes with this form; the body shows the first one.
type Body struct {
	Sample

	Codes []string
}

// common holds the statuses that nearly every operation has for the same reasons. Answers omits a
// common status, unless it is a 4xx status with error codes.
var common = []string{"400", "401", "408", "413", "415", "419", "500", "503"}

// Answers returns the responses: the recorded successes, then the errors that are special for the
// operation.
func (op *Operation) Answers() []Answer {
	var answers []Answer
	for _, status := range slices.Sorted(maps.Keys(op.from.Responses)) {
		from := op.ref.doc.response(op.from.Responses[status])
		content := from.Content["application/json"]
		switch {
		case status[0] >= '4' && (!slices.Contains(common, status) || status < "500" && len(op.ref.codes(content.Schema)) > 0):
			answers = append(answers, Answer{status, op.errorBodies(status, content.Schema)})
		case status[0] < '4' && len(content.Example) > 0:
			answers = append(answers, Answer{status, []Body{{Sample: jsonSample(status, content.Example)}}})
		case status[0] == '2' && len(from.Content) == 0:
			answers = append(answers, Answer{status, []Body{{Sample: Sample{Name: status, Code: "No content"}}}})
		}
	}
	return answers
}

// jsonSample returns an indented JSON value. The value has to be valid.
func jsonSample(name string, value jsontext.Value) Sample {
	value = value.Clone()
	_ = value.Indent(jsontext.WithIndent("  "))
	return Sample{Name: name, Language: "json", Code: string(value)}
}

// errorBodies returns the bodies of an error: one for invalid fields, one for each group of codes
// with the same extra fields, and one for an error without a code.
func (op *Operation) errorBodies(status string, s *schema) []Body {
	of, _, _ := op.ref.doc.resolved(s)
	var bodies []Body
	add := func(codes []string, message string, more ...member) {
		value := append(object{{"message", message}}, more...)
		text, _ := json.Marshal(value) // it has a JSON form
		bodies = append(bodies, Body{jsonSample(status, text), codes})
	}
	if of.Properties["errors"] != nil {
		required := op.ref.texts.Required
		add(nil, required, member{"errors", map[string][]string{op.firstField(): {required}}})
	}
	for _, codes := range groupCodes(op.ref.codes(s), of) {
		text := op.ref.texts.Codes[codes[0]]
		more := []member{{"code", codes[0]}}
		for _, name := range extraFields(codes[0], of) {
			more = append(more, member{name, op.ref.sample(name, of.Properties[name])})
		}
		add(codes, cmp.Or(text.Message, text.Meaning), more...)
	}
	if of.Properties["errors"] == nil && !slices.Contains(of.Required, "code") {
		add(nil, cmp.Or(op.ref.texts.Statuses[status], op.ref.doc.response(op.from.Responses[status]).Description))
	}
	return bodies
}

// extraFields returns the names of the additional fields in an error with the code.
func extraFields(code string, of *schema) []string {
	var names []string
	for _, name := range of.names() {
		if slices.Contains(of.Properties[name].Codes, code) {
			names = append(names, name)
		}
	}
	return names
}

// groupCodes groups codes whose errors have the same fields. Codes with extra fields come first.
func groupCodes(codes []string, of *schema) [][]string {
	var groups [][]string
	at := map[string]int{}
	for _, code := range codes {
		key := strings.Join(extraFields(code, of), " ")
		if _, there := at[key]; !there {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], code)
	}
	slices.SortStableFunc(groups, func(a, b []string) int {
		return len(extraFields(b[0], of)) - len(extraFields(a[0], of))
	})
	return groups
}

// firstField returns the name of a field for an example of a missing field: a required field of the
// body, or else its first field, or the first query parameter.
func (op *Operation) firstField() string {
	fields := slices.Concat(op.Body(), op.Parameters("query"), []Field{{Name: "id"}}) // required fields come first
	return fields[0].Name
}

// member is a member of a JSON object, and object keeps the order of its members.
type (
	member struct {
		name  string
		value any
	}
	object []member
)

// MarshalJSONTo implements json.MarshalerTo.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.value, json.Deterministic(true)); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// fieldValues are sample values of strings, by the name of the field.
var fieldValues = map[string]string{
	"currency": "EUR", "meter_code": "api-calls", "limited_by": "plan", "reason": "expired", "price_status": "inactive", "available_currencies": "USD",
	"missing_fields": "country", "factors": "totp", "challenge": "mfa_1Example0Example0", "field": "unit_amount", "feature_code": "api-calls",
}

// sample returns a sample value of a field. If a recorded response contains the component of the
// field, the sample is the recorded value.
func (r *Reference) sample(name string, s *schema) any {
	of, component, _ := r.doc.resolved(s)
	if recorded := r.recorded(component); recorded != nil {
		return recorded
	}
	switch of.kind() {
	case "object":
		value := object{}
		for _, key := range of.names() {
			if slices.Contains(of.Required, key) {
				value = append(value, member{key, r.sample(key, of.Properties[key])})
			}
		}
		return value
	case "array":
		return []any{r.sample(name, of.Items)}
	case "boolean":
		return true
	case "integer", "number":
		if name == "grants_remaining" { // a rejected event leaves no units
			return 0
		}
		return 1000
	}
	switch {
	case len(of.Enum) > 0:
		return of.Enum[0]
	case fieldValues[name] != "":
		return fieldValues[name]
	case of.Format == "date-time" || strings.HasSuffix(name, "_at"):
		return "2026-01-15T09:30:00.000000Z"
	default:
		return "0199a1b2-0000-7000-8000-000000000001"
	}
}

// recorded returns the value of a component in a recorded response, or nil.
func (r *Reference) recorded(component string) jsontext.Value {
	for value := range r.recordings(component) {
		return value
	}
	return nil
}

// recordings yields the values of a component in the recorded responses: first the single values,
// then the first value of each list.
func (r *Reference) recordings(component string) iter.Seq[jsontext.Value] {
	return func(yield func(jsontext.Value) bool) {
		var later []jsontext.Value
		if component == "" {
			return
		}
		for value, inList := range r.parts(component) {
			if inList {
				later = append(later, value)
			} else if !yield(value) {
				return
			}
		}
		for _, value := range later {
			if !yield(value) {
				return
			}
		}
	}
}

// parts yields the recorded values of a component, and whether they are from a list.
func (r *Reference) parts(component string) iter.Seq2[jsontext.Value, bool] {
	return func(yield func(jsontext.Value, bool) bool) {
		for _, g := range r.Groups {
			for _, op := range g.Operations {
				content := op.success().Content["application/json"]
				var values map[string]jsontext.Value
				if len(content.Example) == 0 || json.Unmarshal(content.Example, &values) != nil {
					continue
				}
				of, _, _ := r.doc.resolved(content.Schema)
				for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
					value, inList := r.part(component, of.Properties[name], values[name])
					if value != nil && !yield(value, inList) {
						return
					}
				}
			}
		}
	}
}

// part returns the value if its schema is the component. If the value is a list of the component,
// part returns the first item and true.
func (r *Reference) part(component string, s *schema, value jsontext.Value) (jsontext.Value, bool) {
	of, name, _ := r.doc.resolved(s)
	if name == component && value.Kind() == '{' {
		return value, false
	}
	if of.kind() == "array" {
		if _, name, _ := r.doc.resolved(of.Items); name == component {
			var items []jsontext.Value
			if json.Unmarshal(value, &items) == nil && len(items) > 0 {
				return items[0], true
			}
		}
	}
	return nil, false
}
