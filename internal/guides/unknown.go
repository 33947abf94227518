package guides

import (
	"bytes"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/guides/apidoc"
)

// suggestion is a page of the site with an address like the requested one.
type suggestion struct{ Title, Name, Address string }

const maxSuggestions = 3

// unknownOperation returns the page for an unknown address of the API reference. It suggests the
// operations and events whose names are most like the requested one.
func (s *Site) unknownOperation(address string) (file, error) {
	v := referenceView{Reference: s.reference}
	v.Suggestions = similar(address, s.referencePages())
	content, err := s.renderReference(address, "unknown", "Operation not found", v)
	return file{kind: kinds[".html"], content: content, status: http.StatusNotFound}, err
}

// unknownGuide returns the page for an unknown address of the guides. It suggests the guides whose
// names are most like the requested one.
func (s *Site) unknownGuide(address string) (file, error) {
	v := s.view(nil, nil)
	v.Title, v.Root = "Not found", strings.Repeat("../", strings.Count(address, "/"))
	v.Front = v.Root + "./"
	var guides []suggestion
	for _, p := range s.guides {
		guides = append(guides, suggestion{p.Title, p.Entry.About, p.Address})
	}
	v.Suggestions = similar(address, guides)
	var b bytes.Buffer
	err := layout.ExecuteTemplate(&b, "missing.html", v)
	return file{kind: kinds[".html"], content: b.Bytes(), status: http.StatusNotFound}, err
}

// sectionOf returns the section of the API reference with all operations of a group, or all events.
func (s *Site) sectionOf(address string) (string, bool) {
	slug, found := strings.CutPrefix(strings.TrimSuffix(address, "/"), "api/")
	isGroup := slices.ContainsFunc(s.reference.Groups, func(g *apidoc.Group) bool { return g.Slug == slug })
	return "api#" + slug, found && (isGroup || slug == "events")
}

// referencePages returns the pages of all operations and events.
func (s *Site) referencePages() []suggestion {
	var all []suggestion
	for _, g := range s.reference.Groups {
		for _, op := range g.Operations {
			all = append(all, suggestion{op.Title, op.Verb() + " " + op.Path, operationAddress(op)})
		}
	}
	for _, e := range s.reference.Events {
		all = append(all, suggestion{e.Type, e.Text(), eventAddress(e)})
	}
	return all
}

// similar returns up to maxSuggestions pages with addresses whose last part is most like the last
// part of the requested address.
func similar(address string, pages []suggestion) []suggestion {
	name := plainName(strings.TrimSuffix(path.Base(address), ".md"))
	type candidate struct {
		suggestion

		distance int
	}
	var all []candidate
	for _, p := range pages {
		distance := editDistance(name, plainName(path.Base(p.Address)))
		if distance <= max(2, len(name)/3) {
			all = append(all, candidate{p, distance})
		}
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
