package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// column describes a column of a file.
type column struct {
	name     string
	required bool // the header must contain the column, and each line must have a value
}

// row is a line of a file.
type row struct {
	line   int
	values map[string]string // by column name, trimmed
}

func (r row) get(name string) string { return r.values[name] }

// currency returns the currency code in upper case.
func (r row) currency() string { return strings.ToUpper(r.get("currency")) }

// optional returns the value of a column, or nil if it is empty.
func (r row) optional(name string) *string {
	if v := r.values[name]; v != "" {
		return &v
	}
	return nil
}

// problem describes an invalid field, or an invalid line if field is empty.
type problem struct{ field, reason string }

// Error returns the reason, prefixed with the field name if there is one.
func (p *problem) Error() string {
	if p.field == "" {
		return p.reason
	}
	return p.field + ": " + p.reason
}

func newProblem(field, format string, args ...any) error {
	return &problem{field, fmt.Sprintf(format, args...)}
}

// problemsOf returns the problems of a line that err describes. ours is false if err is not about
// the content of the line, for example a database error.
func problemsOf(err error) (problems []string, ours bool) {
	if err == nil {
		return nil, true
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			more, ours := problemsOf(err)
			if !ours {
				return nil, false
			}
			problems = append(problems, more...)
		}
		return problems, true
	}
	if p, ok := errors.AsType[*problem](err); ok {
		return []string{p.Error()}, true
	}
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		messages, failed := i18n.Load()
		if failed != nil {
			return nil, false
		}
		return []string{messages.Text(i18n.Default, refused.Message, refused.Args)}, true
	}
	return nil, false
}

// byteOrderMark precedes the text in UTF-8 files that some programs write.
var byteOrderMark = []byte("\ufeff")

// readLines calls do for each line of an RFC 4180 file after the header. For an invalid line, bad
// holds its problems. The columns can be in any order.
func readLines(k kind, do func(r row, bad error) error) (err error) {
	file, err := os.Open(k.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	lines := csv.NewReader(file)
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	first, err := lines.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", k.file, err)
	}
	header, err := headerOf(k, slices.Clone(first))
	if err != nil {
		return fmt.Errorf("%s:1: %w", k.file, err)
	}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			// After a syntax error the start of the next line is unknown.
			return fmt.Errorf("%s:%d: %w", k.file, broken.Line, broken.Err)
		}
		if err != nil {
			return err
		}
		line, _ := lines.FieldPos(0)
		r, bad := rowOf(k, header, fields, line)
		if err := do(r, bad); err != nil {
			return err
		}
	}
}

func headerOf(k kind, header []string) ([]string, error) {
	var problems []error
	if len(header) > 0 {
		header[0] = string(bytes.TrimPrefix([]byte(header[0]), byteOrderMark))
	}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
		if !slices.ContainsFunc(k.columns, func(c column) bool { return c.name == header[i] }) {
			problems = append(problems, fmt.Errorf("%s: unknown column %q; columns: %s", k.name, header[i], columnNames(k.columns)))
		}
		if slices.Contains(header[:i], header[i]) {
			problems = append(problems, fmt.Errorf("column %q appears twice", header[i]))
		}
	}
	for _, c := range k.columns {
		if c.required && !slices.Contains(header, c.name) {
			problems = append(problems, fmt.Errorf("column %q is missing", c.name))
		}
	}
	return header, errors.Join(problems...)
}

func columnNames(columns []column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

func rowOf(k kind, header, fields []string, line int) (row, error) {
	r := row{line: line, values: make(map[string]string, len(header))}
	if len(fields) != len(header) {
		return r, newProblem("", "has %d fields; the header has %d", len(fields), len(header))
	}
	var problems []error
	for i, name := range header {
		if !utf8.ValidString(fields[i]) {
			problems = append(problems, newProblem(name, "is not UTF-8"))
			continue
		}
		r.values[name] = strings.Clone(shape.NormalText(fields[i]))
	}
	for _, c := range k.columns {
		if c.required && len(problems) == 0 && r.values[c.name] == "" {
			problems = append(problems, newProblem(c.name, "is empty"))
		}
	}
	return r, errors.Join(problems...)
}
