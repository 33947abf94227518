package sqldb

import (
	"bytes"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// typeRules convert PostgreSQL's column types to SQLite's, in this order. The declared type matters
// to SQLite in two ways: it determines how values are compared (TEXT, INTEGER), and the driver
// returns TIMESTAMP columns as times. A primary key is implicitly NOT NULL in PostgreSQL, but not
// in SQLite.
var typeRules = []struct {
	from *regexp.Regexp
	to   string
}{
	// As with a sequence, a number is never reused, even after a delete.
	{compileRule(`bigint\s+GENERATED\s+BY\s+DEFAULT\s+AS\s+IDENTITY\s+PRIMARY\s+KEY`), "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT"},
	{compileRule(`timestamp\s+with\s+time\s+zone|timestamptz`), "TIMESTAMP"},
	{compileRule(`uuid|jsonb`), "TEXT"},
	{compileRule(`bigint|smallint`), "INTEGER"},
	{compileRule(`bytea`), "BLOB"},
	{compileRule(`double\s+precision`), "REAL"},
	{compileRule(`(TEXT|INTEGER)\s+PRIMARY\s+KEY`), "$1 NOT NULL PRIMARY KEY"},
}

func compileRule(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

// choice matches alternatives for the two databases: /* postgres: */ uuid /* sqlite: BLOB */.
var choice = regexp.MustCompile(`(?s)/\* postgres: \*/.*?/\* sqlite: (.*?) \*/`)

// deriveSchema converts the text of a migration to SQLite. Literals, quoted names and comments are
// unchanged.
func deriveSchema(text string) string {
	var out strings.Builder
	text = choice.ReplaceAllString(text, "$1")
	for _, p := range split(text) {
		if p.code {
			for _, r := range typeRules {
				p.text = r.from.ReplaceAllString(p.text, r.to)
			}
		}
		out.WriteString(p.text)
	}
	return out.String()
}

// derivedFS is a file system whose SQL files are converted by deriveSchema.
type derivedFS struct{ fs.FS }

// Open opens the named file or folder.
func (d derivedFS) Open(name string) (fs.File, error) {
	f, err := d.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return f, err
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return derivedFile{File: f, text: bytes.NewBufferString(deriveSchema(string(text)))}, nil
}

type derivedFile struct {
	fs.File
	text *bytes.Buffer
}

// Read reads the converted text.
func (f derivedFile) Read(p []byte) (int, error) { return f.text.Read(p) }
