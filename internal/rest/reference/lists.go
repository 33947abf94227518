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
	size := &shape.Schema{Type: shape.TypeInteger, Minimum: &one, Maximum: &most, Default: strconv.FormatInt(cmp.Or(spec.PerPage, page.DefaultPerPage), 10)}
	if perPage := queryParam("per_page", "Number of items per page.", size); spec.PerPage == 0 && !spec.IsCursored {
		addShared(perPage)
	} else {
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
	}
	if len(spec.Includes) > 0 {
		add(namesParam("include", "Comma-separated list of related objects to include.", spec.Includes))
	}
}

// describeCSV describes the file that the parameter format requests instead of JSON.
func describeCSV(op *Operation) {
	isFile := op.List != nil && op.List.CSV || slices.ContainsFunc(op.Parameters, func(p *Parameter) bool {
		return p.Name == "format" && slices.Contains(p.Schema.Enum, "csv")
	})
	if response := op.Responses["200"]; isFile && response.Content["application/json"] != nil {
		response.Content["text/csv"] = &Media{Schema: &shape.Schema{Type: shape.TypeString}}
	}
}

func queryParam(name, description string, schema *shape.Schema) *Parameter {
	return &Parameter{Name: name, In: "query", Description: description, Schema: schema}
}

// namesParam returns a parameter for a comma-separated list of names; nil allows all texts.
func namesParam(name, description string, names []string) *Parameter {
	p := queryParam(name, description, &shape.Schema{Type: shape.TypeArray, Items: &shape.Schema{Type: shape.TypeString, Enum: names}})
	p.Explode = new(bool)
	return p
}

// filters describe the values of each kind of filter. AnyOf is a list.
var filters = map[page.Kind]struct{ kind, format, text string }{
	page.ExactMatch:   {shape.TypeString, "", "Exact match."},
	page.PartialMatch: {shape.TypeString, "", "Partial match. Not case-sensitive."},
	page.Bool:         {shape.TypeBoolean, "", "Exact match. 1 and 0 are accepted too."},
	page.UUID:         {shape.TypeString, "uuid", "Exact match."},
	page.Enum:         {shape.TypeString, "", "Exact match."},
	page.Integer:      {shape.TypeInteger, "", "Exact match."},
	page.DateFrom:     {shape.TypeString, "", "Start, inclusive: a datetime, or a date in UTC."},
	page.DateTo:       {shape.TypeString, "", "End, inclusive: a datetime, or a date in UTC."},
	page.DayFrom:      {shape.TypeString, "date", "First day, inclusive."},
	page.DayTo:        {shape.TypeString, "date", "Last day, inclusive."},
	page.Prefix:       {shape.TypeString, "", "Beginning of the text. Not case-sensitive."},
	page.Words:        {shape.TypeString, "", "Words to search for: each must be the beginning of a word. Neither case nor accents matter."},
}

func filterParam(name string, f page.Filter) *Parameter {
	if f.Kind == page.AnyOf {
		return namesParam(name, "One or more values, separated by commas.", f.Values)
	}
	known := filters[f.Kind]
	s := &shape.Schema{Type: known.kind, Format: known.format}
	switch f.Kind {
	case page.Enum:
		s.Enum = f.Values
	case page.Words:
		s.MinLength = 2
	}
	return queryParam(name, known.text, s)
}
