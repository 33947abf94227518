package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The chart, the npm packages and the modules have the version of the first heading of the
// changelog.
func TestVersionsAgree(t *testing.T) {
	t.Parallel()
	version := find(t, "../../CHANGELOG.md", `(?m)^## (\d+\.\d+\.\d+) \(`)[0]
	files := map[string]string{
		"../../deploy/helm/tenantry/Chart.yaml": `(?mi)^(?:app)?version: "?([^"\n]+)`,
		"../../tenantrytest/go.mod":             `(?m)^\tgithub\.com/tenantry/tenantry\S* v(\S+)$`,
		"../../examples/go/go.mod":              `(?m)^\tgithub\.com/tenantry/tenantry\S* v(\S+)$`,
	}
	packages, err := filepath.Glob("../../clients/*/package.json")
	if err != nil || len(packages) < 3 {
		t.Fatal(packages, err)
	}
	for _, name := range packages {
		files[name] = `(?m)^  "version": "(.*)",$`
		files[filepath.Join(filepath.Dir(name), "package-lock.json")] = files[name]
	}
	for name, pattern := range files {
		for _, found := range find(t, name, pattern) {
			if found != version {
				t.Errorf("%s has version %s, the changelog %s", name, found, version)
			}
		}
	}
}

// find returns the first group of each match in a file. It fails without a match.
func find(t *testing.T, name, pattern string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}
	if len(found) == 0 {
		t.Fatalf("version of %s is missing", name)
	}
	return found
}
