package psp

import "iter"

// listPage is how many objects are asked for at once, the provider's maximum.
const listPage = 100

// page is a part of one of the provider's lists. more says that others follow.
type page[T any] struct {
	items []T
	more  bool
}

// walk iterates over a list of the provider, reading one page after the other. It ends
// after an error. id returns the cursor of an item. The list begins after the item
// with the cursor after, or with the first item if that is "".
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
