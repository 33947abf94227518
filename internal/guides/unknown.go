package guides

import (
	"net/http"
	"path"
	"slices"
	"strings"
)

// suggestion is a page of the API reference with an address like the requested one.
type suggestion struct{ Title, Name, Address string }

const maxSuggestions = 3

// unknownOperation returns the page for an unknown address of the API reference. It suggests the
// operations and events whose names are most like the requested one.
func (s *Site) unknownOperation(address string) (file, error) {
	v := referenceView{Reference: s.reference, Suggestions: s.suggestions(address)}
	content, err := s.renderReference(address, "unknown", "Operation not found", v)
	return file{kind: kinds[".html"], content: content, status: http.StatusNotFound}, err
}

func (s *Site) suggestions(address string) []suggestion {
	name := strings.ToLower(strings.Trim(path.Base(address), "/"))
	type candidate struct {
		suggestion

		distance int
	}
	var all []candidate
	add := func(at, title, shown string) {
		distance := editDistance(plainName(name), plainName(path.Base(at)))
		if distance <= max(2, len(name)/3) {
			all = append(all, candidate{suggestion{title, shown, at}, distance})
		}
	}
	for _, g := range s.reference.Groups {
		for _, op := range g.Operations {
			add(operationAddress(op), op.Title, op.Verb()+" "+op.Path)
		}
	}
	for _, e := range s.reference.Events {
		add(eventAddress(e), e.Type, e.Text())
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.distance - b.distance })
	var list []suggestion
	for _, c := range all[:min(maxSuggestions, len(all))] {
		list = append(list, c.suggestion)
	}
	return list
}

// plainName removes the separators of a name, so that recordUsage equals record-usage.
func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// editDistance returns the number of bytes to insert, remove or replace to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
