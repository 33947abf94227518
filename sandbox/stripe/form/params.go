package form

import (
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText is Stripe's limit for texts without a specific limit, in characters.
const maxText = 5000

// Params reads one level of a request's parameters. Each reader writes to its destination only if
// the parameter was given, so the same readers serve create and update endpoints. Params records
// the first invalid parameter. CheckUnread returns it and also refuses parameters that no reader
// has read.
type Params struct {
	node    *node
	path    string
	refused *error // the first error, shared by all levels
}

// Name returns the parameter's full name, such as recurring[interval].
func (p *Params) Name(key string) string {
	if p.path == "" {
		return key
	}
	return p.path + "[" + key + "]"
}

// Has reports whether the parameter was given.
func (p *Params) Has(key string) bool { _, ok := p.node.children[key]; return ok }

// Fail records an error for the parameter, unless an earlier error was recorded. CheckUnread
// returns it.
func (p *Params) Fail(key, code, format string, args ...any) {
	if *p.refused == nil {
		e := Refuse(p.Name(key), code, format, args...)
		e.Unstarted = true
		*p.refused = e
	}
}

// take returns the parameter and marks it as read. It returns nil if the parameter was not given.
func (p *Params) take(key string) *node {
	n := p.node.children[key]
	if n != nil {
		n.used = true
	}
	return n
}

// scalar returns a plain value within Stripe's limit for texts. It reports whether a valid value
// was given.
func (p *Params) scalar(key string) (string, bool) {
	n := p.take(key)
	switch {
	case n == nil:
		return "", false
	case !n.leaf:
		p.Fail(key, "", "Invalid string: %s must not be an object", p.Name(key))
	case !utf8.ValidString(n.value) || strings.ContainsRune(n.value, 0):
		p.Fail(key, "", "Invalid string: %s is not valid UTF-8", p.Name(key))
	case utf8.RuneCountInString(n.value) > maxText:
		p.Fail(key, "", "Invalid string: %s must be at most %d characters", p.Name(key), maxText)
	default:
		return n.value, true
	}
	return "", false
}

// ReadFilled returns a plain value and refuses an empty value. It reports whether a value was
// given.
func (p *Params) ReadFilled(key string) (string, bool) {
	value, ok := p.scalar(key)
	if ok && value == "" {
		p.Fail(key, "parameter_invalid_empty", "You passed an empty string for '%s'. We assume empty values are an attempt to unset a field; however '%s' cannot be unset. You should remove '%s' from your request or supply a non-empty value.", p.Name(key), p.Name(key), p.Name(key))
		return "", false
	}
	return value, ok
}

// Require refuses a request in which one of the keys is missing.
func (p *Params) Require(keys ...string) {
	for _, key := range keys {
		if !p.Has(key) {
			p.Fail(key, "parameter_missing", "Missing required param: %s.", p.Name(key))
		}
	}
}

// Text reads a text that must not be empty.
func (p *Params) Text(key string, into *string) {
	if value, ok := p.ReadFilled(key); ok {
		*into = value
	}
}

// ReadClearable reads a text. An empty value unsets the field.
func (p *Params) ReadClearable(key string, into **string) {
	if value, ok := p.scalar(key); ok {
		*into = nil
		if value != "" {
			*into = &value
		}
	}
}

// Boolean reads true or false.
func (p *Params) Boolean(key string, into *bool) {
	switch value, ok := p.ReadFilled(key); {
	case !ok:
	case value == "true":
		*into = true
	case value == "false":
		*into = false
	default:
		p.Fail(key, "", "Invalid boolean: %s", value)
	}
}

// Integer reads a whole number between low and high, inclusive.
func (p *Params) Integer(key string, low, high int64, into *int64) {
	value, ok := p.ReadFilled(key)
	if !ok {
		return
	}
	number, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		p.Fail(key, "parameter_invalid_integer", "Invalid integer: %s", value)
	case number < low:
		p.Fail(key, "parameter_invalid_integer", "This value must be greater than or equal to %d.", low)
	case number > high:
		p.Fail(key, "parameter_invalid_integer", "This value must be less than or equal to %d.", high)
	default:
		*into = number
	}
}

// Choice reads one of the allowed values.
func (p *Params) Choice(key string, into *string, allowed ...string) {
	value, ok := p.ReadFilled(key)
	if !ok {
		return
	}
	if !slices.Contains(allowed, value) {
		p.Fail(key, "", "Invalid %s: must be one of %s (the sandbox supports no others)", p.Name(key), strings.Join(allowed, ", "))
		return
	}
	*into = value
}

// Is reports whether the parameter has the plain value want.
func (p *Params) Is(key, want string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == want
}

// PeekValue returns the plain value at a path of keys without marking it as read. It returns "" if
// the value does not exist.
func (p *Params) PeekValue(path ...string) string {
	n := p.node
	for _, key := range path {
		if n = n.children[key]; n == nil {
			return ""
		}
	}
	return n.value
}

