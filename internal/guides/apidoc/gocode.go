package apidoc

import (
	"go/format"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// goLeftOut are the operations that the Go client leaves out (client/api/generate.yaml), because they
// need a browser or the signature of the payment provider.
var goLeftOut = []string{"startDelegatedLogin", "finishDelegatedLogin", "setCSRFCookie", "receiveStripeEvent"}

// goCode returns the call with the Go client, or "".
func (op *Operation) goCode() string {
	if op.from.Body != nil && op.example() == nil || slices.Contains(goLeftOut, op.ID) || !strings.HasPrefix(op.Path, "/api/") {
		return ""
	}
	w := &goWriter{doc: op.ref.doc}
	var b strings.Builder
	switch op.credential() {
	case "apiKey":
		b.WriteString("c, err := client.New(\"https://api.example.com\",\n\tclient.WithAPIKey(os.Getenv(\"TENANTRY_API_KEY\")))\n")
	case "bearer":
		b.WriteString("c, err := client.New(\"https://api.example.com\",\n\tclient.WithLogin(\"ada@example.com\", os.Getenv(\"PASSWORD\")))\n")
	default:
		b.WriteString("c, err := client.New(\"https://api.example.com\")\n")
	}
	b.WriteString("if err != nil {\n\treturn err\n}\n\n")
	args := []string{"ctx"}
	for _, name := range op.pathNames() {
		variable := strings.Replace(name, "Id", "ID", 1)
		b.WriteString(variable + " := " + strings.ReplaceAll(op.tsValue(name), "'", `"`) + "\n")
		args = append(args, variable)
	}
	if op.hasQuery() {
		args = append(args, op.goParams(w))
	}
	if text := op.example(); text != nil {
		args = append(args, w.body(op, text))
	}
	call := "c." + op.goMethod() + "(" + strings.Join(args, ", ") + ")"
	if len(op.success().Content) > 0 {
		b.WriteString("answer, err := " + call + "\nif err != nil {\n\treturn err\n}\n")
	} else {
		b.WriteString("err = " + call + "\n")
	}
	formatted, err := format.Source([]byte(b.String()))
	if err != nil {
		return "" // a test compiles all samples
	}
	return string(formatted)
}

func (op *Operation) hasQuery() bool {
	return slices.ContainsFunc(op.from.Parameters, func(p *parameter) bool {
		return op.ref.doc.parameter(p).In == "query"
	})
}

func (op *Operation) goParams(w *goWriter) string {
	required := op.query()
	if len(required) == 0 {
		return "nil"
	}
	var fields []string
	for _, p := range required {
		value, _ := json.Marshal(op.value(p)) // a string has a JSON form
		if of, _, _ := op.ref.doc.resolved(p.Schema); of.kind() == "array" {
			value = []byte("[" + string(value) + "]")
		}
		fields = append(fields, goName(p.Name)+": "+w.value(p.Schema, value, "\t"))
	}
	return "&api." + op.goMethod() + "Params{" + strings.Join(fields, ", ") + "}"
}

// goWriter writes JSON values as Go literals of the client's types.
type goWriter struct{ doc *document }

func (w *goWriter) body(op *Operation, text jsontext.Value) string {
	s := op.from.Body.Content["application/json"].Schema
	return w.value(s, text, "")
}

// value returns a JSON value that is not null as a Go literal of a required field.
func (w *goWriter) value(s *schema, text jsontext.Value, indent string) string {
	of, name, _ := w.doc.resolved(s)
	switch of.kind() {
	case "object":
		return w.object(of, name, text, indent)
	case "array":
		var items []jsontext.Value
		_ = json.Unmarshal(text, &items) // it is valid
		list := make([]string, len(items))
		for i, item := range items {
			list[i] = w.value(of.Items, item, indent)
		}
		return w.typeOf(s) + "{" + strings.Join(list, ", ") + "}"
	case "string":
		var value string
		_ = json.Unmarshal(text, &value) // it is valid
		switch of.Format {
		case "date-time":
			return "must(time.Parse(time.RFC3339, " + strconv.Quote(value) + "))"
		case "date":
			return "must(api.ParseDate(" + strconv.Quote(value) + "))"
		}
		return strconv.Quote(value)
	case "number":
		if of.Format == "quantity" || of.Format == "unit-price" {
			return strconv.Quote(string(text))
		}
	}
	return string(text)
}

func (w *goWriter) object(of *schema, name string, text jsontext.Value, indent string) string {
	var values map[string]jsontext.Value
	_ = json.Unmarshal(text, &values) // it is valid
	var b strings.Builder
	if of.Properties == nil {
		b.WriteString(w.typeOfMap(of) + "{")
		for i, key := range slices.Sorted(maps.Keys(values)) {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(key) + ": ")
			if inner := of.values(); inner != nil {
				b.WriteString(w.value(inner, values[key], indent))
			} else {
				b.WriteString(anyValue(values[key]))
			}
		}
		return b.String() + "}"
	}
	b.WriteString("api." + name + "{\n")
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if p := of.Properties[key]; p != nil {
			b.WriteString(indent + "\t" + goName(key) + ": " + w.field(p, slices.Contains(of.Required, key), values[key], indent+"\t") + ",\n")
		}
	}
	return b.String() + indent + "}"
}

