package sqldb

import (
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
)

// pipelineRows are the results of queries that were sent together.
type pipelineRows struct {
	conn    *pipelineConn
	results pgx.BatchResults
	left    int // results not yet started
	rows    pgx.Rows
	first   bool // the first row has already been read
	more    bool // the first row exists
}

// Columns returns the names of the columns.
func (r *pipelineRows) Columns() []string {
	fields := r.rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Close reads the remaining results, so that the connection can be reused.
func (r *pipelineRows) Close() error {
	r.rows.Close()
	return r.results.Close()
}

// Next reads the next row.
func (r *pipelineRows) Next(dest []driver.Value) error {
	more := r.more
	if !r.first {
		more = r.rows.Next()
	}
	r.first = false
	if !more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	types, fields := r.conn.Conn.Conn().TypeMap(), r.rows.FieldDescriptions()
	for i, raw := range r.rows.RawValues() {
		known, ok := types.TypeForOID(fields[i].DataTypeOID)
		if !ok { // for example void, which the server sends as text
			dest[i] = string(raw)
			continue
		}
		var err error
		if dest[i], err = known.Codec.DecodeDatabaseSQLValue(types, fields[i].DataTypeOID, fields[i].Format, raw); err != nil {
			return fmt.Errorf("sqldb: column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// HasNextResultSet reports whether there is another result.
func (r *pipelineRows) HasNextResultSet() bool { return r.left > 0 }

// NextResultSet starts the next result. It reads the first row, because only then are the columns
// and the error of the result known.
func (r *pipelineRows) NextResultSet() error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	if r.rows != nil {
		r.rows.Close()
	}
	rows, err := r.results.Query()
	r.rows = rows
	if err != nil {
		return err
	}
	r.first, r.more = true, rows.Next()
	return rows.Err()
}
