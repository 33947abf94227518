package rest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/page"
)

// Lists describes a list in the reference: pages, and the filters, sorts and includes
// of its spec. It enforces nothing: the handler parses the query by the same spec.
func Lists(spec page.Spec) Option { return func(o *operation) { o.list = &spec } }

// Parts describes a list of which a caller can have a page or, without page and
// per_page, the whole.
func Parts() Option { return Lists(page.Spec{}) }

// describeList adds a list's parameters to its operation. Parameters that
// several lists share are components of the document.
func (a *API) describeList(doc *huma.Operation, spec page.Spec) {
	shared := func(p *huma.Param) {
		key := strings.NewReplacer("[", "_", "]", "").Replace(p.Name)
		components := a.huma.OpenAPI().Components
		if components.Parameters == nil {
			components.Parameters = map[string]*huma.Param{}
		}
		components.Parameters[key] = p
		doc.Parameters = append(doc.Parameters, &huma.Param{Ref: "#/components/parameters/" + key})
	}
	one, most := 1.0, float64(page.MaxPerPage)
	shared(queryParam("page", "", &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Default: 1}))
	shared(queryParam("per_page", "", &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Maximum: &most, Default: page.DefaultPerPage}))
	for _, name := range slices.Sorted(maps.Keys(spec.Params)) {
		doc.Parameters = append(doc.Parameters, filterParam(name, spec.Params[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Filters)) {
		filter := spec.Filters[name]
		p := filterParam("filter["+name+"]", filter)
		if filter.Kind == page.DateFrom || filter.Kind == page.DateTo {
			shared(p)
		} else {
			doc.Parameters = append(doc.Parameters, p)
		}
	}
	if len(spec.Sorts) > 0 {
		var sorts []any
		for _, name := range slices.Sorted(maps.Keys(spec.Sorts)) {
			sorts = append(sorts, name, "-"+name)
		}
		text := fmt.Sprintf("Comma-separated; a leading minus sorts descending. Without it: %s.", spec.DefaultSort)
		doc.Parameters = append(doc.Parameters, namesParam("sort", text, sorts))
	}
	if len(spec.Includes) > 0 {
		var includes []any
		for _, name := range spec.Includes {
			includes = append(includes, name)
		}
		doc.Parameters = append(doc.Parameters, namesParam("include", "Comma-separated.", includes))
	}
}

func queryParam(name, description string, schema *huma.Schema) *huma.Param {
	return &huma.Param{Name: name, In: "query", Description: description, Schema: schema}
}

// namesParam takes a list of names, separated by commas.
func namesParam(name, description string, names []any) *huma.Param {
	p := queryParam(name, description, &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, Enum: names},
	})
	separate := false
	p.Explode = &separate
	return p
}

func filterParam(name string, f page.Filter) *huma.Param {
	text := &huma.Schema{Type: huma.TypeString}
	switch f.Kind {
	case page.Partial:
		return queryParam(name, "Matches a part, case-insensitively.", text)
	case page.Bool:
		return queryParam(name, "", &huma.Schema{Type: huma.TypeBoolean})
	case page.UUID:
		text.Format = "uuid"
	case page.Integer:
		return queryParam(name, "", &huma.Schema{Type: huma.TypeInteger})
	case page.Enum:
		for _, value := range f.Values {
			text.Enum = append(text.Enum, value)
		}
	case page.DateFrom:
		return queryParam(name, "A datetime, or a date: its first moment in UTC.", text)
	case page.DateTo:
		return queryParam(name, "A datetime, or a date: its last moment in UTC.", text)
	}
	return queryParam(name, "Matches exactly.", text)
}
