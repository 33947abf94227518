package arch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/tenantry/tenantry/"

// domains are the packages that implement the product's rules, with the other domains that each can
// import. Sub-packages have the permissions of their domain, unless they have their own entry.
var domains = map[string][]string{
	"account": {},
	"apikey":  {"tenant"},
	"tenant":  {"account"},
	// A tenant's domains and single sign-on add members.
	"tenant/domain": {"team"},
	"tenant/sso":    {"account", "team"},
	"team":          {"account", "tenant"},
	"catalog":       {},
	// The catalog file also contains the meters.
	"catalog/pricelist": {"usage"},
	"subscription":      {"tenant", "catalog"},
	"usage":             {},
	"purchase":          {"tenant", "catalog", "usage"},
	"invoice":           {"tenant"},
	"onboarding":        {"account", "tenant", "catalog", "subscription"},
	"impersonation":     {"account"},
	"importer":          {"account", "tenant", "team", "catalog", "subscription"},
	"stats":             {"subscription"},
	"webhook":           {"tenant"},
	"timeline":          {"invoice"}, // explains decline codes
	"token":             {},
	"requestlog":        {"timeline"}, // shows the same users and tenants
}

// platform are the packages that domains build on. They import no domain. This includes psp, which
// has its own types.
var platform = []string{
	"audit", "authz", "brand", "breaker", "clock", "console", "datadir", "dbfile", "fault", "frontend", "guides", "hook", "i18n", "idempotency", "jobs", "lastused", "limit", "logging", "mail", "metrics", "money", "page", "psp", "push", "querycache", "rest", "safehttp", "search", "secrets", "sqldb", "tracing", "vat",
}

// settings are the domains whose types the settings use. Only app and the commands import package
// settings.
var settings = []string{"account", "usage", "invoice"}

// sandboxTests are the packages of internal/ that tests of the sandbox may import. The sandbox
// imports nothing else from internal/, and sandbox/README.md names these packages.
var sandboxTests = []string{"internal/testkit", "internal/testkit/stripetest"}

// chaos lists the packages that tools/chaos may import.
var chaos = []string{"clock", "fault", "limit", "sqldb"}

// libraries can only be imported by the packages that wrap them.
var libraries = []struct {
	prefix, reason string
	allowed        []string
}{
	{"github.com/stripe/stripe-go", "only psp knows the provider's library", []string{"internal/psp"}},
	{"github.com/go-chi/chi", "chi stays in the HTTP layer", []string{"internal/rest"}},
	{"github.com/modelcontextprotocol", "one package speaks with assistants", []string{"internal/app/mcp"}},
	{"go.opentelemetry.io", "spans are made in one place", []string{"internal/tracing"}},
	{"github.com/prometheus", "figures are counted in one place", []string{"internal/metrics"}},
	{"database/sql", "SQL is run by stores, through generated code", []string{"internal/dbfile", "internal/sqldb", "internal/testkit", "sandbox"}},
}

type pkg struct {
	ImportPath   string
	Doc          string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// listed returns the packages of the module. All tests share the result of go list.
var listed = sync.OnceValues(func() (all []pkg, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Doc,Dir,GoFiles,TestGoFiles,Imports,TestImports,XTestImports", module+"...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// packages returns every package of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil || len(all) < 10 {
		t.Fatalf("%d packages: %v", len(all), err)
	}
	return all
}

// place returns the path of a package in the module, and its top-level folder in internal (""
// outside of internal).
func place(importPath string) (path, top string) {
	path = strings.TrimPrefix(importPath, module)
	if rest, ok := strings.CutPrefix(path, "internal/"); ok {
		top, _, _ = strings.Cut(rest, "/")
	}
	return path, top
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		from, fromTop := place(p.ImportPath)
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			to, toTop := place(imported)
			if toTop == fromTop && fromTop != "" {
				continue
			}
			if reason := forbidden(from, fromTop, toTop); reason != "" {
				t.Errorf("%s imports %s: %s", from, to, reason)
			}
		}
	}
}

func TestImportsOfSandboxTests(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, p := range packages(t) {
		from, _ := place(p.ImportPath)
		if from != "sandbox" && !strings.HasPrefix(from, "sandbox/") {
			continue
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			switch to, top := place(imported); {
			case top == "" || !strings.HasPrefix(imported, module):
			case slices.Contains(sandboxTests, to):
				used[to] = true
			default:
				t.Errorf("tests of %s import %s: they import only %v of internal/", from, to, sandboxTests)
			}
		}
	}
	if len(used) != len(sandboxTests) {
		t.Errorf("tests of the sandbox import %v, want all of %v", used, sandboxTests)
	}
}

// forbidden returns why a package cannot import another, or "" if it can.
func forbidden(from, fromTop, toTop string) string {
	_, toDomain := domains[toTop]
	allowed, fromDomain := domains[strings.TrimPrefix(from, "internal/")]
	if !fromDomain {
		allowed, fromDomain = domains[fromTop]
	}
	switch {
	case toTop == "testkit" && fromTop != "testkit":
		return "only tests import test kits"
	case strings.HasPrefix(from, "cmd/"):
		if toTop != "app" && toTop != "settings" {
			return "commands go through app"
		}
	case fromTop == "app" || fromTop == "testkit" || from == "tools/bench": // bench fills databases through the domains
	case from == "tools/bench/load":
		if toTop != "clock" {
			return "the load knows nothing of the service"
		}
	case from == "tools/chaos":
		if !slices.Contains(chaos, toTop) {
			return "chaos works with the service from outside"
		}
	case from == "docs/site": // it generates the guides
		if to := toTop; to != "guides" && to != "" {
			return "the site is made of the guides alone"
		}
	case fromDomain:
		if toDomain && !slices.Contains(allowed, toTop) {
			return "not a line of the import table"
		}
		if !toDomain && !slices.Contains(platform, toTop) {
			return "domains import domains and the platform"
		}
	case from == "sandbox" || strings.HasPrefix(from, "sandbox/"):
		if toTop != "" {
			return "the sandbox simulates the outside world and imports nothing of internal/"
		}
	case fromTop == "settings":
		if !slices.Contains(settings, toTop) && !slices.Contains(platform, toTop) {
			return "settings know only the domains whose values they read"
		}
	case slices.Contains(platform, fromTop):
		if !slices.Contains(platform, toTop) {
			return "the platform knows nothing above it"
		}
	default:
		return "add the package to the architecture"
	}
	return ""
}

func TestLibrariesStayWhereTheyAreWrapped(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path, _ := place(p.ImportPath)
		for _, library := range libraries {
			if !slices.ContainsFunc(p.Imports, func(i string) bool { return i == library.prefix || strings.HasPrefix(i, library.prefix+"/") }) {
				continue
			}
			generated := library.prefix == "database/sql" && strings.HasSuffix(path, "sql")
			inside := slices.ContainsFunc(library.allowed, func(a string) bool { return path == a || strings.HasPrefix(path, a+"/") })
			if !inside && !generated {
				t.Errorf("%s imports %s: %s", path, library.prefix, library.reason)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		path, _ := place(p.ImportPath)
		if generated := strings.HasSuffix(path, "sql"); generated || len(p.GoFiles) == 0 {
			continue
		}
		if p.Doc == "" {
			t.Errorf("%s lacks a package comment", path)
		}
	}
}
