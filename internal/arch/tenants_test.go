package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// allowedWithoutTenant are the statements that change rows of tenants without a condition on the
// tenant, each with the reason. The service finds the ids itself; they never come from a caller.
var allowedWithoutTenant = map[string]string{
	"DeleteCountersOfMeter": "the meter is deleted for all tenants",
	"TakeRejection":         "a rejected report, for the command line",
	"DeleteOldEntries":      "of all tenants, at the end of their retention",
	"DeleteOldLogs":         "of all tenants, at the end of their retention",
	"DeleteOldRequests":     "of all tenants, at the end of their retention",
	"DeleteOldGaps":         "of all tenants, at the end of their retention",
	"DeleteOldInvitations":  "of all tenants, at the end of their retention",
	"PruneDecided":          "of all tenants, days after the decision",
	"DeleteFormerPlaces":    "of a user who deletes their account, whichever tenants they were in",
	"DeleteInvitationsTo":   "of a user who deletes their account, regardless of the inviter",
	"ForgetMaker":           "of a user who deletes their account, whichever keys they have made",
	"CompleteLogin":         "of a connection that has just logged a user in",
	"MarkKeyUsed":           "of a key that has just authenticated",
	"DeleteOldEvents":       "of all tenants, at the end of their retention",
	"NoteDelivered":         "of a webhook endpoint that was just sent to",
	"NoteFailing":           "of a webhook endpoint that was just sent to",
	"DisableEndpoint":       "of a webhook endpoint that was just sent to",
	"MarkSeen":              "of all tenants, when everything is compared with the provider",
}

var (
	createdTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\n\);`)
	tenantColumn = regexp.MustCompile(`(?m)^\s+tenant_id `)
	changedTable = regexp.MustCompile(`\b(?:UPDATE|DELETE FROM) (\w+)`)
	inWhere      = regexp.MustCompile(`(?s)WHERE.*\btenant_id\b`)
	returning    = regexp.MustCompile(`(?s)\bRETURNING\b.*`)
)

// TestChangesNameTheTenant checks that every statement that changes or deletes a tenant's rows has
// a condition on the tenant, so an id of another tenant has no effect.
func TestChangesNameTheTenant(t *testing.T) {
	t.Parallel()
	ofTenants := map[string]bool{}
	for _, file := range glob(t, "../sqldb/migrations/*.sql") {
		for _, table := range createdTable.FindAllStringSubmatch(read(t, file), -1) {
			if tenantColumn.MatchString(table[2]) {
				ofTenants[table[1]] = true
			}
		}
	}
	if len(ofTenants) < 15 {
		t.Fatalf("found only %d tables of tenants", len(ofTenants))
	}
	seen := map[string]bool{}
	for _, file := range queryFiles(t) {
		for statement := range strings.SplitSeq(read(t, file), "-- name: ") {
			name, _, _ := strings.Cut(statement, " ")
			table := changedTable.FindStringSubmatch(statement)
			if table == nil || !ofTenants[table[1]] || inWhere.MatchString(returning.ReplaceAllString(statement, "")) {
				continue
			}
			if seen[name] = true; allowedWithoutTenant[name] == "" {
				t.Errorf("%s: %s changes rows of %s without tenant_id in its WHERE", file, name, table[1])
			}
		}
	}
	for name := range allowedWithoutTenant {
		if !seen[name] {
			t.Errorf("unknown statement %s: remove it from the list", name)
		}
	}
}

// queryFiles returns all query files.
func queryFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("..", func(path string, _ os.DirEntry, err error) error {
		if filepath.Base(path) == "queries.sql" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
