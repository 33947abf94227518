package guides_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// searchIndex is the content of assets/search.json.
type searchIndex struct {
	Synonyms map[string][]string
	Pages    []struct {
		A, T, S string
		P       [][3]string
		N       []string
	}
}

func readIndex(t *testing.T, s *httptest.Server) searchIndex {
	t.Helper()
	var index searchIndex
	if err := json.Unmarshal([]byte(get(t, s.URL+"/below/docs/assets/search.json").body), &index); err != nil {
		t.Fatal(err)
	}
	return index
}

// The search index contains every section with its text.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	found := ""
	for _, page := range readIndex(t, start(t)).Pages {
		for _, p := range page.P {
			if page.A == "webhooks" && p[0] == "verifying-in-python" {
				found = fmt.Sprint(page.T, " | ", page.S, " | ", p)
			}
			if strings.Contains(p[2], "<!--") || strings.Contains(p[2], ".md)") {
				t.Errorf("the text of %s#%s contains Markdown: %s", page.A, p[0], p[2])
			}
		}
	}
	if !strings.HasPrefix(found, "Webhooks | Build | [verifying-in-python Verifying in Python import base64") {
		t.Errorf("found %q", found)
	}
}

// The search index has the names of operations, and the error codes.
func TestSearchIndexHasNames(t *testing.T) {
	t.Parallel()
	operation, code := false, false
	for _, page := range readIndex(t, start(t)).Pages {
		if page.A == "api/usage/record-usage" {
			operation = slices.Equal(page.N, []string{"recordUsage", "POST", "/api/v1/tenant/{tenantId}/usage"})
		}
		for _, p := range page.P {
			code = code || page.A == "errors" && p[0] != "" && p[1] == "QUOTA_EXCEEDED" && p[2] != ""
		}
	}
	if !operation || !code {
		t.Errorf("the index contains the operation: %v, the error code: %v", operation, code)
	}
}

// Each synonym leads to words that a page contains, and its term can occur in a query.
func TestSynonyms(t *testing.T) {
	t.Parallel()
	index := readIndex(t, start(t))
	var text strings.Builder
	for _, page := range index.Pages {
		text.WriteString(" " + page.T + " ")
		for _, p := range page.P {
			text.WriteString(" " + p[1] + " " + p[2] + " ")
		}
	}
	folded := strings.ToLower(text.String())
	term := regexp.MustCompile(`^[a-z0-9./_-]+( [a-z0-9./_-]+){0,3}$`)
	for from, to := range index.Synonyms {
		if !term.MatchString(from) {
			t.Errorf("synonym %q cannot occur in a query", from)
		}
		if len(to) == 0 {
			t.Errorf("%q has an empty list", from)
		}
		for _, word := range to {
			if word == from || !regexp.MustCompile(`(^|[^\pL\pN])`+regexp.QuoteMeta(word)).MatchString(folded) {
				t.Errorf("%q is a synonym of %q, which no page contains", from, word)
			}
		}
	}
	if len(index.Synonyms) < 100 {
		t.Errorf("only %d synonyms", len(index.Synonyms))
	}
}
