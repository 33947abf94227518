package arch

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	requirement = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+/\S+) v\S+$`) // direct dependencies: no comment after the version
	explanation = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| \\S")
)

// TestDependenciesAreExplained checks that docs/dependencies.md explains each direct dependency of
// the service and of the Go client, and nothing else.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	read := func(name string, pattern *regexp.Regexp) map[string]bool {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, match := range pattern.FindAllSubmatch(text, -1) {
			found[string(match[1])] = true
		}
		return found
	}
	required := read("go.mod", requirement)
	maps.Copy(required, read("client/go.mod", requirement))
	maps.Copy(required, npmDependencies(t))
	explained := read("docs/dependencies.md", explanation)
	if len(required) < 10 {
		t.Fatalf("found only %d requirements in go.mod", len(required))
	}
	for module := range required {
		if !explained[module] {
			t.Errorf("docs/dependencies.md lacks a reason for %s", module)
		}
	}
	for module := range explained {
		if !required[module] {
			t.Errorf("docs/dependencies.md lists %s, which is not a direct dependency", module)
		}
	}
}

// `go install …/cmd/tenantry@latest` rejects a module with these directives.
var directive = regexp.MustCompile(`(?m)^(replace|exclude)\b.*`)

func TestTheModuleCanBeInstalled(t *testing.T) {
	t.Parallel()
	if found := directive.FindString(read(t, "../../go.mod")); found != "" {
		t.Errorf("go.mod has %q: no other module may build the program", found)
	}
}

// npmDependencies returns the npm packages that the console, the clients and the examples depend
// on, without our own.
func npmDependencies(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, pattern := range []string{"../../web/package.json", "../../clients/*/package.json", "../../examples/*/package.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			var manifest struct{ Dependencies map[string]string }
			if err := json.Unmarshal([]byte(read(t, file)), &manifest); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for name := range manifest.Dependencies {
				if !strings.HasPrefix(name, "@tenantry/") {
					names[name] = true
				}
			}
		}
	}
	if len(names) < 10 {
		t.Fatalf("found only %d packages of npm", len(names))
	}
	return names
}
