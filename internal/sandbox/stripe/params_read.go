package stripe

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

// params reads one level of a request's parameters. Each reader writes to its
// destination only when the parameter was given, so that creating and updating
// an object share their readers. The first refusal is kept and returned by
// done, which also refuses whatever no reader has asked for.
type params struct {
	node  *node
	path  string
	first *error
}

// name is the parameter's full name, such as recurring[interval].
func (p *params) name(key string) string {
	if p.path == "" {
		return key
	}
	return p.path + "[" + key + "]"
}

func (p *params) has(key string) bool { _, ok := p.node.children[key]; return ok }

// fail keeps the first refusal.
func (p *params) fail(key, code, format string, args ...any) {
	if *p.first == nil {
		e := refuse(p.name(key), code, format, args...)
		e.unstarted = true
		*p.first = e
	}
}

func (p *params) take(key string) *node {
	n := p.node.children[key]
	if n != nil {
		n.used = true
	}
	return n
}

// scalar returns a given plain value that fits Stripe's limit for texts.
func (p *params) scalar(key string) (string, bool) {
	n := p.take(key)
	switch {
	case n == nil:
		return "", false
	case !n.leaf:
		p.fail(key, "", "Invalid string: %s must not be an object", p.name(key))
	case !utf8.ValidString(n.value) || strings.ContainsRune(n.value, 0):
		p.fail(key, "", "Invalid string: %s is not valid UTF-8", p.name(key))
	case utf8.RuneCountInString(n.value) > maxText:
		p.fail(key, "", "Invalid string: %s must be at most %d characters", p.name(key), maxText)
	default:
		return n.value, true
	}
	return "", false
}

// filled returns a given value that must not be empty.
func (p *params) filled(key string) (string, bool) {
	value, ok := p.scalar(key)
	if ok && value == "" {
		p.fail(key, "parameter_invalid_empty", "You passed an empty string for '%s'. We assume empty values are an attempt to unset a field; however '%s' cannot be unset. You should remove '%s' from your request or supply a non-empty value.", p.name(key), p.name(key), p.name(key))
		return "", false
	}
	return value, ok
}

// require refuses a request that leaves out one of the keys.
func (p *params) require(keys ...string) {
	for _, key := range keys {
		if !p.has(key) {
			p.fail(key, "parameter_missing", "Missing required param: %s.", p.name(key))
		}
	}
}

func (p *params) text(key string, into *string) {
	if value, ok := p.filled(key); ok {
		*into = value
	}
}

// clearable reads a text that an empty value unsets.
func (p *params) clearable(key string, into **string) {
	if value, ok := p.scalar(key); ok {
		*into = nil
		if value != "" {
			*into = &value
		}
	}
}

func (p *params) boolean(key string, into *bool) {
	switch value, ok := p.filled(key); {
	case !ok:
	case value == "true":
		*into = true
	case value == "false":
		*into = false
	default:
		p.fail(key, "", "Invalid boolean: %s", value)
	}
}

// integer reads a whole number from low to high.
func (p *params) integer(key string, low, high int64, into *int64) {
	value, ok := p.filled(key)
	if !ok {
		return
	}
	number, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		p.fail(key, "parameter_invalid_integer", "Invalid integer: %s", value)
	case number < low:
		p.fail(key, "parameter_invalid_integer", "This value must be greater than or equal to %d.", low)
	case number > high:
		p.fail(key, "parameter_invalid_integer", "This value must be less than or equal to %d.", high)
	default:
		*into = number
	}
}

func (p *params) choice(key string, into *string, allowed ...string) {
	value, ok := p.filled(key)
	if !ok {
		return
	}
	if !slices.Contains(allowed, value) {
		p.fail(key, "", "Invalid %s: must be one of %s (the sandbox supports no others)", p.name(key), strings.Join(allowed, ", "))
		return
	}
	*into = value
}

// is tells that a plain value was given as want.
func (p *params) is(key, want string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == want
}

