package sqldb

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// PadRows returns rows with the last one repeated until there is a statement for their
// number: four between a power of two and the next, so that a connection prepares a handful
// of texts instead of one for each number. There must be at least one. It is for statements
// that a repetition does not change, such as looking up a list of keys, or inserting rows
// where a second equal row conflicts with the first.
func PadRows[T any](rows []T) []T {
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

// Values returns a query for rows that a statement is given, at least one, and its arguments.
// values has the first row's value for each of the types, then the second row's. The columns are
// column1, column2 and so on, the placeholders are numbered from first on.
//
// On SQLite it is VALUES ($1,$2),($3,$4), the last row as often as [Padded] repeats it. On
// PostgreSQL it has an array for each column, and is one text for any number of rows:
// otherwise each connection plans it anew for each number, and each value is a parameter.
func Values(db *DB, first int, values []any, types ...string) (query string, args []any) {
	if db.dialect == SQLite {
		rows := slices.Collect(slices.Chunk(values, len(types)))
		args = slices.Concat(PadRows(rows)...)
		return "VALUES " + tuples(first, len(args)/len(types), types...), args
	}
	n := len(values) / len(types)
	args = make([]any, len(types))
	arrays, names := make([]string, len(types)), make([]string, len(types))
	for i, kind := range types {
		column := make([]any, n)
		for row := range column {
			column[row] = element(values[row*len(types)+i])
		}
		args[i] = column
		arrays[i] = "$" + strconv.Itoa(first+i) + "::" + kind + "[]"
		names[i] = "column" + strconv.Itoa(i+1)
	}
	return "SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ") AS given (" + strings.Join(names, ", ") + ")", args
}

// element is a value as the driver takes it in an array, where it does not ask our types for
// theirs.
func element(value any) any {
	switch v := value.(type) {
	case JSON:
		if v == nil {
			return nil
		}
		return string(v)
	default:
		return value
	}
}

// tuples returns n tuples of placeholders, numbered from first on:
// ($1::uuid,$2::text),($3::uuid,$4::text). What is not large is remembered.
func tuples(first, n int, types ...string) string {
	if n*len(types) > maxRemembered {
		return writeTuples(first, n, types)
	}
	key := tuplesKey{first, n, strings.Join(types, ",")}
	if known, ok := remembered.Load(key); ok {
		text, _ := known.(string)
		return text
	}
	text := writeTuples(first, n, types)
	remembered.Store(key, text)
	return text
}

// remembered are texts of tuples. There are few: of each statement one for each number that [Padded]
// leaves.
var remembered sync.Map // tuplesKey → string

// maxRemembered bounds the placeholders of one that is remembered.
const maxRemembered = 2048

type tuplesKey struct {
	first, n int
	types    string
}

func writeTuples(first, n int, types []string) string {
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

// InCondition returns the condition that a column is one of the keys, of which there is at least
// one: "= ANY($1::uuid[])" and one argument on PostgreSQL, which is one text for any number
// of them, "IN ($1, $2)" on SQLite, which has no arrays. The placeholders are numbered from
// first on.
func InCondition[K any](db *DB, first int, kind string, keys []K) (condition string, args []any) {
	if db.dialect == Postgres {
		return "= ANY($" + strconv.Itoa(first) + "::" + kind + "[])", []any{keys}
	}
	keys = PadRows(keys)
	args = make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	return "IN " + tuples(first, 1, slices.Repeat([]string{kind}, len(keys))...), args
}