// field returns the Go value of a field: a nullable value, a plain value if the field is required,
// or else a pointer.
func (w *goWriter) field(s *schema, isRequired bool, text jsontext.Value, indent string) string {
	_, _, isNullable := w.doc.resolved(s)
	switch {
	case isNullable && text.Kind() == 'n':
		return "nullable.NewNullNullable[" + w.typeOf(s) + "]()"
	case isNullable:
		return "nullable.NewNullableWithValue" + w.explicit(s) + "(" + w.value(s, text, indent) + ")"
	case isRequired:
		return w.value(s, text, indent)
	default:
		value := w.value(s, text, indent)
		if kind := w.typeOf(s); w.explicit(s) != "" {
			value = kind + "(" + value + ")"
		}
		return "new(" + value + ")"
	}
}

// explicit returns the type argument that a generic call needs for a value, or "" if the type of
// the Go literal is already right.
func (w *goWriter) explicit(s *schema) string {
	switch kind := w.typeOf(s); {
	case kind == "string", kind == "bool", kind == "int", strings.HasPrefix(kind, "[]"), strings.HasPrefix(kind, "map["), kind == "time.Time", kind == "api.Date":
		return ""
	default:
		if of, _, _ := w.doc.resolved(s); of.kind() == "object" {
			return ""
		}
		return "[" + kind + "]"
	}
}

// typeOf returns the Go type of a schema in the client.
func (w *goWriter) typeOf(s *schema) string {
	of, name, _ := w.doc.resolved(s)
	switch of.kind() {
	case "object":
		if of.Properties == nil {
			return w.typeOfMap(of)
		}
		return "api." + name
	case "array":
		return "[]" + w.typeOf(of.Items)
	case "boolean":
		return "bool"
	case "integer":
		if of.Format == "int64" {
			return "int64"
		}
		return "int"
	case "number":
		if of.Format == "quantity" || of.Format == "unit-price" {
			return "json.Number"
		}
		return "float64"
	}
	switch {
	case name != "":
		return "api." + name
	case of.Format == "date-time":
		return "time.Time"
	case of.Format == "date":
		return "api.Date"
	default:
		return "string"
	}
}

func (w *goWriter) typeOfMap(of *schema) string {
	if inner := of.values(); inner != nil {
		return "map[string]" + w.typeOf(inner)
	}
	return "map[string]any"
}

// anyValue returns a JSON value as a Go literal of type any.
func anyValue(text jsontext.Value) string {
	switch text.Kind() {
	case 'n':
		return "nil"
	case '{', '[':
		return "json.RawMessage(" + strconv.Quote(string(text)) + ")"
	default:
		return string(text)
	}
}

// initialisms are the words that the client's names have in upper case.
var initialisms = []string{
	"ACL", "API", "ASCII", "CPU", "CSS", "DB", "DNS", "EOF", "GUID", "HTML", "HTTP", "HTTPS", "ID", "IP", "JSON", "QPS", "RAM", "RPC", "SLA", "SMTP", "SQL",
	"SSH", "TCP", "TLS", "TTL", "UDP", "UI", "GID", "UID", "UUID", "URI", "URL", "UTF8", "VM", "XML", "XMPP", "XSRF", "XSS", "SIP", "RTP", "AMQP", "TS",
}

// goMethod returns the name of the client's method.
func (op *Operation) goMethod() string {
	return strings.ToUpper(op.ID[:1]) + strings.ReplaceAll(op.ID[1:], "Api", "API")
}

// goName returns the name of a JSON key in the client.
func goName(key string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(key, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if upper := strings.ToUpper(word); slices.Contains(initialisms, upper) {
			b.WriteString(upper)
		} else {
			isFirst := true
			for _, c := range word {
				if isFirst {
					c = unicode.ToUpper(c)
				}
				isFirst = unicode.IsDigit(c)
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}
