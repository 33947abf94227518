package page

import (
	"context"
	"math"
	"net/url"
)

// Part describes the body of a list that is answered whole unless the caller asks for a page
// of it, with page or per_page: without Meta and Links, or as a Page.
type Part[T any] struct {
	Data  []T    `json:"data"`
	Meta  *Meta  `json:"meta,omitempty" doc:"Only if page or per_page was given."`
	Links *Links `json:"links,omitempty" doc:"Only if page or per_page was given."`
}

// ParsePart reads page and per_page of such a list. The zero Query asks for the whole
// list. The error is a 422 for values that are no page.
func ParsePart(query url.Values) (Query, error) {
	if lastValue(query, "page") == "" && lastValue(query, "per_page") == "" {
		return Query{}, nil
	}
	q, err := Spec{Tiebreak: "id"}.Parse(url.Values{"page": query["page"], "per_page": query["per_page"]})
	q.values = query
	return q, err
}

// IsWhole reports whether the query asks for the whole list.
func (q Query) IsWhole() bool { return q.perPage == 0 }

// Limits returns the LIMIT and the OFFSET of the page that is asked for.
func (q Query) Limits() (limit, offset int32) {
	return int32(q.perPage), int32(min(q.offset(), math.MaxInt32))
}

// NextPart reads the next part of a whole list and reports whether there may be another.
type NextPart[T any] func(ctx context.Context) (part []T, more bool, err error)

// PartSize is how many entries a part of a whole list has: how many are in memory at once.
const PartSize = 500

// ReadAfter reads a list in parts, each of which follows the last entry of the part before. read
// lists at most some entries that follow one; begin is before the first of all. The order has
// to be one of values that never change and that no two entries share.
//
// Invariant: an entry that is there from the first part to the last is listed once, as it is
// when its part is read. One that is made or deleted meanwhile may be listed or not.
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
