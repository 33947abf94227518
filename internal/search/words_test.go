package search

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Words are in lower case, without accents, and end at each character that is not a letter or a
// digit.
func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Ünter-Wäsche GmbH": {"unter", "wasche", "gmbh"}, "jane.doe@acme.test": {"jane", "doe", "acme", "test"}, "Straße": {"strasse"},
		"STRASSE strasse": {"strasse"}, "INV-2026-000001": {"inv", "2026", "000001"}, "e\u0301lan \ufb01n": {"elan", "fin"}, " -- ": nil,
	} {
		if diff := cmp.Diff(want, splitWords(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// Words that are prefixes of other words are left out. byRarity puts rare words first.
func TestTerms(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"tenant", "acme"}, Terms("te acme ten tenant")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"7", "filled"}, byRarity(Terms("filled 7"))); diff != "" {
		t.Error(diff)
	}
}

// International domains, which are stored in punycode, are also found as typed.
func TestMatchesInternationalDomains(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]bool{
		"x@müller.test": true, "X@MULLER.test": true, "x@mü": true, "müll": true, "x@xn--mller-kva.test": true, "mueller": false, "y@müller.test": false,
	} {
		if Matches(query, "x@xn--mller-kva.test") != want {
			t.Errorf("%s: %t", query, !want)
		}
	}
}

func TestIDRange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"01990000": true, "01990000-0000-7": true, "01990000-0000-7000-8000-000000000000": true, "0199000g": false, "0199-": false,
		"01990000-0000-7000-8000-0000000000001": false,
	} {
		from, to, ok := idRange(text)
		if ok != want || ok && (from.String() > to.String() || from.String()[:len(text)] != text) {
			t.Errorf("%s: %s to %s, %t", text, from, to, ok)
		}
	}
}

// The number of subqueries is limited, because planning many of them takes seconds.
func TestStatementOfManyWords(t *testing.T) {
	t.Parallel()
	var words []string
	for a := 'g'; a <= 'z'; a++ {
		words = append(words, string(a)+"x", string(a)+"y")
	}
	for name, text := range map[string]string{
		"people": users.condition(strings.Join(words, " "), byRarity, func(any) string { return "$1" }),
		"all":    users.hasAll(strings.Join(words, " "), func(any) string { return "$1" }),
		"chunk":  users.condition(strings.Join(words, "-"), byRarity, func(any) string { return "$1" }),
	} {
		if n := strings.Count(text, "user_words"); n > singleTests+2 {
			t.Errorf("%s: %d subqueries", name, n)
		}
	}
}
