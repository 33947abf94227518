package dbtest

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
)

// Every test gets its own, migrated database.
func TestEach(t *testing.T) {
	t.Parallel()
	for range 2 {
		Each(t, func(t *testing.T, db *sqldb.DB) {
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `DELETE FROM roles WHERE name = 'member'`); err != nil {
				t.Fatal(err)
			}
			var roles int
			if err := db.Conn(t.Context()).QueryRowContext(t.Context(), `SELECT count(*) FROM roles`).Scan(&roles); err != nil {
				t.Fatal(err)
			}
			if roles != 2 {
				t.Errorf("%d roles, want the other two", roles)
			}
		})
	}
}

// childVariable makes TestServerOfAChild the child of TestServerEndsWithItsProcess.
const childVariable = "TENANTRY_TEST_CHILD"

func TestServerOfAChild(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Skip("only as a child")
	}
	if _, err := fmt.Fprintln(os.Stdout, URL(t, sqldb.Postgres)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute) // until the parent kills this process
}

// The server ends with the process that started it, even if the process is killed.
func TestServerEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	if _, err := findPrograms(); err != nil {
		testkit.Skip(t, "postgres", err)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestServerOfAChild$")
	child.Env = append(os.Environ(), childVariable+"=1", urlVariable+"=")
	output, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(line[:len(line)-1])
	if err != nil {
		t.Fatal(err)
	}
	dir := u.Query().Get("host")
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("socket folder of the server: %v", err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	testkit.Eventually(t, "the removal of the server's folder "+dir, func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}
