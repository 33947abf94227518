package sqldb

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// PadRows pads rows by repeating the last row. It pads to one of four lengths between consecutive
// powers of two, so that a connection prepares a handful of statements instead of one per length.
// There must be at least one row. Use it only for statements that a repeated row does not affect,
// such as looking up a list of keys, or inserting rows where a second equal row conflicts with the
// first.
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

// Values returns a query that produces the given rows (at least one), and its arguments. values
// holds the first row's value for each of the types, then the second row's, and so on. The columns
// are named column1, column2 and so on. Placeholders start at first.
//
// On SQLite the query is VALUES ($1,$2),($3,$4), with the last row repeated as in [PadRows]. On
// PostgreSQL, the query has one array parameter per column, so its text is the same for any number
// of rows. Otherwise each connection would plan the query for each number of rows, and each value
// would be a parameter.
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

// InsertRows returns the rows of an INSERT, like Values, with placeholders that start at 1. If
// Citus distributes the tables, it returns a VALUES list without repeated rows, because Citus sends
// each row of such a list to the row's shard.
func InsertRows(db *DB, values []any, types ...string) (query string, args []any) {
	if !db.distributed {
		return Values(db, 1, values, types...)
	}
	return "VALUES " + writeTuples(1, len(values)/len(types), types), values
}

// InsertDistinct is InsertRows for statements that a repeated row would change, such as adding to
// counters. On SQLite it removes the rows that Values repeats.
func InsertDistinct(db *DB, values []any, types ...string) (query string, args []any) {
	query, args = InsertRows(db, values, types...)
	if db.dialect == SQLite {
		query = "SELECT DISTINCT * FROM (" + query + ") AS given WHERE true"
	}
	return query, args
}

// element converts a value for use in an array, for types that the driver does not support there.
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

// tuples returns n tuples of placeholders, numbered from first:
// ($1::uuid,$2::text),($3::uuid,$4::text). Short results are cached.
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

// remembered caches the results of tuples. There are few, because [PadRows] limits the number of
// lengths per statement.
var remembered sync.Map // tuplesKey → string

// maxRemembered is the maximum number of placeholders in a cached text.
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

// InCondition returns the condition that a column is one of the keys (at least one). On PostgreSQL
// it is "= ANY($1::uuid[])" with one argument, the same text for any number of keys. On SQLite,
// which has no arrays, it is "IN ($1, $2)". Placeholders start at first.
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
