package form

import (
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxText is Stripe's limit for a text that has none of its own, in characters.
const maxText = 5000

// Params reads one level of a request's parameters. Each reader writes to its
// destination only when the parameter was given, so that creating and updating
// an object share their readers. The first refusal is kept and returned by
// done, which also refuses whatever no reader has asked for.
type Params struct {
	node    *node
	path    string
	refused *error
}

// Name is the parameter's full name, such as recurring[interval].
func (p *Params) Name(key string) string {
	if p.path == "" {
		return key
	}
	return p.path + "[" + key + "]"
}

func (p *Params) Has(key string) bool { _, ok := p.node.children[key]; return ok }

// Fail keeps the first refusal.
func (p *Params) Fail(key, code, format string, args ...any) {
	if *p.refused == nil {
		e := Refuse(p.Name(key), code, format, args...)
		e.Unstarted = true
		*p.refused = e
	}
}

func (p *Params) take(key string) *node {
	n := p.node.children[key]
	if n != nil {
		n.used = true
	}
	return n
}

// scalar returns a given plain value that fits Stripe's limit for texts.
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

// Filled returns a given value that must not be empty.
func (p *Params) Filled(key string) (string, bool) {
	value, ok := p.scalar(key)
	if ok && value == "" {
		p.Fail(key, "parameter_invalid_empty", "You passed an empty string for '%s'. We assume empty values are an attempt to unset a field; however '%s' cannot be unset. You should remove '%s' from your request or supply a non-empty value.", p.Name(key), p.Name(key), p.Name(key))
		return "", false
	}
	return value, ok
}

// Require refuses a request that leaves out one of the keys.
func (p *Params) Require(keys ...string) {
	for _, key := range keys {
		if !p.Has(key) {
			p.Fail(key, "parameter_missing", "Missing required param: %s.", p.Name(key))
		}
	}
}

func (p *Params) Text(key string, into *string) {
	if value, ok := p.Filled(key); ok {
		*into = value
	}
}

// Clearable reads a text that an empty value unsets.
func (p *Params) Clearable(key string, into **string) {
	if value, ok := p.scalar(key); ok {
		*into = nil
		if value != "" {
			*into = &value
		}
	}
}

func (p *Params) Boolean(key string, into *bool) {
	switch value, ok := p.Filled(key); {
	case !ok:
	case value == "true":
		*into = true
	case value == "false":
		*into = false
	default:
		p.Fail(key, "", "Invalid boolean: %s", value)
	}
}

// Integer reads a whole number from low to high.
func (p *Params) Integer(key string, low, high int64, into *int64) {
	value, ok := p.Filled(key)
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

func (p *Params) Choice(key string, into *string, allowed ...string) {
	value, ok := p.Filled(key)
	if !ok {
		return
	}
	if !slices.Contains(allowed, value) {
		p.Fail(key, "", "Invalid %s: must be one of %s (the sandbox supports no others)", p.Name(key), strings.Join(allowed, ", "))
		return
	}
	*into = value
}

// Is tells that a plain value was given as want.
func (p *Params) Is(key, want string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == want
}

func (p *Params) Email(key string, into **string) {
	p.Clearable(key, into)
	if value := *into; p.Has(key) && value != nil {
		if parsed, err := mail.ParseAddress(*value); err != nil || parsed.Address != *value {
			p.Fail(key, "email_invalid", "Invalid email address: %s", *value)
		}
	}
}

func (p *Params) URL(key string, into **string) {
	p.Clearable(key, into)
	if value := *into; p.Has(key) && value != nil {
		if u, err := url.Parse(*value); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			p.Fail(key, "url_invalid", "Not a valid URL")
		}
	}
}

// Hash opens a nested object; nil when it was not given or given empty.
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

// Cleared tells that a nested object was given as an empty value, to unset it.
func (p *Params) Cleared(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == ""
}

// List opens the elements of an array, in the order of their indexes.
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
		if value, ok := array.Filled(index); ok {
			values = append(values, value)
		}
	}
	return values
}

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

// Metadata merges what was given: an empty value drops its key, an empty
// parameter drops all of them.
func (p *Params) Metadata(into *map[string]string) {
	merged := map[string]string{}
	if !p.Cleared("metadata") {
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

// Done returns the first refusal. Without one it refuses what is left over: a
// parameter that the sandbox does not know is never passed over in silence.
func (p *Params) Done() error {
	if *p.refused == nil {
		if unknown := p.unused(p.node, p.path); len(unknown) > 0 {
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

func (p *Params) unused(n *node, path string) []string {
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
		names = append(names, p.unused(child, name)...)
	}
	return names
}

// Short reads a text of at most so many characters.
func (p *Params) Short(key string, most int, into *string) {
	p.Text(key, into)
	if utf8.RuneCountInString(*into) > most {
		p.Fail(key, "", "Invalid string: %s must be at most %d characters", p.Name(key), most)
	}
}

// Keys are the names that were given at this level, in their order.
func (p *Params) Keys() []string { return p.node.keys }

// Plain reports whether a value, not a nested object, was given.
func (p *Params) Plain(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf
}

// Failed reports whether a parameter was refused so far.
func (p *Params) Failed() bool { return *p.refused != nil }
