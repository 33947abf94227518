package rest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
)

// validator checks one body against a node and rewrites it in normal form:
// known keys only, strings trimmed, empty strings null where nullable, numbers
// written in one way. A body in normal form is its own normal form.
type validator struct {
	broken *fault.Fields
	// suspect says that the text holds invalid UTF-8 or lone surrogates
	// somewhere, so that a replacement character is one of those.
	suspect bool
}

// lenient is how a caller's JSON is read: of a key given twice the last counts,
// and broken UTF-8 is reported on its field.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func isSuspect(raw jsontext.Value) bool {
	plain := utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`))
	return !plain && !raw.IsValid(jsontext.AllowDuplicateNames(true))
}

// unquote gives the text of a JSON string, without a copy if it can.
func unquote(raw jsontext.Value) []byte {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

func (v *validator) fail(path, message string) jsontext.Value {
	v.broken.Add(path, message)
	return nil
}

func (v *validator) failWith(path, message, arg string, value any) jsontext.Value {
	*v.broken = append(*v.broken, fault.Field{Path: path, Message: message, Args: map[string]any{arg: value}})
	return nil
}

// check returns the normal form of raw, or nil when it broke a rule.
func (v *validator) check(n *node, raw jsontext.Value, path string) jsontext.Value {
	if n.alone {
		return v.checkAlone(n, raw)
	}
	if raw.Kind() == 'n' {
		if !n.nullable {
			return v.fail(path, "validation.null")
		}
		return raw
	}
	switch n.kind {
	case "string":
		return v.checkString(n, raw, path)
	case "integer":
		return v.checkInteger(n, raw, path)
	case "number":
		return v.checkNumber(n, raw, path)
	case "boolean":
		if k := raw.Kind(); k != 't' && k != 'f' {
			return v.fail(path, "validation.boolean")
		}
		return raw
	case "array":
		return v.checkArray(n, raw, path)
	case "object":
		return v.checkObject(n, raw, path)
	default:
		return v.checkFreeForm(raw, path)
	}
}

// children calls f for each value inside an object or an array of valid JSON,
// with its key if it has one. The slices alias raw.
func children(raw jsontext.Value, f func(key []byte, value jsontext.Value)) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return
	}
	read := func() (jsontext.Value, bool) {
		value, err := dec.ReadValue()
		end := dec.InputOffset() // the value itself is only valid until the next call
		return raw[int(end)-len(value) : end], err == nil
	}
	inObject := raw.Kind() == '{'
	for k := dec.PeekKind(); k != ']' && k != '}' && k != 0; k = dec.PeekKind() {
		var key []byte
		if inObject {
			name, ok := read()
			if !ok {
				return
			}
			key = unquote(name)
		}
		value, ok := read()
		if !ok {
			return
		}
		f(key, value)
	}
}

// peek reads one string of an object, before anything is validated.
func peek(raw jsontext.Value, name string) string {
	var text []byte
	children(raw, func(key []byte, value jsontext.Value) {
		if string(key) == name {
			text = nil
			if value.Kind() == '"' {
				text = unquote(value)
			}
		}
	})
	return strings.TrimSpace(string(text))
}

func (v *validator) checkObject(n *node, raw jsontext.Value, path string) jsontext.Value {
	switch {
	case raw.Kind() != '{':
		return v.fail(path, "validation.object")
	case n.freeForm:
		return v.checkFreeForm(raw, path)
	case n.values != nil:
		return v.checkMap(n.values, raw, path)
	}
	values := make([]jsontext.Value, len(n.props)) // nil is absent
	children(raw, func(key []byte, value jsontext.Value) {
		if i := n.prop(key); i >= 0 {
			values[i] = value
		} else if n.closed {
			v.refuseKey(key, path)
		}
	})
	out := append(make([]byte, 0, len(raw)+16), '{')
	for i, p := range n.props {
		value := values[i]
		if value != nil && isEmptyString(p.node, value) {
			value = emptyString(p)
		}
		if value == nil {
			if p.required {
				v.fail(join(path, p.name), "validation.required")
			}
			continue
		}
		checked := v.check(p.node, value, join(path, p.name))
		values[i] = checked
		if checked == nil {
			continue
		}
		if p.confirms >= 0 && values[p.confirms] != nil && !bytes.Equal(checked, values[p.confirms]) {
			v.fail(join(path, p.name), "validation.confirmed")
			continue
		}
		out = appendMember(out, p.name, checked)
	}
	return append(out, '}')
}

// refuseKey is for an object whose keys are given.
func (v *validator) refuseKey(key []byte, path string) {
	if name := string(key); v.badCharacters(name, false) || len(name) > maxKeyEcho {
		v.fail(path, "validation.characters")
	} else {
		v.fail(join(path, name), "validation.unsupported")
	}
}

// maxKeyEcho bounds how much of a caller's key an error repeats, in bytes.
const maxKeyEcho = 64

// checkMap checks an object whose keys are the caller's and whose values are all
// alike, such as the texts of a translatable field.
func (v *validator) checkMap(values *node, raw jsontext.Value, path string) jsontext.Value {
	members := map[string]jsontext.Value{}
	children(raw, func(key []byte, value jsontext.Value) { members[string(key)] = value })
	out := []byte{'{'}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if v.badCharacters(key, false) {
			v.fail(path, "validation.characters")
			continue
		}
		value := members[key]
		if values.nullable && isEmptyString(values, value) {
			value = jsontext.Value("null")
		}
		if checked := v.check(values, value, join(path, key)); checked != nil {
			out = appendMember(out, key, checked)
		}
	}
	return append(out, '}')
}

func appendMember(out []byte, name string, value jsontext.Value) []byte {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, _ = jsontext.AppendQuote(out, name)
	return append(append(out, ':'), value...)
}

// isEmptyString tells whether a value is a string with nothing in it. A
// password is not trimmed, so that spaces are something in it.
func isEmptyString(n *node, value jsontext.Value) bool {
	if n.kind != "string" || value.Kind() != '"' {
		return false
	}
	if n.format == "password" {
		return len(value) == len(`""`)
	}
	return len(bytes.TrimSpace(unquote(value))) == 0
}

// emptyString is the one rule for empty strings: null where nullable, absent
// where required, itself elsewhere, if the field's other rules take it.
func emptyString(p property) jsontext.Value {
	switch {
	case p.node.nullable:
		return jsontext.Value("null")
	case p.required:
		return nil
	default:
		return jsontext.Value(`""`)
	}
}

func (v *validator) checkArray(n *node, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '[' {
		return v.fail(path, "validation.array")
	}
	var items []jsontext.Value
	children(raw, func(_ []byte, value jsontext.Value) { items = append(items, value) })
	if len(items) < n.minItems {
		return v.failWith(path, "validation.min_items", "min", n.minItems)
	}
	if n.maxItems > 0 && len(items) > n.maxItems {
		return v.failWith(path, "validation.max_items", "max", n.maxItems)
	}
	out := append(make([]byte, 0, len(raw)), '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v.check(n.items, item, join(path, strconv.Itoa(i)))...)
	}
	return append(out, ']')
}

func (v *validator) checkString(n *node, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '"' {
		return v.fail(path, "validation.string")
	}
	text := string(unquote(raw))
	if n.format != "password" {
		text = strings.TrimSpace(text)
	}
	if v.badCharacters(text, n.format == "multiline") {
		return v.fail(path, "validation.characters")
	}
	length := utf8.RuneCountInString(text)
	if n.format == "password" && n.maxLength > 0 && len(text) > n.maxLength {
		length = len(text) // a password is bounded in bytes: hashing costs by the byte
	}
	switch {
	case length == 0 && n.minLength > 0:
		return v.fail(path, "validation.required")
	case length < n.minLength:
		return v.failWith(path, "validation.min_length", "min", n.minLength)
	case n.maxLength > 0 && length > n.maxLength:
		return v.failWith(path, "validation.max_length", "max", n.maxLength)
	case !n.inEnum(text):
		return v.failWith(path, "validation.enum", "values", strings.Join(n.enum, ", "))
	case n.pattern != nil && !n.pattern.MatchString(text):
		return v.fail(path, "validation.pattern")
	}
	if check := formats[n.format]; check.valid != nil && !check.valid(text) {
		return v.fail(path, check.message)
	}
	if len(text) == len(raw)-2 && string(raw[1:len(raw)-1]) == text { // nothing to trim, nothing escaped
		return raw
	}
	out, _ := jsontext.AppendQuote(nil, text)
	return out
}

func (n *node) inEnum(text string) bool { return len(n.enum) == 0 || slices.Contains(n.enum, text) }

// badCharacters tells whether a text holds control characters or broken UTF-8.
func (v *validator) badCharacters(text string, multiline bool) bool {
	for _, c := range text {
		if multiline && (c == '\n' || c == '\r' || c == '\t') {
			continue
		}
		if unicode.IsControl(c) || c == utf8.RuneError && v.suspect {
			return true
		}
	}
	return false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
