package kernel

import (
	"bytes"
	"encoding/json"
)

// embedded is how many elements of a list within an object are shown, as with Stripe. The
// list's own URL has the others.
const embedded = 10

// cutLists returns an object, or a page of objects, with the lists within it cut.
func cutLists(doc []byte) ([]byte, error) {
	if bytes.Count(doc, []byte(`"object":`)) <= embedded+1 {
		return doc, nil // there cannot be a longer one
	}
	m, err := tree(json.RawMessage(doc))
	if err != nil {
		return nil, err
	}
	for field, value := range m {
		if isList(m) && field == "data" { // the page that was asked for
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
		if elements, ok := value["data"].([]any); ok && isList(value) && len(elements) > embedded {
			value["data"], value["has_more"] = elements[:embedded], true
		}
		for _, inner := range value {
			cutListsIn(inner)
		}
	}
}

func isList(m map[string]any) bool { return m["object"] == "list" }
