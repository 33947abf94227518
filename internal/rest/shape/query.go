package shape

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantry/tenantry/internal/fault"
)

// NormalizeQuery returns the declared parameters of a query in normal form. Of a
// parameter that is repeated the last one counts, of a list all do. Parameters that
// break a rule are added to broken.
func NormalizeQuery(params []Property, query url.Values, broken *fault.Fields) url.Values {
	if len(params) == 0 {
		return nil
	}
	out := url.Values{}
	for _, p := range params {
		var texts []string
		if given := query[p.Name]; p.Rules.kind == "array" {
			texts = strings.Split(strings.Join(given, ","), ",")
		} else if len(given) > 0 {
			texts = given[len(given)-1:]
		}
		for _, text := range texts {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			n := p.Rules
			if n.kind == "array" {
				n = n.items
			}
			if checked, ok := n.CheckText(text, p.Name, broken); ok {
				out.Add(p.Name, checked)
			}
		}
		if p.Required && strings.TrimSpace(strings.Join(texts, "")) == "" {
			broken.Add(p.Name, "validation.required")
		}
	}
	return out
}

// CheckText returns a parameter in normal form, and reports whether it keeps to the
// rules. In a URL everything is text, so numbers and booleans are read from text.
func (n *Rules) CheckText(text, name string, broken *fault.Fields) (normal string, ok bool) {
	v := validator{broken: broken}
	var raw jsontext.Value
	switch n.kind {
	case "boolean":
		switch text {
		case "true", "1":
			return "true", true
		case "false", "0":
			return "false", true
		}
		v.fail(name, "validation.boolean")
		return "", false
	case "integer", "number":
		raw = jsontext.Value(text)
		if !raw.IsValid() || raw.Kind() != '0' {
			v.fail(name, "validation."+n.kind)
			return "", false
		}
		checked := v.check(n, raw, name)
		return string(checked), checked != nil
	}
	if !utf8.ValidString(text) {
		v.fail(name, "validation.characters")
		return "", false
	}
	raw, _ = jsontext.AppendQuote(nil, text)
	checked := v.checkString(n, raw, name)
	if checked == nil {
		return "", false
	}
	unquoted, _ := jsontext.AppendUnquote(nil, checked)
	return string(unquoted), true
}
