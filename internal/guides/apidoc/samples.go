package apidoc

import (
	"bytes"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Samples returns code that sends the request of the recorded example: for curl, and with the
// TypeScript and Go clients. Operations that need a browser have only curl.
func (op *Operation) Samples() []Sample {
	samples := []Sample{{Name: "curl", Language: "sh", Code: op.curl()}}
	if code := op.typeScript(); code != "" {
		samples = append(samples, Sample{Name: "TypeScript", Language: "ts", Code: code})
	}
	if code := op.goCode(); code != "" {
		samples = append(samples, Sample{Name: "Go", Language: "go", Code: code})
	}
	return samples
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// example returns the JSON body of the recorded request, or nil for an operation without a JSON
// body. If no request was recorded, it returns a body with the required fields.
func (op *Operation) example() jsontext.Value {
	if op.from.Body == nil {
		return nil
	}
	content, isJSON := op.from.Body.Content["application/json"]
	if !isJSON {
		return nil
	}
	if len(content.Example) == 0 {
		text, _ := json.Marshal(op.ref.required(content.Schema), json.Deterministic(true)) // it has a JSON form
		return text
	}
	return content.Example
}

// required returns an object with the required fields of a schema.
func (r *Reference) required(s *schema) any {
	of, _, _ := r.doc.resolved(s)
	switch of.kind() {
	case "object":
		fields := map[string]any{}
		for _, name := range of.Required {
			fields[name] = r.required(of.Properties[name])
		}
		return fields
	case "array":
		return []any{}
	case "boolean":
		return true
	case "integer", "number":
		return 1
	}
	if len(of.Enum) > 0 {
		return of.Enum[0]
	}
	return "…"
}

// credential returns how a sample authenticates: apiKey, bearer, or "" for public operations.
func (op *Operation) credential() string {
	found := ""
	for _, one := range op.from.Security {
		if one["apiKey"] != nil {
			return "apiKey"
		}
		if one["bearer"] != nil {
			found = "bearer"
		}
	}
	return found
}

// query returns the required query parameters with sample values.
func (op *Operation) query() []parameter {
	var list []parameter
	for _, p := range op.from.Parameters {
		if p = op.ref.doc.parameter(p); p.In == "query" && p.Required {
			list = append(list, *p)
		}
	}
	return list
}

// value returns a sample value of a query parameter.
func (op *Operation) value(p parameter) string {
	of, _, _ := op.ref.doc.resolved(p.Schema)
	switch {
	case len(of.Enum) > 0:
		text, _ := of.Enum[0].(string)
		return text
	case of.kind() == "array":
		return "/api/v1/settings"
	case p.Name == "month":
		return "2026-01"
	case p.Name == "meter_code":
		return "api-calls"
	case p.Name == "search":
		return "acme"
	default:
		return "0199a1b2-0000-7000-8000-000000000001"
	}
}

func (op *Operation) curl() string {
	path := pathParam.ReplaceAllStringFunc(op.Path, func(name string) string {
		return "$" + strings.ToUpper(strings.ReplaceAll(slug(strings.Trim(name, "{}")), "-", "_"))
	})
	var query []string
	for _, p := range op.query() {
		query = append(query, p.Name+"="+op.value(p))
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	var parts []string
	if op.Method != http.MethodGet && (op.Method != http.MethodPost || op.from.Body == nil) {
		parts = append(parts, "-X "+op.Method)
	}
	parts = append(parts, `"$TENANTRY_URL`+path+`"`)
	switch op.credential() {
	case "apiKey":
		parts = append(parts, `-H "Authorization: Bearer $TENANTRY_API_KEY"`)
	case "bearer":
		parts = append(parts, `-H "Authorization: Bearer $ACCESS_TOKEN"`)
	}
	if text := op.example(); text != nil {
		text = text.Clone()
		_ = text.Indent(jsontext.WithIndent("  "), jsontext.WithIndentPrefix("  ")) // it is valid
		parts = append(parts, `-H "Content-Type: application/json"`, "-d '"+strings.ReplaceAll(string(text), "'", `'\''`)+"'")
	} else if op.from.Body != nil {
		parts = append(parts, "-F avatar=@portrait.png")
	}
	return "curl " + strings.Join(parts, " \\\n  ")
}

// typeScript returns the call with the TypeScript client.
func (op *Operation) typeScript() string {
	if !strings.HasPrefix(op.Path, "/api/") || op.from.Body != nil && op.example() == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("import { createClient" + map[string]string{"apiKey": ", apiKey", "bearer": ", tokens, memoryStore"}[op.credential()] + " } from '@tenantry/client'\n\n")
	b.WriteString("const tenantry = createClient({\n  baseUrl: 'https://api.example.com',\n")
	switch op.credential() {
	case "apiKey":
		b.WriteString("  auth: apiKey(process.env.TENANTRY_API_KEY!),\n")
	case "bearer":
		b.WriteString("  auth: tokens(memoryStore()),\n")
	}
	b.WriteString("})\n\n")
	var params, inputs []string
	if names := op.pathNames(); len(names) > 0 {
		params = append(params, "path: { "+strings.Join(names, ", ")+" }")
		for _, name := range names {
			b.WriteString("const " + name + " = " + op.tsValue(name) + "\n")
		}
		b.WriteString("\n")
	}
	var query []string
	for _, p := range op.query() {
		value := "'" + op.value(p) + "'"
		if of, _, _ := op.ref.doc.resolved(p.Schema); of.kind() == "array" {
			value = "[" + value + "]"
		}
		query = append(query, p.Name+": "+value)
	}
	if len(query) > 0 {
		params = append(params, "query: { "+strings.Join(query, ", ")+" }")
	}
	if len(params) > 0 {
		inputs = append(inputs, "params: { "+strings.Join(params, ", ")+" },")
	}
	if text := op.example(); text != nil {
		inputs = append(inputs, "body: "+script(text, "  ")+",")
	}
	call := "await tenantry." + op.Method + "('" + op.Path + "'"
	if len(inputs) > 0 {
		call += ", {\n  " + strings.Join(inputs, "\n  ") + "\n}"
	}
	if op.hasJSON() {
		call = "const answer = " + call
	}
	b.WriteString(call + ")\n")
	return b.String()
}

// hasJSON reports whether a success has a JSON body.
func (op *Operation) hasJSON() bool {
	content := op.success().Content["application/json"]
	return content.Schema != nil
}

// pathNames returns the names of the path parameters.
func (op *Operation) pathNames() []string {
	var names []string
	for _, found := range pathParam.FindAllStringSubmatch(op.Path, -1) {
		names = append(names, found[1])
	}
	return names
}

func (op *Operation) isNumber(name string) bool {
	for _, p := range op.from.Parameters {
		if p = op.ref.doc.parameter(p); p.In == "path" && p.Name == name {
			of, _, _ := op.ref.doc.resolved(p.Schema)
			return of.kind() == "integer"
		}
	}
	return false
}

func (op *Operation) tsValue(name string) string {
	if op.isNumber(name) {
		return "7"
	}
	if value := pathValues[name]; value != "" {
		return "'" + value + "'"
	}
	return "'0199a1b2-0000-7000-8000-000000000001'"
}

// pathValues are sample values of path parameters that are not UUIDs.
var pathValues = map[string]string{
	"meterCode": "api-calls", "featureCode": "api-calls", "slug": "extra-calls", "date": "2026-01-01", "provider": "google", "token": "the-token-of-the-mail",
	"currency": "EUR", "hash": "1f3870be",
}

var identifier = regexp.MustCompile(`^[a-zA-Z_$][\w$]*$`)

// script returns a JSON value as a TypeScript literal.
func script(text jsontext.Value, indent string) string {
	var b bytes.Buffer
	writeScript(&b, text, indent)
	return b.String()
}

func writeScript(b *bytes.Buffer, text jsontext.Value, indent string) {
	switch text.Kind() {
	case '{':
		var fields map[string]jsontext.Value
		_ = json.Unmarshal(text, &fields) // it is valid
		if len(fields) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteString("{\n")
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			key := name
			if !identifier.MatchString(name) {
				key = "'" + name + "'"
			}
			b.WriteString(indent + "  " + key + ": ")
			writeScript(b, fields[name], indent+"  ")
			b.WriteString(",\n")
		}
		b.WriteString(indent + "}")
	case '[':
		var items []jsontext.Value
		_ = json.Unmarshal(text, &items) // it is valid
		b.WriteString("[")
		for i, item := range items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeScript(b, item, indent)
		}
		b.WriteString("]")
	case '"':
		var value string
		_ = json.Unmarshal(text, &value) // it is valid
		b.WriteString("'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`).Replace(value) + "'")
	default:
		b.WriteString(string(text))
	}
}
