package page

import (
	"context"
	"math"
	"net/url"
)

// Part is the body of a list that is complete by default, and paginated if page or per_page is
// given. Only a paginated body has Meta and Links.
type Part[T any] struct {
	Data  []T    `json:"data"`
	Meta  *Meta  `json:"meta,omitempty" doc:"Position of this page in the list. Present if page or per_page is set."`
	Links *Links `json:"links,omitempty" doc:"Absolute URLs of other pages. Present if page or per_page is set."`
}

// ParsePart parses page and per_page of such a list. If neither is given, it returns the zero
// Query, which requests the whole list. It returns a 422 error for invalid values.
func ParsePart(query url.Values) (Query, error) {
	if lastValue(query, "page") == "" && lastValue(query, "per_page") == "" {
		return Query{}, nil
	}
	q, err := Spec{Tiebreak: "id"}.Parse(url.Values{"page": query["page"], "per_page": query["per_page"]})
	q.values = query
	return q, err
}

// ParseSearchedPart is ParsePart for a list with the parameter search. A request with search is
// parsed like a request for a page. The caller filters the list.
func ParseSearchedPart(query url.Values) (Query, error) {
	if lastValue(query, "search") == "" {
		return ParsePart(query)
	}
	search := Filter{Kind: Words, Condition: func(any, func(any) string) string { return "" }}
	q, err := Spec{Tiebreak: "id", Params: map[string]Filter{"search": search}}.Parse(url.Values{"page": query["page"], "per_page": query["per_page"], "search": query["search"]})
	q.values = query
	return q, err
}

// IsWhole reports whether the query requests the whole list.
func (q Query) IsWhole() bool { return q.perPage == 0 }

// Limits returns the LIMIT and the OFFSET of the page.
func (q Query) Limits() (limit, offset int32) {
	return int32(q.perPage), int32(min(q.offset(), math.MaxInt32))
}

// NextPart reads the next part of a list and reports whether there can be more.
type NextPart[T any] func(ctx context.Context) (part []T, more bool, err error)

// PartSize is the number of entries in a part, which is the number of entries in memory.
const PartSize = 500

// ReadAfter reads a list in parts, each starting after the last entry of the previous part. read
// returns up to most entries after an entry. begin sorts before all entries. The sort key must be
// unique and must never change.
//
// Invariant: an entry that exists during the whole read is listed once, in its state when its part
// is read. An entry that is created or deleted during the read may or may not be listed.
func ReadAfter[T any](begin T, read func(ctx context.Context, last T, most int) ([]T, error)) NextPart[T] {
	last := begin
	return func(ctx context.Context) ([]T, bool, error) {
		part, err := read(ctx, last, PartSize)
		if err != nil || len(part) < PartSize {
			return part, false, err
		}
		last = part[len(part)-1]
		return part, true, nil
	}
}
