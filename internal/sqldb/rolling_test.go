package sqldb_test

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// released is the last migration of the first version whose instances may run beside those of
// the next (ADR 20).
const released = 86

// forbidden are what takes something away that the version before uses, or asks something of
// it that it does not know.
var forbidden = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"drops a table, a column or a view", regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN|VIEW)\b`)},
	{"renames", regexp.MustCompile(`(?i)\bRENAME\b`)},
	{"changes the type of a column", regexp.MustCompile(`(?i)\bALTER\s+COLUMN\s+\S+\s+(SET\s+DATA\s+)?TYPE\b`)},
	{"makes a column required", regexp.MustCompile(`(?i)\bSET\s+NOT\s+NULL\b`)},
	{"drops a default", regexp.MustCompile(`(?i)\bDROP\s+DEFAULT\b`)},
	{"adds a constraint", regexp.MustCompile(`(?i)\bADD\s+(CONSTRAINT|CHECK|UNIQUE|FOREIGN)\b`)},
}

var (
	addedColumn = regexp.MustCompile(`(?i)\bADD\s+COLUMN\b[^;]*`)
	required    = regexp.MustCompile(`(?i)\bNOT\s+NULL\b`)
	defaulted   = regexp.MustCompile(`(?i)\bDEFAULT\b`)
	sqlComment  = regexp.MustCompile(`(?m)--.*$`)
	// agreed says why one of these is right: `-- rolling: unused since 00091`.
	agreed = regexp.MustCompile(`(?m)^-- rolling: \S+`)
)

// breaks returns why the version before a migration could not go on beside it, "" if it can.
func breaks(migration string) string {
	if agreed.MatchString(migration) {
		return ""
	}
	code := sqlComment.ReplaceAllString(migration, "")
	for _, f := range forbidden {
		if f.pattern.MatchString(code) {
			return f.what
		}
	}
	for _, added := range addedColumn.FindAllString(code, -1) {
		if required.MatchString(added) && !defaulted.MatchString(added) {
			return "adds a required column without a default"
		}
	}
	return ""
}

// While a new version takes over, the one before runs on the new schema.
func TestMigrationsLetTheVersionBeforeRun(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(sqldb.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range files {
		digits, _, _ := strings.Cut(name, "_")
		if number, err := strconv.Atoi(digits); err != nil || number <= released {
			continue
		}
		text, err := fs.ReadFile(sqldb.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		looked++
		if why := breaks(string(text)); why != "" {
			t.Errorf("%s %s: the version before still runs (docs/upgrading.md)", name, why)
		}
	}
	t.Logf("looked at %d migrations", looked)
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"ALTER TABLE jobs ADD COLUMN origin text NOT NULL DEFAULT '';": false,
		"ALTER TABLE jobs ADD COLUMN origin text;":                     false,
		"CREATE TABLE a (b text NOT NULL);":                            false,
		"CREATE INDEX a_idx ON a (b); DROP INDEX c_idx;":               false,
		"ALTER TABLE jobs ADD COLUMN origin text NOT NULL;":            true,
		"alter table jobs drop column origin;":                         true,
		"DROP TABLE a;":                                                true,
		"-- rolling: unused since 00091\nDROP TABLE a;":                false,
		"-- DROP TABLE a;\nSELECT 1;":                                  false,
		"ALTER TABLE a RENAME COLUMN b TO c;":                          true,
		"ALTER TABLE a ALTER COLUMN b TYPE bigint;":                    true,
		"ALTER TABLE a ALTER COLUMN b SET NOT NULL;":                   true,
		"ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0);":                true,
	} {
		if got := breaks(text) != ""; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
