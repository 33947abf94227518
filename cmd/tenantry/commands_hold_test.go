package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox"
)

// A command that changes the database of a running service takes effect for every request that
// begins after the command has ended, with any number of concurrent requests.
func TestCommandsApplyImmediately(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			commandsHold(t, dialect)
		})
	}
}

func commandsHold(t *testing.T, dialect sqldb.Dialect) {
	address, folder := freeAddress(t), t.TempDir()
	env := append(os.Environ(), "TENANTRY_DATABASE_URL="+dbtest.URL(t, dialect), "TENANTRY_DATA="+folder, "TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off")
	server := startWatched(t, append(env, "TENANTRY_ADDR="+address), address)
	base := "http://" + address + "/api/v1"
	c := &client{t: t, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}}
	admin, _ := c.logIn(base, sandbox.AdminEmail, sandbox.AdminPassword)
	owner, tenant := c.logIn(base, sandbox.OwnerEmail, sandbox.OwnerPassword)

	const first, rounds = 4321, 3
	c.quotaOf(base, admin, "starter", "api-calls")(first)
	quota := func() string {
		var shown struct {
			Data struct {
				Meters []struct {
					Code  string `json:"meter_code"`
					Limit *int   `json:"quota_limit"`
				}
			}
		}
		a := c.call("GET", base+"/tenant/"+tenant+"/usage/quotas", owner, "")
		if err := json.Unmarshal(a.body, &shown); err != nil {
			return err.Error()
		}
		for _, m := range shown.Data.Meters {
			if m.Code == "api-calls" && m.Limit != nil {
				return fmt.Sprint(*m.Limit)
			}
		}
		return string(a.body)
	}
	files := t.TempDir()
	file := filepath.Join(files, "catalog.yaml")
	succeed(t, env, files, "catalog", "export", "--output="+file)
	for limit := first; limit < first+rounds; limit++ {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before, after := fmt.Sprintf("api-calls: %d\n", limit), fmt.Sprintf("api-calls: %d\n", limit+1)
		if n := strings.Count(string(text), before); n != 1 {
			t.Fatalf("%d plans have %s", n, before)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), before, after, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		holdsAfter(t, quota, fmt.Sprint(limit), fmt.Sprint(limit+1), func() {
			succeed(t, env, files, "catalog", "import", file, "--yes")
		})
	}

	succeed(t, append(env, "TENANTRY_ADMIN_PASSWORD=correct horse battery"), files, "admin", "create", "--email=second@example.com", "--name=Second")
	second, _ := c.logIn(base, "second@example.com", "correct horse battery")
	me := func() string { return fmt.Sprint(c.call("GET", base+"/auth/me", second, "").status) }
	holdsAfter(t, me, "200", "401", func() { succeed(t, env, files, "admin", "revoke", "--email=second@example.com") })
	server.stop(t)
}

// holdsAfter runs a command during concurrent reads. The test fails if a read that began after the
// command has ended returns the old value.
func holdsAfter(t *testing.T, read func() string, before, after string, command func()) {
	t.Helper()
	if got := read(); got != before {
		t.Fatalf("before: got %s, want %s", got, before)
	}
	var ended, done atomic.Bool
	var asked atomic.Int64
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !done.Load() && !t.Failed() {
				late := ended.Load()
				if got := read(); got != after && (late || got != before) {
					t.Errorf("got %s in a read that began after the command: %t; want %s", got, late, after)
				}
				asked.Add(1)
			}
		})
	}
	defer readers.Wait()
	defer done.Store(true)
	for asked.Load() < 20 && !t.Failed() {
		// Wait for the readers to fill the cache.
	}
	command()
	ended.Store(true)
	if got := read(); got != after {
		t.Errorf("afterwards: got %s, want %s", got, after)
	}
	for n := asked.Load(); asked.Load() < n+20 && !t.Failed(); {
		// Wait for new reads to begin.
	}
}
