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

// Among returns the condition that a column is one of the keys, of which there is at least
// one: "= ANY($1::uuid[])" and one argument on PostgreSQL, which is one text for any number
// of them, "IN ($1, $2)" on SQLite, which has no arrays. The placeholders are numbered from
// first on.
func Among[K any](db *DB, first int, kind string, keys []K) (condition string, args []any) {
	if db.dialect == Postgres {
		return "= ANY($" + strconv.Itoa(first) + "::" + kind + "[])", []any{keys}
	}
	keys = Padded(keys)
	args = make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	return "IN " + List(first, len(keys), kind), args
}

// List writes n placeholders, numbered from first on, for IN: ($1::text,$2::text). Unlike
// a list of VALUES, PostgreSQL looks these up in an index also while it knows nothing about
// the size of the table.
func List(first, n int, kind string) string {
	return Tuples(first, 1, slices.Repeat([]string{kind}, n)...)
}