// Email reads an email address. An empty value unsets the field.
func (p *Params) Email(key string, into **string) {
	p.ReadClearable(key, into)
	if value := *into; p.Has(key) && value != nil {
		if parsed, err := mail.ParseAddress(*value); err != nil || parsed.Address != *value {
			p.Fail(key, "email_invalid", "Invalid email address: %s", *value)
		}
	}
}

// URL reads an http or https URL. An empty value unsets the field.
func (p *Params) URL(key string, into **string) {
	p.ReadClearable(key, into)
	if value := *into; p.Has(key) && value != nil {
		if u, err := url.Parse(*value); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			p.Fail(key, "url_invalid", "Not a valid URL")
		}
	}
}

// Hash returns a nested object. It returns nil if the object was not given or is empty.
func (p *Params) Hash(key string) *Params {
	n := p.take(key)
	if n == nil || (n.leaf && n.value == "") {
		return nil
	}
	if n.leaf {
		p.Fail(key, "", "Invalid object: %s", p.Name(key))
		return nil
	}
	return &Params{node: n, path: p.Name(key), refused: p.refused}
}

// IsCleared reports whether an empty value was given for a nested object, which unsets the object.
func (p *Params) IsCleared(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == ""
}

// List returns the elements of an array, ordered by index.
func (p *Params) List(key string) []*Params {
	array := p.Hash(key)
	if array == nil {
		return nil
	}
	var elements []*Params
	for _, index := range array.indexes() {
		if element := array.Hash(index); element != nil {
			elements = append(elements, element)
		}
	}
	return elements
}

// Texts reads an array of plain values.
func (p *Params) Texts(key string) []string {
	array := p.Hash(key)
	if array == nil {
		return nil
	}
	var values []string
	for _, index := range array.indexes() {
		if value, ok := array.ReadFilled(index); ok {
			values = append(values, value)
		}
	}
	return values
}

// indexes returns the indexes of an array in ascending order.
func (p *Params) indexes() []string {
	keys := slices.Clone(p.node.keys)
	for _, key := range keys {
		if _, err := strconv.ParseUint(key, 10, 16); err != nil {
			p.Fail(key, "", "Invalid array")
			return nil
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return keys
}

func nextIndex(keys []string) string { return strconv.Itoa(len(keys)) }

// Metadata merges the given metadata into the existing metadata. An empty value removes its key; an
// empty parameter removes all keys.
func (p *Params) Metadata(into *map[string]string) {
	merged := map[string]string{}
	if !p.IsCleared("metadata") {
		for key, value := range *into {
			merged[key] = value
		}
	}
	if given := p.Hash("metadata"); given != nil {
		for _, key := range given.node.keys {
			value, _ := given.scalar(key)
			switch {
			case utf8.RuneCountInString(key) > 40:
				given.Fail(key, "", "Metadata keys can have up to 40 characters.")
			case utf8.RuneCountInString(value) > 500:
				given.Fail(key, "", "Metadata values can have up to 500 characters, but you passed in a value that is %d characters.", utf8.RuneCountInString(value))
			case value == "":
				delete(merged, key)
			default:
				merged[key] = value
			}
		}
	}
	if len(merged) > 50 {
		p.Fail("metadata", "", "Metadata can have up to 50 keys.")
	}
	*into = merged
}

// CheckUnread returns the first recorded error. If there was no error, it refuses the parameters
// that no reader has read, so the sandbox never ignores an unsupported parameter.
func (p *Params) CheckUnread() error {
	if *p.refused == nil {
		if unknown := p.unreadNames(p.node, p.path); len(unknown) > 0 {
			plural := ""
			if len(unknown) > 1 {
				plural = "s"
			}
			e := Refuse(unknown[0], "parameter_unknown", "Received unknown parameter%s: %s", plural, strings.Join(unknown, ", "))
			e.Unstarted = true
			*p.refused = e
		}
	}
	return *p.refused
}

// unreadNames returns the full names of the unread parameters below n.
func (p *Params) unreadNames(n *node, path string) []string {
	var names []string
	for _, key := range n.keys {
		child, name := n.children[key], key
		if path != "" {
			name = path + "[" + key + "]"
		}
		if !child.used {
			names = append(names, name)
			continue
		}
		names = append(names, p.unreadNames(child, name)...)
	}
	return names
}

// ReadShort reads a text with a maximum number of characters.
func (p *Params) ReadShort(key string, most int, into *string) {
	p.Text(key, into)
	if utf8.RuneCountInString(*into) > most {
		p.Fail(key, "", "Invalid string: %s must be at most %d characters", p.Name(key), most)
	}
}

// Keys returns the names of the parameters at this level, sorted.
func (p *Params) Keys() []string { return p.node.keys }

// IsPlain reports whether the parameter has a plain value rather than a nested object.
func (p *Params) IsPlain(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf
}

// HasFailed reports whether an error has been recorded.
func (p *Params) HasFailed() bool { return *p.refused != nil }
