package reference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// describeList adds a list's parameters to its operation. Parameters that are the same for all
// lists are components of the document.
func (b *Book) describeList(d *Document, op *Operation) {
	spec := op.List
	addShared := func(p *Parameter) {
		key := strings.NewReplacer("[", "_", "]", "").Replace(p.Name)
		d.Components.Parameters[key] = p
		op.Parameters = append(op.Parameters, &Parameter{Ref: "#/components/parameters/" + key})
	}
	add := func(p *Parameter) {
		p.Schema.NameEnum(b.Enums)
		if !slices.ContainsFunc(op.Parameters, func(known *Parameter) bool { return known.Name == p.Name }) {
			op.Parameters = append(op.Parameters, p) // otherwise the handler's input is more specific
		}
	}
	one, most := 1.0, float64(page.MaxPerPage)
	if !spec.IsCursored {
		addShared(queryParam("page", "Number of the page, starting at 1. Pages after the last one are empty.", &shape.Schema{Type: shape.TypeInteger, Minimum: &one, Default: "1"}))
	}
	size := &shape.Schema{Type: shape.TypeInteger, Minimum: &one, Maximum: &most, Default: strconv.Itoa(page.DefaultPerPage)}
	if perPage := queryParam("per_page", "Number of items per page.", size); spec.PerPage == 0 && !spec.IsCursored {
		addShared(perPage)
	} else {
		size.Default = strconv.FormatInt(cmp.Or(spec.PerPage, page.DefaultPerPage), 10)
		add(perPage)
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Params)) {
		add(filterParam(name, spec.Params[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Filters)) {
		filter := spec.Filters[name]
		if p := filterParam("filter["+name+"]", filter); filter.Kind == page.DateFrom || filter.Kind == page.DateTo {
			addShared(p)
		} else {
			add(p)
		}
	}
	var sorts []string
	for _, name := range spec.SortNames() {
		sorts = append(sorts, name, "-"+name)
	}
	if len(sorts) > 0 {
		add(namesParam("sort", fmt.Sprintf("Comma-separated fields. A leading minus sorts in descending order. Default: %s.", spec.DefaultSort), sorts))
	}
	if spec.CSV {
		addShared(queryParam("format", "Format of the response. csv is a file with all entries of the list, without pages.", &shape.Schema{Type: shape.TypeString, Enum: page.Formats(), Default: "json"}))
		addShared(queryParam("bom", "Whether to start the CSV with a byte order mark, which Excel requires for UTF-8.", &shape.Schema{Type: shape.TypeBoolean}))
		op.Responses["200"].Content["text/csv"] = &Media{Schema: &shape.Schema{Type: shape.TypeString}}
	}
	if len(spec.Includes) > 0 {
		add(namesParam("include", "Comma-separated list of related objects to include.", spec.Includes))
	}
}

func queryParam(name, description string, schema *shape.Schema) *Parameter {
	return &Parameter{Name: name, In: "query", Description: description, Schema: schema}
}

// namesParam returns a parameter for a comma-separated list of names.
func namesParam(name, description string, names []string) *Parameter {
	return &Parameter{Name: name, In: "query", Description: description, Explode: new(bool), Schema: &shape.Schema{
		Type: shape.TypeArray, Items: &shape.Schema{Type: shape.TypeString, Enum: names},
	}}
}

func filterParam(name string, f page.Filter) *Parameter {
	s, text := &shape.Schema{Type: shape.TypeString}, "Exact match."
	switch f.Kind {
	case page.PartialMatch:
		text = "Partial match. Not case-sensitive."
	case page.Bool:
		s.Type, text = shape.TypeBoolean, "Exact match. 1 and 0 are accepted too."
	case page.UUID:
		s.Format = "uuid"
	case page.Integer:
		s.Type = shape.TypeInteger
	case page.Enum:
		s.Enum = f.Values
	case page.AnyOf:
		return anyOfParam(name, f)
	case page.Prefix:
		text = "Beginning of the text. Not case-sensitive."
	case page.Words:

		s.MinLength, text = 2, "Words to search for: each must be the beginning of a word. Neither case nor accents matter."
	case page.DayFrom:
		s.Format, text = "date", "First day, inclusive."
	case page.DayTo:
		s.Format, text = "date", "Last day, inclusive."
	case page.DateFrom:
		text = "Start, inclusive: a datetime, or a date in UTC."
	case page.DateTo:
		text = "End, inclusive: a datetime, or a date in UTC."
	}
	return queryParam(name, text, s)
}

// anyOfParam returns a parameter for one or more values, separated by commas.
func anyOfParam(name string, f page.Filter) *Parameter {
	return &Parameter{Name: name, In: "query", Description: "One or more values, separated by commas.", Explode: new(bool), Schema: &shape.Schema{
		Type: shape.TypeArray, Items: &shape.Schema{Type: shape.TypeString, Enum: f.Values},
	}}
}
