package psp

import "iter"

// listPage is the page size of list requests, the provider's maximum.
const listPage = 100

// page is a page of one of the provider's lists. more reports whether another page follows.
type page[T any] struct {
	items []T
	more  bool
}

// walk iterates over a list of the provider, page by page. It stops after an error. id returns the
// cursor of an item. The iteration starts after the item whose cursor is after, or at the beginning
// if after is "".
func walk[T any](after string, id func(T) string, read func(cursor string) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for cursor := after; ; {
			p, err := read(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.items {
				if !yield(item, nil) {
					return
				}
				cursor = id(item)
			}
			if !p.more || len(p.items) == 0 {
				return
			}
		}
	}
}
