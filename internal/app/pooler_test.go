package app_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// throughPooler starts a PgBouncer that uses any of a few connections for each transaction, and
// returns the URL of a database through it.
func throughPooler(t *testing.T, address string) string {
	t.Helper()
	testkit.Program(t, "pgbouncer")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	folder := dbtest.TempDir(t)
	var password string
	if text, set := u.User.Password(); set {
		password = " password='" + text + "'"
	}
	config := fmt.Sprintf(`[databases]
* = host=%s port=%s%s
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = trust
auth_file = %s/users
pool_mode = transaction
default_pool_size = 4
`, cmp.Or(u.Hostname(), query.Get("host")), cmp.Or(u.Port(), query.Get("port"), "5432"), password, folder, folder)
	files := map[string]string{"config": config, "users": fmt.Sprintf("%q \"\"\n", u.User.Username())}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{filepath.Join(folder, "config")}
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root
		account, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(account.Uid)
		if err := os.Chown(folder, uid, -1); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-u", account.Username)
	}
	var output strings.Builder
	cmd := exec.CommandContext(context.Background(), "pgbouncer", args...) // t's context ends before the service stops
	cmd.Stderr = &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	apptest.Eventually(t, "PgBouncer's socket", func() bool {
		_, err := os.Stat(filepath.Join(folder, ".s.PGSQL.6432"))
		return err == nil
	})
	query.Set("host", folder)
	query.Set("port", "6432")
	u.Host, u.RawQuery = "", query.Encode()
	return u.String()
}

// With a pooler that uses a different server connection for each transaction, everything works with
// a plain URL, from migrations to concurrent payments of a plan.
func TestThroughAPooler(t *testing.T) {
	t.Parallel()
	config := apptest.NewSettings(t, sqldb.Postgres)
	config.DatabaseURL = settings.Secret(throughPooler(t, config.DatabaseURL.Reveal()))
	s := apptest.StartWith(t, config)
	owners := make([]apptest.Owner, 4)
	for i := range owners {
		owners[i] = s.Register(fmt.Sprintf("owner%d@example.com", i), true)
	}
	s.BuyPlan(owners[0], "starter")
	s.Invite(owners[0], "grace@example.com", "member")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			o := owners[i%len(owners)]
			for n := range 15 {
				event := apptest.Object{"meter_code": "api-calls", "quantity": 0.5, "idempotency_key": fmt.Sprint(i, n)}
				s.Call("POST", o.Path("/usage"), o.Token, event).Want(201)
				s.Call("GET", o.Path("/usage/quotas"), o.Token, nil).Want(200)
				s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200)
				s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"settings": apptest.Object{"n": n}}).Want(200)
			}
		})
	}
	all.Wait()
	for _, o := range owners {
		s.Call("GET", o.Path("/usage/api-calls"), o.Token, nil).Want(200).WantAt("data.current_usage", 45.0)
	}
}
