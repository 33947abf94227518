package arch

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// documents returns the text of every Markdown file by its path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := walk("../..", ".md", func(name string, text []byte) error {
		all[name] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	fences   = regexp.MustCompile("(?ms)^```.*?^```")
	headings = regexp.MustCompile(`(?m)^#{1,6} +(.+?)\s*$`)
)

// slugs returns the anchors of a document's headings, in GitHub's format.
func slugs(text string) map[string]bool {
	all := map[string]bool{}
	for _, match := range headings.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
		slug := strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
				return unicode.ToLower(c)
			default:
				return -1
			}
		}, match[1])
		all[slug] = true
	}
	return all
}

var (
	rulesReference = regexp.MustCompile(`\(rules:\s*([^)]*)\)`)
	rulesHeading   = regexp.MustCompile(`^([a-z-]+)(?:#([\pL0-9_-]+))?$`)
	elsewhere      = regexp.MustCompile(`\((spec|decisions?)\b[:, ]`)
	commentMarks   = regexp.MustCompile(`(?m)\n\s*(//|--) ?`)
)

// TestRulesResolve checks that each reference to a rule in a comment, such as
// "(rules: team#invitations)", names a page of docs/rules and a heading of that page. A reference
// without a heading means the whole page. Commas separate several references.
func TestRulesResolve(t *testing.T) {
	t.Parallel()
	pages := map[string]map[string]bool{}
	for name, text := range documents(t) {
		if page, ok := strings.CutPrefix(name, "docs/rules/"); ok {
			pages[strings.TrimSuffix(page, ".md")] = slugs(text)
		}
	}
	references := 0
	check := func(name, text string) {
		text = commentMarks.ReplaceAllString(text, " ")
		for _, match := range rulesReference.FindAllStringSubmatch(text, -1) {
			for reference := range strings.SplitSeq(match[1], ",") {
				references++
				parts := rulesHeading.FindStringSubmatch(strings.TrimSpace(reference))
				if parts == nil || pages[parts[1]] == nil || parts[2] != "" && !pages[parts[1]][parts[2]] {
					t.Errorf("%s: (rules: %s) is not in docs/rules", name, match[1])
				}
			}
		}
	}
	for _, s := range sources(t) {
		if s.Package() == "internal/arch" {
			continue
		}
		for _, group := range s.File.Comments {
			for _, c := range group.List {
				if elsewhere.MatchString(c.Text) {
					t.Errorf("%s: this refers to a document that is not in the repository: %s", s.Set.Position(c.Pos()), c.Text)
				}
			}
		}
		check(s.Path, string(s.Text))
	}
	if err := walk("../..", ".sql", func(name string, text []byte) error {
		if elsewhere.Match(text) {
			t.Errorf("%s refers to a document that is not in the repository", name)
		}
		check(name, string(text))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if references < 20 {
		t.Errorf("found only %d references to rules", references)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinksResolve checks that each relative link in a document leads to an existing file and
// heading.
func TestLinksResolve(t *testing.T) {
	t.Parallel()
	all := documents(t)
	for name, text := range all {
		for _, match := range link.FindAllStringSubmatch(fences.ReplaceAllString(text, ""), -1) {
			file, heading, _ := strings.Cut(match[1], "#")
			if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s: broken link to %s", name, match[1])
			} else if heading != "" && !slugs(all[target])[heading] {
				t.Errorf("%s: %s lacks a heading for #%s", name, target, heading)
			}
		}
	}
}
