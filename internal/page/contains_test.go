package page_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// one describes a list with a single entry, whose text is an argument of the statement.
var one = page.Spec{
	Filters:  map[string]page.Filter{"text": {Kind: page.PartialMatch, Exprs: []string{"x"}}},
	Tiebreak: "x",
}

// finds reports whether the database finds needle in text.
func finds(ctx context.Context, t rapid.TB, db *sqldb.DB, text, needle string) bool {
	t.Helper()
	q, err := one.Parse(url.Values{"filter[text]": {needle}})
	if err != nil {
		t.Fatalf("%q: %v", needle, err)
	}
	sel := page.Select{Columns: "x", From: "(SELECT $1::text AS x) AS one", Args: []any{text}}
	found, total, err := page.Fetch(ctx, db.Conn(ctx), q, sel, func(row page.Scanner) (s string, err error) {
		return s, row.Scan(&s)
	})
	if err != nil {
		t.Fatalf("%q in %q: %v", needle, text, err)
	}
	if int64(len(found)) != total || total == 1 && found[0] != text {
		t.Fatalf("%q in %q: counted %d, found %q", needle, text, total, found)
	}
	return total == 1
}

func TestPartialIsLiteralAndCaseBlind(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		for _, tt := range []struct {
			text, needle string
			want         bool
		}{
			{"Starter plan", "TER PL", true},
			{"Starter plan", "terpl", false},
			{"100% cotton", "0% c", true},
			{"100 cotton", "0% c", false},
			{"100 cotton", "%", false},
			{"a_b", "A_B", true},
			{"axb", "a_b", false},
			{`a\b`, `A\B`, true},
			{`a\b`, `a\\b`, false},
			{`100\%`, `\%`, true},
			{"wow!", "W!", true},
			{"wow!", "!!", false},
			{"it's", "T'S", true},
			{`say "hi"`, `"HI"`, true},
			{"x'; DROP TABLE plans; --", "'; drop", true},
			{"$1 and $2", "$2", true},
			{"rocket 🚀 launch", "🚀 L", true},
			{"École", "éCOLE", true},
			{"école", "École", true},
			{"ecole", "école", false},
			{"ΣΊΣΥΦΟΣ", "σίσυφος", true},
			{"σίσυφος", "ΣΊΣΥΦΟΣ", true},
			{"Тариф", "тАРИФ", true},
			{"Kelvin", "KELVIN", true}, // the Kelvin sign in the text
			{"kelvin", "Kelvin", true}, // the Kelvin sign in the needle
			{"groß", "GROẞ", true},
			{"groß", "gross", false},
			{"İstanbul", "ist", true},
			{"istanbul", "İST", true},
			{"ısparta", "ISP", true},
		} {
			if got := finds(t.Context(), t, db, tt.text, tt.needle); got != tt.want {
				t.Errorf("%q in %q = %v, want %v", tt.needle, tt.text, got, tt.want)
			}
		}
	})
}

// Both databases follow the rule for any text, and therefore agree with each other.
func TestPartialFollowsSimpleFolding(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		characters := rapid.SampledFrom([]rune(`aAbBkKsSiIİı !%_\'"$1éÉèêßẞſKÅåσςΣжЖ🚀ǅǆ日`))
		texts := rapid.StringOfN(characters, 0, 12, -1)
		needles := rapid.StringOfN(characters, 1, 3, -1)
		rapid.Check(t, func(r *rapid.T) {
			text, needle := texts.Draw(r, "text"), strings.TrimSpace(needles.Draw(r, "needle"))
			if needle == "" {
				r.Skip("blank")
			}
			want := strings.Contains(simpleFold(text), simpleFold(needle))
			if got := finds(t.Context(), r, db, text, needle); got != want {
				r.Fatalf("%q in %q = %v, want %v", needle, text, got, want)
			}
		})
	})
}

// simpleFold replaces every character with the smallest of its forms.
func simpleFold(text string) string {
	return strings.Map(func(c rune) rune {
		if c == 'İ' || c == 'ı' {
			c = 'i'
		}
		least := c
		for form := unicode.SimpleFold(c); form != c; form = unicode.SimpleFold(form) {
			least = min(least, form)
		}
		return least
	}, text)
}

// Both databases accept the statement for the longest text with as many different letters as
// possible, over many expressions.
func TestPartialAtItsLongest(t *testing.T) {
	t.Parallel()
	var letters []rune
	for c := rune(0x80); len(letters) < 255; c++ {
		if unicode.IsUpper(c) && unicode.SimpleFold(c) != c {
			letters = append(letters, c)
		}
	}
	needle := string(letters)
	spec := page.Spec{
		Filters:  map[string]page.Filter{"text": {Kind: page.PartialMatch, Exprs: []string{"''", "''", "''", "''", "''", "''", "''", "''", "x"}}},
		Tiebreak: "x",
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		q, err := spec.Parse(url.Values{"filter[text]": {needle}})
		if err != nil {
			t.Fatal(err)
		}
		sel := page.Select{Columns: "x", From: "(SELECT $1::text AS x) AS one", Args: []any{"<" + strings.ToLower(needle) + ">"}}
		_, total, err := page.Fetch(t.Context(), db.Conn(t.Context()), q, sel, func(row page.Scanner) (s string, err error) {
			return s, row.Scan(&s)
		})
		if err != nil || total != 1 {
			t.Errorf("total = %d, %v", total, err)
		}
	})
}
