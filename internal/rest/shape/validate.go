package shape

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/tenantry/tenantry/internal/fault"
)

// validator checks a value against its rules and rewrites it in normal form.
type validator struct {
	broken *fault.Fields
	// suspect says that the text has invalid UTF-8 or lone surrogates somewhere.
	// Decoding turns those into replacement characters, so a replacement
	// character cannot be trusted.
	suspect bool
}

// lenient are the options for reading a caller's JSON: of a key that occurs twice
// the last one counts, and invalid UTF-8 is reported on its field.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Readable reports whether a text is JSON that Normalize can read.
func Readable(raw jsontext.Value) bool { return raw.IsValid(lenient) }

// Normalize returns a value in normal form: known keys only, strings trimmed and in NFC,
// empty strings null where nullable, and numbers written in one way. A value in
// normal form is its own normal form. Every field that breaks a rule is added to
// broken (rules: http#validation), and left out; a broken item of an array is null. The value
// must be Readable.
func (n *Rules) Normalize(raw jsontext.Value, broken *fault.Fields) jsontext.Value {
	v := validator{broken: broken, suspect: isSuspect(raw)}
	return v.check(n, raw, "")
}

// isSuspect reports whether a text has invalid UTF-8 or lone surrogates.
func isSuspect(raw jsontext.Value) bool {
	clean := utf8.Valid(raw) && !bytes.Contains(raw, []byte(`\u`))
	return !clean && !raw.IsValid(jsontext.AllowDuplicateNames(true))
}

// unquote returns the text of a JSON string, without a copy where possible.
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
func (v *validator) check(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	if n.independent {
		return v.checkIndependent(n, raw)
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

// Peek returns the trimmed text of one key of an object before it is validated; ""
// where that is absent or no string.
func Peek(raw jsontext.Value, name string) string { return strings.TrimSpace(Text(raw, name)) }

// Text is Peek without trimming, for passwords.
func Text(raw jsontext.Value, name string) string {
	var text []byte
	children(raw, func(key []byte, value jsontext.Value) {
		if string(key) == name {
			text = nil
			if value.Kind() == '"' {
				text = unquote(value)
			}
		}
	})
	return string(text)
}

func (v *validator) checkObject(n *Rules, raw jsontext.Value, path string) jsontext.Value {
	switch {
	case raw.Kind() != '{':
		return v.fail(path, "validation.object")
	case n.freeForm:
		return v.checkSize(n, v.checkFreeForm(raw, path), path)
	case n.values != nil:
		return v.checkMap(n.values, raw, path)
	}
	values := make([]jsontext.Value, len(n.props)) // nil is absent
	children(raw, func(key []byte, value jsontext.Value) {
		if i := n.indexOf(key); i >= 0 {
			values[i] = value
		} else if n.closed {
			v.refuseKey(key, path)
		}
	})
	out := append(make([]byte, 0, len(raw)+16), '{')
	for i, p := range n.props {
		value := values[i]
		if value != nil && isEmptyString(p.Rules, value) {
			value = emptyString(p)
		}
		values[i] = value // compared with its confirmation even if it breaks a rule
		if value == nil {
			if p.Required {
				v.fail(join(path, p.Name), "validation.required")
			}
			continue
		}
		checked := v.check(p.Rules, value, join(path, p.Name))
		if checked == nil {
			continue
		}
		if p.confirms >= 0 && values[p.confirms].Kind() == '"' && !isSamePassword(checked, values[p.confirms]) {
			v.fail(join(path, p.Name), "validation.confirmed")
			continue
		}
		out = appendMember(out, p.Name, checked)
	}
	return append(out, '}')
}

// isSamePassword compares two JSON strings in the form in which passwords are hashed.
func isSamePassword(a, b jsontext.Value) bool {
	return bytes.Equal(norm.NFKC.Bytes(unquote(a)), norm.NFKC.Bytes(unquote(b)))
}

// refuseKey reports a key that its object does not have.
func (v *validator) refuseKey(key []byte, path string) {
	if name := string(key); v.badCharacters(name, false) || len(name) > maxKeyEcho {
		v.fail(path, "validation.characters")
	} else {
		v.fail(join(path, name), "validation.unsupported")
	}
}

// maxKeyEcho bounds how much of a caller's key an error repeats, in bytes.
const maxKeyEcho = 64

// checkMap checks an object with keys of the caller's own and one rule for all
// values.
func (v *validator) checkMap(values *Rules, raw jsontext.Value, path string) jsontext.Value {
	members := map[string]jsontext.Value{}
	children(raw, func(key []byte, value jsontext.Value) { members[norm.NFC.String(string(key))] = value })
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

// isEmptyString reports whether a value is a string with nothing in it. Spaces
// count in a password, which is not trimmed.
func isEmptyString(n *Rules, value jsontext.Value) bool {
	if n.kind != "string" || value.Kind() != '"' {
		return false
	}
	if n.format == "password" {
		return len(value) == len(`""`)
	}
	return len(bytes.TrimSpace(unquote(value))) == 0
}

// emptyString returns what an empty string stands for: null where nullable, absent
// (nil) where required. Elsewhere it is a value like any other, which the field's
// other rules may refuse.
func emptyString(p Property) jsontext.Value {
	switch {
	case p.Rules.nullable:
		return jsontext.Value("null")
	case p.Required:
		return nil
	default:
		return jsontext.Value(`""`)
	}
}

func (v *validator) checkArray(n *Rules, raw jsontext.Value, path string) jsontext.Value {
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
		checked := v.check(n.items, item, join(path, strconv.Itoa(i)))
		if checked == nil { // the items after it keep their places
			checked = jsontext.Value("null")
		}
		out = append(out, checked...)
	}
	return append(out, ']')
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
