// Package testkit finds the counterparts of tests: programs such as PostgreSQL, Redis or Chromium
// that the product works with and that a machine may lack.
package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// RequireVariable is the environment variable with a comma-separated list of counterparts whose
// absence fails a test instead of skipping it.
const RequireVariable = "TENANTRY_TEST_REQUIRE"

// installation maps each counterpart to the way to install it. The keys are also the values of
// RequireVariable.
var installation = map[string]string{
	"bash":          "apt-get install bash",
	"chromium":      "apt-get install chromium",
	"curl":          "apt-get install curl",
	"jq":            "apt-get install jq",
	"mount":         "apt-get install mount, then run the tests as root or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1",
	"node":          "apt-get install nodejs",
	"oidc-provider": "apt-get install nodejs npm; the test downloads the package from npm",
	"pdftotext":     "apt-get install poppler-utils",
	"pgbouncer":     "apt-get install pgbouncer",
	"php":           "apt-get install php-cli",
	"postgres":      "apt-get install postgresql, or set TENANTRY_TEST_DATABASE_URL",
	"python3":       "apt-get install python3",
	"redis":         "apt-get install redis-server",
	"ruby":          "apt-get install ruby",
	"sed":           "apt-get install sed",
	"stripe-mock":   "the test builds it with go install, which needs the Go module proxy and a home directory",
	"xmllint":       "apt-get install libxml2-utils",
	"terminal":      "mount devpts, for /dev/ptmx",
	"ts-client":     "make clients, which needs npm",
}

// Program returns the path of the first of programs that is installed. Without programs, it looks
// for a program with the name of the counterpart. If it finds no program, it skips t, or fails t if
// RequireVariable contains the counterpart.
func Program(t testing.TB, counterpart string, programs ...string) string {
	t.Helper()
	if len(programs) == 0 {
		programs = []string{counterpart}
	}
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Skip(t, counterpart, fmt.Errorf("no %s in PATH", strings.Join(programs, " or ")))
	return ""
}

// Skip skips t because a counterpart is missing, or fails t if RequireVariable contains the
// counterpart.
func Skip(t testing.TB, counterpart string, cause error) {
	t.Helper()
	t.Skip(Missing(t, counterpart, cause))
}

// Missing returns a line that says which counterpart is missing and how to install it. It fails
// t if RequireVariable contains the counterpart.
func Missing(t testing.TB, counterpart string, cause error) string {
	t.Helper()
	install, ok := installation[counterpart]
	if !ok {
		t.Fatalf("testkit: %q is not in the list of counterparts", counterpart)
	}
	line := fmt.Sprintf("%s is missing (%s). To install it: %s", counterpart, oneLine(cause), install)
	if slices.Contains(strings.Split(os.Getenv(RequireVariable), ","), counterpart) {
		t.Fatalf("%s contains %s: %s", RequireVariable, counterpart, line)
	}
	return line
}

// oneLine returns the text of an error without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
