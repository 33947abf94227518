package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// An import that is killed repeatedly neither loses nor duplicates rows.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			killedImport(t, dialect)
		})
	}
}

func killedImport(t *testing.T, dialect sqldb.Dialect) {
	const companies = 400
	dir, url := t.TempDir(), dbtest.URL(t, dialect)
	var users, tenants, memberships strings.Builder
	users.WriteString("id,email,name\n")
	tenants.WriteString("id,name,owner_email\n")
	memberships.WriteString("tenant,email,role\n")
	for i := range companies {
		fmt.Fprintf(&users, "o%d,owner%d@example.com,Owner\nm%d,member%d@example.com,Member\n", i, i, i, i)
		fmt.Fprintf(&tenants, "c%d,Company,owner%d@example.com\n", i, i)
		fmt.Fprintf(&memberships, "c%d,member%d@example.com,admin\n", i, i)
	}
	for name, text := range map[string]string{"users": users.String(), "tenants": tenants.String(), "memberships": memberships.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "tenantry", "import", dir)
		cmd.Env = append(os.Environ(), "TENANTRY_DATA="+t.TempDir(), "TENANTRY_DATABASE_URL="+url)
		return cmd
	}
	db := func() *sqldb.DB { return dbtest.Open(t, url) }()
	count := func(table string) (n int) {
		t.Helper()
		if err := db.Conn(t.Context()).QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// Kill it during the import of users, of tenants and of memberships.
	for _, moment := range []struct {
		table string
		rows  int
	}{{"users", companies / 2}, {"tenants", companies / 2}, {"memberships", companies + 1}} {
		cmd := command()
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for count(moment.table) < moment.rows {
			select {
			case err := <-ended:
				t.Fatalf("the import ended before the test killed it during %s: %v\n%s", moment.table, err, output.String())
			case <-time.After(time.Millisecond):
			}
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Errorf("the import succeeded before the test killed it during %s", moment.table)
		}
	}
	if out, err := command().CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for table, want := range map[string]int{
		"users": 2 * companies, "tenants": companies, "memberships": 2 * companies, "imported": 4 * companies,
		"audit_logs": 4 * companies, "users u LEFT JOIN memberships m ON m.user_id = u.id WHERE m.user_id IS NULL": 0,
	} {
		if got := count(table); got != want {
			t.Errorf("%s: %d, want %d", table, got, want)
		}
	}
	out, err := command().CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("users: 0 created, 0 updated, %d unchanged", 2*companies)) {
		t.Errorf("%v\n%s", err, out)
	}
}
