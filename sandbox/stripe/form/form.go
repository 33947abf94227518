package form

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 1 << 20

// node is one level of a form with bracketed keys, as in line_items[0][price]=price_1. It has
// either a value or children.
type node struct {
	value    string
	leaf     bool // whether the node has a value
	used     bool // whether an endpoint has read it
	keys     []string
	children map[string]*node
}

// child returns the child with the key. It adds the child if it does not exist.
func (n *node) child(key string) *node {
	if key == "" { // a[]=x appends an element
		key = nextIndex(n.keys)
	}
	if c, ok := n.children[key]; ok {
		return c
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	c := &node{}
	n.children[key] = c
	n.keys = append(n.keys, key)
	return c
}

// Read returns the parameters of the query and the body. It refuses a body that is too large or is
// not a form.
func Read(r *http.Request) (url.Values, error) {
	form, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, unreadableError("The query string could not be parsed.")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, unreadableError("The request body could not be read.")
	}
	if len(body) > MaxBody {
		return nil, unreadableError("The request body is too large.")
	}
	if len(body) == 0 {
		return form, nil
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "" && kind != "application/x-www-form-urlencoded" {
		return nil, unreadableError("Invalid request: the Content-Type must be application/x-www-form-urlencoded, not " + kind + ".")
	}
	more, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, unreadableError("The request body could not be parsed.")
	}
	for key, values := range more {
		form[key] = append(form[key], values...)
	}
	return form, nil
}

// Parse converts parameters with bracketed keys into a tree.
func Parse(form url.Values) (*Params, error) {
	root := &node{}
	keys := make([]string, 0, len(form))
	for key := range form {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		path, ok := splitKey(key)
		if !ok {
			return nil, unreadableError("Invalid parameter name: " + key)
		}
		for _, value := range form[key] {
			n := root
			for _, part := range path {
				if n.leaf {
					return nil, unreadableError("Invalid parameters: " + key + " is both a value and an object.")
				}
				n = n.child(part)
			}
			if len(n.keys) > 0 {
				return nil, unreadableError("Invalid parameters: " + key + " is both a value and an object.")
			}
			n.value, n.leaf = value, true // the last value wins if a name is repeated
		}
	}
	return &Params{node: root, refused: new(error)}, nil
}

// splitKey splits a[b][0] into a, b and 0. It reports whether the key is well formed.
func splitKey(key string) ([]string, bool) {
	name, rest, nested := strings.Cut(key, "[")
	if name == "" || strings.Contains(name, "]") {
		return nil, false
	}
	path := []string{name}
	for nested {
		var part string
		part, rest, nested = strings.Cut(rest, "]")
		if !nested || strings.Contains(part, "[") {
			return nil, false
		}
		path = append(path, part)
		if rest == "" {
			return path, true
		}
		if rest[0] != '[' {
			return nil, false
		}
		rest = rest[1:]
	}
	return path, true
}

// unreadableError returns the error for a request whose parameters cannot be parsed.
func unreadableError(message string) *Error {
	e := Refuse("", "", "%s", message)
	e.Unstarted = true
	return e
}
