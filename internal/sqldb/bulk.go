package sqldb

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Statements for many rows exist for a few numbers of rows only, four between a power
// of two and the next. So a connection prepares a handful of texts instead of one for
// each number.

// Padded returns rows with the last one repeated until there is a statement for their
// number. There must be at least one. It is for statements that a repetition does not
// change, such as looking up a list of keys, or inserting rows where a second equal
// row conflicts with the first.
func Padded[T any](rows []T) []T {
	step := max(1, 1<<bits.Len(uint(len(rows)-1))/8)
	n := (len(rows) + step - 1) / step * step
	if len(rows) == n {
		return rows
	}
	padded := make([]T, n)
	for i := copy(padded, rows); i < n; i++ {
		padded[i] = rows[len(rows)-1]
	}
	return padded
}

// Tuples writes n tuples of placeholders, numbered from first on:
// ($1::uuid,$2::text),($3::uuid,$4::text).
func Tuples(first, n int, types ...string) string {
	var b strings.Builder
	b.Grow(n * len(types) * len("($1000::uuid)"))
	for i := range n * len(types) {
		switch {
		case i == 0:
			b.WriteString("(")
		case i%len(types) == 0:
			b.WriteString("),(")
		default:
			b.WriteString(",")
		}
		b.WriteString("$")
		b.WriteString(strconv.Itoa(first + i))
		b.WriteString("::")
		b.WriteString(types[i%len(types)])
	}
	b.WriteString(")")
	return b.String()
}

// List writes n placeholders, numbered from first on, for IN: ($1::text,$2::text). Unlike
// a list of VALUES, PostgreSQL looks these up in an index also while it knows nothing about
// the size of the table.
func List(first, n int, kind string) string {
	return Tuples(first, 1, slices.Repeat([]string{kind}, n)...)
}
