package page

import "net/url"

// Part is the body of a list that is answered whole unless the caller asks for a page of
// it, with page or per_page. Only a page has Meta and Links.
type Part[T any] struct {
	Data  []T    `json:"data"`
	Meta  *Meta  `json:"meta,omitempty" doc:"Only if page or per_page was given."`
	Links *Links `json:"links,omitempty" doc:"Only if page or per_page was given."`
}

// ParsePart reads page and per_page of such a list. The zero Query asks for the whole
// list. The error is a 422 for values that are no page.
func ParsePart(query url.Values) (Query, error) {
	if last(query, "page") == "" && last(query, "per_page") == "" {
		return Query{}, nil
	}
	q, err := Spec{Tiebreak: "id"}.Parse(url.Values{"page": query["page"], "per_page": query["per_page"]})
	q.values = query
	return q, err
}

// Whole reports whether the query asks for the whole list.
func (q Query) Whole() bool { return q.perPage == 0 }

// Limit and Offset are the part of the list that the query asks for, where the whole list
// has at most the given number of entries.
func (q Query) Limit(whole int64) int64 {
	if q.Whole() {
		return whole
	}
	return q.perPage
}

// Offset is the number of entries before those of the page.
func (q Query) Offset() int64 {
	if q.Whole() {
		return 0
	}
	return q.offset()
}

// NewPart returns the part of a list that q asks for, of total entries. address is as in
// New.
func NewPart[T any](q Query, address string, items []T, total int64) Part[T] {
	if items == nil {
		items = []T{}
	}
	if q.Whole() {
		return Part[T]{Data: items}
	}
	p := New(q, address, items, total)
	return Part[T]{Data: p.Data, Meta: &p.Meta, Links: &p.Links}
}
