package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tenantry/tenantry/internal/page"
)

// describeList adds a list's parameters to its operation. Parameters that
// several lists share are components of the document.
func describeList(doc *huma.OpenAPI, op *huma.Operation, spec page.Spec) {
	shared := func(p *huma.Param) {
		key := strings.NewReplacer("[", "_", "]", "").Replace(p.Name)
		components := doc.Components
		if components.Parameters == nil {
			components.Parameters = map[string]*huma.Param{}
		}
		components.Parameters[key] = p
		op.Parameters = append(op.Parameters, &huma.Param{Ref: "#/components/parameters/" + key})
	}
	one, most := 1.0, float64(page.MaxPerPage)
	shared(queryParam("page", "Which page, from 1 on. One past the end is empty.", &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Default: 1}))
	size := func(standard int64) *huma.Param {
		return queryParam("per_page", "How many entries a page has.", &huma.Schema{Type: huma.TypeInteger, Minimum: &one, Maximum: &most, Default: standard})
	}
	if spec.PerPage == 0 {
		shared(size(page.DefaultPerPage))
	} else {
		op.Parameters = append(op.Parameters, size(spec.PerPage))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Params)) {
		if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == name }) {
			continue // the handler's input says more
		}
		op.Parameters = append(op.Parameters, filterParam(name, spec.Params[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Filters)) {
		filter := spec.Filters[name]
		p := filterParam("filter["+name+"]", filter)
		if filter.Kind == page.DateFrom || filter.Kind == page.DateTo {
			shared(p)
		} else {
			op.Parameters = append(op.Parameters, p)
		}
	}
	if len(spec.Sorts) > 0 {
		var sorts []any
		for _, name := range slices.Sorted(maps.Keys(spec.Sorts)) {
			sorts = append(sorts, name, "-"+name)
		}
		text := fmt.Sprintf("Comma-separated; a leading minus sorts descending. Without it: %s.", spec.DefaultSort)
		op.Parameters = append(op.Parameters, namesParam("sort", text, sorts))
	}
	if len(spec.Includes) > 0 {
		var includes []any
		for _, name := range spec.Includes {
			includes = append(includes, name)
		}
		op.Parameters = append(op.Parameters, namesParam("include", "Comma-separated.", includes))
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
		return queryParam(name, "Matches exactly; also 1 and 0.", &huma.Schema{Type: huma.TypeBoolean})
	case page.UUID:
		text.Format = "uuid"
	case page.Integer:
		return queryParam(name, "Matches exactly.", &huma.Schema{Type: huma.TypeInteger})
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
