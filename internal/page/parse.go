package page

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
)

// Query is a validated request for a page of a list.
type Query struct {
	page, perPage int64
	conditions    []condition
	orders        []order
	from          func(arg func(any) string) string // replaces Select.From if it is not nil; see Spec.SortFrom
	includes      map[string]bool
	values        url.Values // original values, for the links
	csv, bom      bool
	export        *export // nil unless the query is part of an export
}

// condition is a filter with its value, whose type depends on the kind of filter: string, bool,
// int64, uuid.UUID, time.Time or []string.
type condition struct {
	path   string // such as "filter.action"
	filter Filter
	value  any
}

type order struct {
	expr      string
	desc      bool
	nullable  bool
	unindexed bool
}

// Includes reports whether an include was requested, alone or as part of a nested one.
func (q Query) Includes(name string) bool { return q.includes[name] }

// HasFilter reports whether any filter was given.
func (q Query) HasFilter() bool { return len(q.conditions) > 0 }

// OnlyFiltered reports whether no filter except the named one was given.
func (q Query) OnlyFiltered(name string) bool {
	return !slices.ContainsFunc(q.conditions, func(c condition) bool { return c.path != "filter."+name })
}

// Param returns the value of a parameter as Parse reads it: the last one, without surrounding
// spaces, or "" if absent.
func (q Query) Param(name string) string { return lastValue(q.values, name) }

// Parse validates the query of a request. It returns a 400 error for a filter, sort or include that
// the list does not support, and a single 422 error for all invalid values.
func (s Spec) Parse(query url.Values) (Query, error) {
	q := Query{values: query}
	names, err := s.filterNames(query)
	if err != nil {
		return Query{}, err
	}
	if err := s.parseSort(&q, query); err != nil {
		return Query{}, err
	}
	if q.includes, err = s.parseIncludes(query); err != nil {
		return Query{}, err
	}

	var broken fault.Fields
	q.page = parseCount(query, "page", 1, 0, &broken)
	q.perPage = parseCount(query, "per_page", cmp.Or(s.PerPage, DefaultPerPage), MaxPerPage, &broken)
	for _, name := range names {
		q.add(s.Filters[name], lastValue(query, "filter["+name+"]"), "filter."+name, &broken)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		q.add(s.Params[name], lastValue(query, name), name, &broken)
	}
	if s.CSV {
		q.readFormat(query, &broken)
	}
	if err := broken.Err(); err != nil {
		return Query{}, err
	}
	return q, nil
}

// Formats are the values of the parameter format.
func Formats() []string { return []string{"json", "csv"} }

// readFormat parses format and bom.
func (q *Query) readFormat(query url.Values, broken *fault.Fields) {
	format := Filter{Kind: Enum, Values: Formats()}
	bom := Filter{Kind: Bool}
	for _, p := range []struct {
		name   string
		filter Filter
		store  func(value any)
	}{
		{"format", format, func(v any) { q.csv = v == "csv" }},
		{"bom", bom, func(v any) { q.bom = v.(bool) }},
	} {
		text := lastValue(query, p.name)
		if text == "" {
			continue
		}
		value, problem := p.filter.read(text)
		if problem != nil {
			problem.Path = p.name
			*broken = append(*broken, *problem)
			continue
		}
		p.store(value)
	}
}

// CSV reports whether the list was requested as a CSV file, and whether with a byte order mark.
func (q Query) CSV() (asked, bom bool) { return q.csv, q.bom }

// add adds a condition for the text of a filter, unless the text is empty. If the text is invalid,
// add appends an error with the field path to broken.
func (q *Query) add(filter Filter, text, path string, broken *fault.Fields) {
	if text == "" {
		return
	}
	value, problem := filter.read(text)
	if problem != nil {
		problem.Path = path
		*broken = append(*broken, *problem)
		return
	}
	q.conditions = append(q.conditions, condition{path: path, filter: filter, value: value})
}

