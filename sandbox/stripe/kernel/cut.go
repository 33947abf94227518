package kernel

import (
	"bytes"
	"encoding/json"
)

// maxNestedElements is the maximum number of elements in a list nested in an object, as with Stripe. The
// list's own URL returns the remaining elements.
const maxNestedElements = 10

// truncateLists shortens the lists nested in an object, or in the objects of a page.
func truncateLists(doc []byte) ([]byte, error) {
	if bytes.Count(doc, []byte(`"object":`)) <= maxNestedElements+1 {
		return doc, nil // no list can be longer than the limit
	}
	m, err := tree(json.RawMessage(doc))
	if err != nil {
		return nil, err
	}
	for field, value := range m {
		if isList(m) && field == "data" { // the requested page itself
			elements, _ := value.([]any)
			for _, element := range elements {
				cutListsIn(element)
			}
			continue
		}
		cutListsIn(value)
	}
	return json.Marshal(m)
}

func cutListsIn(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			cutListsIn(element)
		}
	case map[string]any:
		if elements, ok := value["data"].([]any); ok && isList(value) && len(elements) > maxNestedElements {
			value["data"], value["has_more"] = elements[:maxNestedElements], true
		}
		for _, inner := range value {
			cutListsIn(inner)
		}
	}
}

func isList(m map[string]any) bool { return m["object"] == "list" }
