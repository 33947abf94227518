package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var letters = []column{{"a", true}, {"b", false}, {"c", false}}

// read returns the lines of a file, formatted as text, and the error of readLines.
func read(t testing.TB, text string) ([]string, error) {
	t.Helper()
	k := kind{name: "letters", file: filepath.Join(t.TempDir(), "letters.csv"), columns: letters}
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	err := readLines(k, func(r row, bad error) error {
		if bad == nil {
			lines = append(lines, fmt.Sprintf("%d %q %q %q", r.line, r.get("a"), r.get("b"), r.get("c")))
			return nil
		}
		problems, ours := problemsOf(bad)
		if !ours {
			t.Errorf("%v is not a list of problems", bad)
		}
		for _, problem := range problems {
			lines = append(lines, fmt.Sprintf("%d %s", r.line, problem))
		}
		return nil
	})
	return lines, err
}

func TestEach(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{
			"plain",
			"a,b,c\n1,2,3\n4,5,6\n",
			[]string{`2 "1" "2" "3"`, `3 "4" "5" "6"`},
		},
		{
			"columns in another order, and some left out",
			"c,a\n3,1\n",
			[]string{`2 "1" "" "3"`},
		},
		{
			"a byte order mark, the line ends of Windows, no end of the last line",
			"\ufeffa,b,c\r\n1,2,3\r\n4,5,6",
			[]string{`2 "1" "2" "3"`, `3 "4" "5" "6"`},
		},
		{
			"quotes, and a field of two lines",
			"a,b,c\n\"1,1\",\"say \"\"hi\"\"\",\"two\nlines\"\n4,5,6\n",
			[]string{`2 "1,1" "say \"hi\"" "two\nlines"`, `4 "4" "5" "6"`},
		},
		{
			"empty lines and space around",
			"a, b ,c\n\n 1 ,2 ,\t3\n\n",
			[]string{`3 "1" "2" "3"`},
		},
		{
			"no lines",
			"a\n",
			nil,
		},
		{
			"too few and too many fields",
			"a,b,c\n1,2\n1,2,3,4\n1,2,3\n",
			[]string{
				"2 has 2 fields; the header has 3",
				"3 has 4 fields; the header has 3",
				`4 "1" "2" "3"`,
			},
		},
		{
			"an empty field that is required",
			"a,b,c\n,2,3\n \t,2,3\n",
			[]string{"2 a: is empty", "3 a: is empty"},
		},
		{
			"bytes that are not UTF-8",
			"a,b,c\n1,\xe9,\xff\n",
			[]string{"2 b: is not UTF-8", "2 c: is not UTF-8"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.text)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A missing column or a syntax error stops readLines, and the error names the position.
func TestEachEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		read             int
	}{
		{"no header", "", `letters.csv:1: column "a" is missing`, 0},
		{"a required column is missing", "b,c\n1,2\n", `letters.csv:1: column "a" is missing`, 0},
		{"an unknown column", "a,d\n1,2\n", `letters.csv:1: letters: unknown column "d"; columns: a, b, c`, 0},
		{"a column twice", "a,b,a\n1,2,3\n", `letters.csv:1: column "a" appears twice`, 0},
		{"a quote that does not end", "a,b\n1,2\n3,\"4\n5,6\n", "letters.csv:", 1},
		{"a quote within a field", "a,b\n1,2\n3,4\"4\n5,6\n", "letters.csv:3:", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if len(got) != c.read {
				t.Errorf("%d lines were read before: %q", len(got), got)
			}
		})
	}
	missing := kind{name: "letters", file: filepath.Join(t.TempDir(), "none.csv"), columns: letters}
	if err := readLines(missing, func(row, error) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// readLines stops at the first error of its callback.
func TestEachStops(t *testing.T) {
	t.Parallel()
	k := kind{name: "letters", file: filepath.Join(t.TempDir(), "letters.csv"), columns: letters}
	if err := os.WriteFile(k.file, []byte("a\n1\n2\n3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	enough, read := errors.New("enough"), 0
	err := readLines(k, func(row, error) error {
		if read++; read == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || read != 2 {
		t.Errorf("%d lines, %v", read, err)
	}
}

// problemsOf never reports another error, such as a database failure, as a problem of the line.
func TestProblemsOf(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is away")
	for _, c := range []struct {
		name string
		err  error
		want []string
		ours bool
	}{
		{"none", nil, nil, true},
		{"one", newProblem("a", "is %d", 1), []string{"a: is 1"}, true},
		{"of the whole line", newProblem("", "is short"), []string{"is short"}, true},
		{"several", errors.Join(newProblem("a", "x"), nil, newProblem("b", "y")), []string{"a: x", "b: y"}, true},
		{"wrapped", fmt.Errorf("line: %w", newProblem("a", "x")), []string{"a: x"}, true},
		{"another failure", broken, nil, false},
		{"one next to another failure", errors.Join(newProblem("a", "x"), broken), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, ours := problemsOf(c.err)
			if !slices.Equal(got, c.want) || ours != c.ours {
				t.Errorf("%q, %t", got, ours)
			}
		})
	}
}

// For any input, readLines terminates, and each valid line has all required fields and valid UTF-8.
func FuzzEach(f *testing.F) {
	for _, text := range []string{"a,b,c\n1,2,3\n", "\ufeffa\r\n1\r\n", "a\n\"", "a,b\n\"1\n2\",\xff\n", ",\n,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k := kind{name: "letters", file: filepath.Join(t.TempDir(), "letters.csv"), columns: letters}
		if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		last := 1
		_ = readLines(k, func(r row, bad error) error {
			if r.line <= last {
				t.Errorf("line %d after line %d", r.line, last)
			}
			last = r.line
			if bad == nil && r.get("a") == "" {
				t.Error("a required field is empty")
			}
			for name, value := range r.values {
				if strings.ToValidUTF8(value, "") != value {
					t.Errorf("%s is not UTF-8: %q", name, value)
				}
			}
			return nil
		})
	})
}