func (p *params) email(key string, into **string) {
	p.clearable(key, into)
	if value := *into; p.has(key) && value != nil {
		if parsed, err := mail.ParseAddress(*value); err != nil || parsed.Address != *value {
			p.fail(key, "email_invalid", "Invalid email address: %s", *value)
		}
	}
}

func (p *params) url(key string, into **string) {
	p.clearable(key, into)
	if value := *into; p.has(key) && value != nil {
		if u, err := url.Parse(*value); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			p.fail(key, "url_invalid", "Not a valid URL")
		}
	}
}

// hash opens a nested object; nil when it was not given or given empty.
func (p *params) hash(key string) *params {
	n := p.take(key)
	if n == nil || (n.leaf && n.value == "") {
		return nil
	}
	if n.leaf {
		p.fail(key, "", "Invalid object: %s", p.name(key))
		return nil
	}
	return &params{node: n, path: p.name(key), first: p.first}
}

// cleared tells that a nested object was given as an empty value, to unset it.
func (p *params) cleared(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf && n.value == ""
}

// list opens the elements of an array, in the order of their indexes.
func (p *params) list(key string) []*params {
	array := p.hash(key)
	if array == nil {
		return nil
	}
	var elements []*params
	for _, index := range array.indexes() {
		if element := array.hash(index); element != nil {
			elements = append(elements, element)
		}
	}
	return elements
}

// texts reads an array of plain values.
func (p *params) texts(key string) []string {
	array := p.hash(key)
	if array == nil {
		return nil
	}
	var values []string
	for _, index := range array.indexes() {
		if value, ok := array.filled(index); ok {
			values = append(values, value)
		}
	}
	return values
}

func (p *params) indexes() []string {
	keys := slices.Clone(p.node.keys)
	for _, key := range keys {
		if _, err := strconv.ParseUint(key, 10, 16); err != nil {
			p.fail(key, "", "Invalid array")
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

// metadata merges what was given: an empty value drops its key, an empty
// parameter drops all of them.
func (p *params) metadata(into *map[string]string) {
	merged := map[string]string{}
	if !p.cleared("metadata") {
		for key, value := range *into {
			merged[key] = value
		}
	}
	if given := p.hash("metadata"); given != nil {
		for _, key := range given.node.keys {
			value, _ := given.scalar(key)
			switch {
			case utf8.RuneCountInString(key) > 40:
				given.fail(key, "", "Metadata keys can have up to 40 characters.")
			case utf8.RuneCountInString(value) > 500:
				given.fail(key, "", "Metadata values can have up to 500 characters, but you passed in a value that is %d characters.", utf8.RuneCountInString(value))
			case value == "":
				delete(merged, key)
			default:
				merged[key] = value
			}
		}
	}
	if len(merged) > 50 {
		p.fail("metadata", "", "Metadata can have up to 50 keys.")
	}
	*into = merged
}

// done returns the first refusal. Without one it refuses what is left over: a
// parameter that the sandbox does not know is never passed over in silence.
func (p *params) done() error {
	if *p.first == nil {
		if unknown := p.unused(p.node, p.path); len(unknown) > 0 {
			plural := ""
			if len(unknown) > 1 {
				plural = "s"
			}
			e := refuse(unknown[0], "parameter_unknown", "Received unknown parameter%s: %s", plural, strings.Join(unknown, ", "))
			e.unstarted = true
			*p.first = e
		}
	}
	return *p.first
}

func (p *params) unused(n *node, path string) []string {
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

// short reads a text of at most so many characters.
func (p *params) short(key string, most int, into *string) {
	p.text(key, into)
	if utf8.RuneCountInString(*into) > most {
		p.fail(key, "", "Invalid string: %s must be at most %d characters", p.name(key), most)
	}
}

// keys are the names that were given at this level, in their order.
func (p *params) keys() []string { return p.node.keys }

// plain reports whether a value, not a nested object, was given.
func (p *params) plain(key string) bool {
	n := p.node.children[key]
	return n != nil && n.leaf
}

// failed reports whether a parameter was refused so far.
func (p *params) failed() bool { return *p.first != nil }
