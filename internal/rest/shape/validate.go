package shape

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/fault"
)

// validator validates a value against its schema and converts it to normal form.
type validator struct {
	broken *fault.Fields
	// suspect means that the input contains invalid UTF-8 or lone surrogates. Decoding replaces
	// them with replacement characters, so replacement characters are then rejected.
	suspect bool
}

// lenient are the options for reading a caller's JSON: the last value of a duplicate key counts,
// and invalid UTF-8 is reported as an error of its field.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

var null = jsontext.Value("null")

// IsReadable reports whether a text is JSON that Normalize can read.
func IsReadable(raw jsontext.Value) bool { return raw.IsValid(lenient) }

// Normalize returns a value in normal form: only known keys, strings trimmed and in NFC, empty
// strings null if nullable, defaults for absent values, and canonical numbers. Normalizing is
// idempotent. Every invalid field is added to broken (rules: http#validation) and omitted; an
// invalid array item becomes null. The value must be Readable.
func (s *Schema) Normalize(raw jsontext.Value, broken *fault.Fields) jsontext.Value {
	clean := utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`)) || raw.IsValid(jsontext.AllowDuplicateNames(true))
	v := validator{broken: broken, suspect: !clean}
	return v.check(s, raw, "")
}

// unquote returns the text of a JSON string, without a copy if possible.
func unquote(raw jsontext.Value) []byte {
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	text, _ := jsontext.AppendUnquote(nil, raw)
	return text
}

func quote(text string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return quoted
}

func (v *validator) fail(path, message string) jsontext.Value {
	v.broken.Add(path, message)
	return nil
}

func (v *validator) failWith(path, message, arg string, value any) jsontext.Value {
	*v.broken = append(*v.broken, fault.Field{Path: path, Message: message, Args: map[string]any{arg: value}})
	return nil
}

// check returns the normal form of raw, or nil if it is invalid.
func (v *validator) check(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	switch kind := raw.Kind(); {
	case s.isItem:
		return raw
	case kind == 'n' && (s.Nullable || s.Type == ""):
		return raw
	case kind == 'n':
		return v.fail(path, "validation.null")
	}
	switch s.Type {
	case TypeString:
		return v.checkString(s, raw, path)
	case TypeInteger:
		return v.checkInteger(s, raw, path)
	case TypeNumber:
		return v.checkNumber(s, raw, path)
	case TypeBoolean:
		if k := raw.Kind(); k != 't' && k != 'f' {
			return v.fail(path, "validation.boolean")
		}
		return raw
	case TypeArray:
		return v.checkArray(s, raw, path)
	case TypeObject:
		return v.checkObject(s, raw, path)
	default:
		return v.checkFreeForm(raw, path)
	}
}

// children calls f for each value in an object or array of valid JSON, with its key if it has one.
// The slices alias raw.
func children(raw jsontext.Value, f func(key []byte, value jsontext.Value)) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return
	}
	var key []byte
	isKey := raw.Kind() == '{'
	for k := dec.PeekKind(); k != ']' && k != '}' && k != 0; k = dec.PeekKind() {
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		end := int(dec.InputOffset()) // the value is only valid until the next call
		value = raw[end-len(value) : end]
		if isKey {
			key = unquote(value)
		} else {
			f(key, value)
		}
		isKey = !isKey && raw.Kind() == '{'
	}
}

// Peek reports whether an object that is not yet validated has a key, and returns its trimmed text,
// or "" if it is not a string.
func Peek(raw jsontext.Value, name string) (text string, found bool) {
	children(raw, func(key []byte, value jsontext.Value) {
		if string(key) == name {
			text, found = "", true
			if value.Kind() == '"' {
				text = strings.TrimSpace(string(unquote(value)))
			}
		}
	})
	return text, found
}

func (v *validator) checkObject(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	switch {
	case raw.Kind() != '{':
		return v.fail(path, "validation.object")
	case s.IsFreeForm:
		value := v.checkFreeForm(raw, path)
		if len(value) > s.MaxBytes { // without whitespace
			return v.failWith(path, "validation.max_bytes", "max", s.MaxBytes)
		}
		return value
	case s.Values != nil:
		return v.checkMap(s.Values, raw, path)
	}
	values := make([]jsontext.Value, len(s.Properties)) // nil means absent
	children(raw, func(key []byte, value jsontext.Value) {
		if i := s.indexOf(key); i >= 0 {
			values[i] = value
		} else if s.IsClosed {
			v.refuseKey(key, path)
		}
	})
	out := append(make([]byte, 0, len(raw)+16), '{')
	for i, p := range s.Properties {
		values[i] = p.effectiveValue(values[i])
		if values[i] == nil {
			if p.Required {
				v.fail(join(path, p.Name), "validation.required")
			}
			continue
		}
		checked := v.check(p.Schema, values[i], join(path, p.Name))
		if checked != nil && p.confirms != "" && !isSamePassword(checked, values[s.indexOf([]byte(p.confirms))]) {
			checked = v.fail(join(path, p.Name), "validation.confirmed")
		}
		if checked != nil {
			out = appendMember(out, p.Name, checked)
		}
	}
	return append(out, '}')
}

// indexOf returns the index of a property by its exact name, or -1.
func (s *Schema) indexOf(name []byte) int {
	for i := range s.Properties {
		if s.Properties[i].Name == string(name) {
			return i
		}
	}
	return -1
}

// effectiveValue returns the effective value of a property, or nil. An empty string becomes null if the
// property is nullable, and absent if it is required. For other properties, an empty string is a
// normal value.
func (p *Property) effectiveValue(value jsontext.Value) jsontext.Value {
	switch {
	case value == nil && p.Default != "":
		return p.literal(p.Default)
	case value == nil || !p.isEmptyString(value):
		return value
	case p.Nullable:
		return null
	case p.Required:
		return nil
	}
	return jsontext.Value(`""`)
}

// isEmptyString reports whether a value is an empty string. Spaces count in a password, which is
// not trimmed.
func (s *Schema) isEmptyString(value jsontext.Value) bool {
	if s.Type != TypeString && !s.TakesEmpty || value.Kind() != '"' {
		return false
	}
	return len(value) == len(`""`) || s.Format != "password" && len(bytes.TrimSpace(unquote(value))) == 0
}

// isSamePassword reports whether two values are the same string in the form in which passwords are
// hashed. A value that is not a string was already rejected.
func isSamePassword(a, b jsontext.Value) bool {
	return b.Kind() != '"' || bytes.Equal(norm.NFKC.Bytes(unquote(a)), norm.NFKC.Bytes(unquote(b)))
}

// refuseKey reports an unknown key of a closed object.
func (v *validator) refuseKey(key []byte, path string) {
	if name := string(key); v.hasBadCharacters(name, false) || len(name) > maxKeyEcho {
		v.fail(path, "validation.characters")
	} else {
		v.fail(join(path, name), "validation.unsupported")
	}
}

// maxKeyEcho is the maximum length of a caller's key that is repeated in an error, in bytes.
const maxKeyEcho = 64

// checkMap validates an object with arbitrary keys and one schema for all values.
func (v *validator) checkMap(values *Schema, raw jsontext.Value, path string) jsontext.Value {
	members := map[string]jsontext.Value{}
	children(raw, func(key []byte, value jsontext.Value) { members[norm.NFC.String(string(key))] = value })
	out := []byte{'{'}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if v.hasBadCharacters(key, false) {
			v.fail(path, "validation.characters")
			continue
		}
		value := members[key]
		if values.Nullable && values.isEmptyString(value) {
			value = null
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

func (v *validator) checkArray(s *Schema, raw jsontext.Value, path string) jsontext.Value {
	if raw.Kind() != '[' {
		return v.fail(path, "validation.array")
	}
	var items []jsontext.Value
	children(raw, func(_ []byte, value jsontext.Value) { items = append(items, value) })
	if len(items) < s.MinItems {
		return v.failWith(path, "validation.min_items", "min", s.MinItems)
	}
	if s.MaxItems > 0 && len(items) > s.MaxItems {
		return v.failWith(path, "validation.max_items", "max", s.MaxItems)
	}
	for i, item := range items {
		if items[i] = v.check(s.Items, item, join(path, strconv.Itoa(i))); items[i] == nil {
			items[i] = null // keeps the indexes of the following items
		}
	}
	return arrayOf(items)
}

func arrayOf(items []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// maxDepth is the maximum nesting depth of a free-form value.
const maxDepth = 32

// checkFreeForm validates a value that both databases can store. It converts strings and keys to
// NFC and keeps only the last value of a duplicate key. PostgreSQL rejects U+0000 and numbers with
// huge exponents. Numbers keep their notation.
func (v *validator) checkFreeForm(raw jsontext.Value, path string) jsontext.Value {
	out, message := v.rewrite(raw, 0)
	if message != "" {
		return v.fail(path, message)
	}
	return out
}

func (v *validator) rewrite(raw jsontext.Value, depth int) (out jsontext.Value, message string) {
	kind := raw.Kind()
	if (kind == '{' || kind == '[') && depth == maxDepth {
		return nil, "validation.depth"
	}
	switch kind {
	case '"':
		text := string(unquote(raw))
		switch {
		case v.hasBadCharacters(text, true):
			return nil, "validation.characters"
		case norm.NFC.IsNormalString(text):
			return raw, ""
		}
		return quote(norm.NFC.String(text)), ""
	case '0':
		if value, err := strconv.ParseFloat(string(raw), 64); err != nil || math.IsInf(value, 0) || !isBounded(raw) {
			return nil, "validation.number"
		}
		return raw, ""
	case '[', '{':
		return v.rewriteChildren(raw, depth)
	default:
		return raw, ""
	}
}

func (v *validator) rewriteChildren(raw jsontext.Value, depth int) (out jsontext.Value, message string) {
	var names []string
	var values []jsontext.Value
	places := map[string]int{}
	children(raw, func(key []byte, value jsontext.Value) {
		value, problem := v.rewrite(value, depth+1)
		name := norm.NFC.String(string(key))
		if v.hasBadCharacters(name, true) {
			problem = "validation.characters"
		}
		if message == "" {
			message = problem
		}
		if place, twice := places[name]; twice && raw.Kind() == '{' {
			values[place] = value
			return
		}
		places[name] = len(values)
		names, values = append(names, name), append(values, value)
	})
	if message != "" || raw.Kind() == '[' {
		return arrayOf(values), message
	}
	out = jsontext.Value{'{'}
	for i, name := range names {
		out = appendMember(out, name, values[i])
	}
	return append(out, '}'), ""
}