// filterNames returns the sorted names of the filters in a query, or an error for a filter that the
// list does not support.
func (s Spec) filterNames(query url.Values) ([]string, error) {
	var names []string
	for key := range query {
		if key != "filter" && !strings.HasPrefix(key, "filter[") {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(key, "filter["), "]")
		if _, ok := s.Filters[name]; !ok || key != "filter["+name+"]" {
			return nil, notAllowedError("error.filter_not_allowed", name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// parseSort sets the order of q.
func (s Spec) parseSort(q *Query, query url.Values) error {
	asked, err := list(query, "sort", "error.sort_not_allowed")
	if err != nil {
		return err
	}
	for _, name := range asked {
		if s.columns(strings.TrimPrefix(name, "-")) == nil {
			return notAllowedError("error.sort_not_allowed", name)
		}
	}
	if len(asked) == 0 && s.DefaultSort != "" {
		asked = strings.Split(s.DefaultSort, ",")
	}
	var orders []order
	desc := false
	for _, name := range asked {
		field := strings.TrimPrefix(name, "-")
		columns := s.columns(field)
		if q.from == nil {
			q.from = s.SortFrom[field]
		}
		if columns == nil {
			return fmt.Errorf("page: the default sort %q is not among the sorts", field)
		}
		desc = field != name
		for _, c := range columns {
			if !slices.ContainsFunc(orders, func(o order) bool { return o.expr == c.Expr }) {
				orders = append(orders, order{expr: c.Expr, desc: desc && !c.Ascending, nullable: c.Nullable, unindexed: c.Unindexed})
			}
		}
	}
	if s.Tiebreak == "" {
		return errors.New("page: a list needs a tiebreak")
	}
	orders = append(orders, order{expr: s.Tiebreak, desc: desc})
	q.orders = orders
	return nil
}

func (s Spec) parseIncludes(query url.Values) (map[string]bool, error) {
	asked, err := list(query, "include", "error.include_not_allowed")
	if err != nil {
		return nil, err
	}
	includes := map[string]bool{}
	for _, name := range asked {
		if !slices.Contains(s.Includes, name) {
			return nil, notAllowedError("error.include_not_allowed", name)
		}
		includes[name] = true
		for i, c := range name {
			if c == '.' {
				includes[name[:i]] = true
			}
		}
	}
	return includes, nil
}

// list reads a multi-valued parameter, separated by commas or repeated. The bracket notation that
// some clients use is not supported.
func list(query url.Values, name, message string) ([]string, error) {
	for key := range query {
		if strings.HasPrefix(key, name+"[") {
			return nil, notAllowedError(message, key)
		}
	}
	var items []string
	for _, value := range query[name] {
		for item := range strings.SplitSeq(value, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
	}
	return items, nil
}

// parseCount parses page or per_page, from 1 to most. If most is 0, there is no maximum.
func parseCount(query url.Values, name string, otherwise, most int64, broken *fault.Fields) int64 {
	text := lastValue(query, name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		broken.Add(name, "validation.integer")
	case n < 1:
		*broken = append(*broken, fault.Field{Path: name, Message: "validation.minimum", Args: map[string]any{"min": 1}})
	case most > 0 && n > most:
		*broken = append(*broken, fault.Field{Path: name, Message: "validation.maximum", Args: map[string]any{"max": most}})
	}
	return n
}

// lastValue returns the value of a single-valued parameter. If it is repeated, the last value
// counts.
func lastValue(query url.Values, name string) string {
	values := query[name]
	if len(values) == 0 {
		return ""
	}
	return strings.TrimSpace(values[len(values)-1])
}

// maxEcho is the maximum number of bytes of user input in an error.
const maxEcho = 64

func notAllowedError(message, name string) error {
	name = strings.ToValidUTF8(name[:min(len(name), maxEcho)], "")
	return &fault.Error{Kind: fault.Malformed, Message: message, Args: map[string]any{"name": name}}
}
