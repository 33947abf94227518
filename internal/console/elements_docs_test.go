package console_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/elements.md documents every attribute, event, part and custom property in the source, and no
// other custom property.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/elements.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	var source strings.Builder
	err = filepath.WalkDir("../../clients/elements/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		source.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) map[string]bool {
		found := map[string]bool{}
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(source.String(), -1) {
			for name := range strings.FieldsSeq(match[1]) {
				found[name] = true
			}
		}
		return found
	}
	properties := find(`var\((--tenantry-[\w-]+)`)
	for what, names := range map[string]map[string]bool{
		"attribute":       find(`attribute: '([\w-]+)'`),
		"event":           find(`(tenantry-(?:choose|changed|error))'`),
		"part":            find(`part="([\w -]+)"`),
		"custom property": properties,
	} {
		if len(names) < 3 {
			t.Errorf("found only %v of kind %s", names, what)
		}
		for name := range names {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/elements.md does not have the %s %s", what, name)
			}
		}
	}
	for _, match := range regexp.MustCompile("`(--tenantry-[\\w-]+)`").FindAllStringSubmatch(page, -1) {
		if !properties[match[1]] {
			t.Errorf("docs/elements.md has %s, which no element uses", match[1])
		}
	}
}
