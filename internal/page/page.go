// Package page implements the common behavior of lists: pagination, filters, sort orders and
// includes (rules: http#lists). A list declares the parameters that it supports as a Spec. Parse
// turns a query string into a Query, which builds SQL for both databases.
package page

import (
	"net/url"
	"strconv"
)

// Page is the body of a paginated response.
type Page[T any] struct {
	Data  []T   `json:"data"`
	Meta  Meta  `json:"meta"`
	Links Links `json:"links"`
}

// Meta is the position of a page in the list.
type Meta struct {
	CurrentPage int64 `json:"current_page"`
	LastPage    int64 `json:"last_page"` // at least 1
	PerPage     int64 `json:"per_page"`
	Total       int64 `json:"total"`
}

// Links are the absolute URLs of other pages of the list, including the other query parameters.
// Prev is null on the first page, and Next on the last page.
type Links struct {
	First string  `json:"first"`
	Last  string  `json:"last"`
	Prev  *string `json:"prev"`
	Next  *string `json:"next"`
}

// New returns the page for q. address is the absolute URL of the list without a query. total is the
// number of entries in the list.
func New[T any](q Query, address string, items []T, total int64) Page[T] {
	if items == nil {
		items = []T{}
	}
	last := max(1, (total+q.perPage-1)/q.perPage)
	p := Page[T]{
		Data:  items,
		Meta:  Meta{CurrentPage: q.page, LastPage: last, PerPage: q.perPage, Total: total},
		Links: Links{First: q.link(address, 1), Last: q.link(address, last)},
	}
	if q.page > 1 {
		// Beyond the end of the list, the previous page is the last page.
		prev := q.link(address, min(q.page-1, last))
		p.Links.Prev = &prev
	}
	if q.page < last {
		next := q.link(address, q.page+1)
		p.Links.Next = &next
	}
	return p
}

func (q Query) link(address string, number int64) string {
	values := make(url.Values, len(q.values)+1)
	for name, v := range q.values {
		values[name] = v
	}
	values.Set("page", strconv.FormatInt(number, 10))
	return address + "?" + values.Encode()
}

// Window returns the range of the page in an in-memory list with total entries: from (inclusive)
// and to (exclusive).
func (q Query) Window(total int) (from, to int) {
	from = int(min(q.offset(), int64(total)))
	return from, int(min(int64(from)+q.perPage, int64(total)))
}
