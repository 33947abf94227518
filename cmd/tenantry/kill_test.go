package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox"
)

// The process is killed repeatedly while it records usage. All acknowledged usage is stored,
// nothing is stored or counted twice, and the next start is fast.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			killedUnderLoad(t, dialect)
		})
	}
}

func killedUnderLoad(t *testing.T, dialect sqldb.Dialect) {
	address, url := freeAddress(t), dbtest.URL(t, dialect)
	env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(),
		"TENANTRY_DATABASE_URL="+url, "TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off")
	server := startDev(t, env, address)
	r := &recorder{t: t, base: "http://" + address + "/api/v1"}
	r.logIn()
	acknowledged := map[string]bool{}
	slowest := time.Duration(0)
	for round := range dbtest.Rounds(3, 50) {
		for _, key := range r.recordUntilKilled(round, server) {
			acknowledged[key] = true
		}
		began := clock.System().Now()
		server = startDev(t, env, address)
		slowest = max(slowest, clock.System().Now().Sub(began))
		r.check(url, acknowledged)
	}
	server.stop(t)
	t.Logf("%d events were acknowledged; the slowest start after a kill took %s", len(acknowledged), slowest)
}

// recorder records usage of the demo tenant over HTTP.
type recorder struct {
	t                   *testing.T
	base, token, tenant string
}

func (r *recorder) logIn() {
	r.t.Helper()
	body := fmt.Sprintf(`{"email":%q,"password":%q}`, sandbox.OwnerEmail, sandbox.OwnerPassword)
	resp, err := http.Post(r.base+"/auth/login", "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var session struct {
		AccessToken string `json:"accessToken"`
		User        struct {
			Tenants []struct {
				ID string `json:"id"`
			} `json:"tenants"`
		} `json:"user"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&session); err != nil || len(session.User.Tenants) == 0 {
		r.t.Fatalf("login: %d, %v, %+v", resp.StatusCode, err, session)
	}
	r.token, r.tenant = session.AccessToken, session.User.Tenants[0].ID
}

// recordUntilKilled records usage on several connections, kills the server meanwhile, and returns
// the acknowledged keys.
func (r *recorder) recordUntilKilled(round int, server *running) []string {
	const connections, enough = 8, 100
	keys := make([][]string, connections)
	var count atomic.Int64
	reached := make(chan struct{})
	var once sync.Once
	var wg sync.WaitGroup
	for c := range connections {
		wg.Go(func() {
			defer once.Do(func() { close(reached) }) // only if recording fails early
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d-%d", round, c, i)
				status, err := r.record(key)
				if err != nil {
					return // the server was killed
				}
				if status != http.StatusCreated {
					r.t.Errorf("recording answered %d", status)
					return
				}
				keys[c] = append(keys[c], key)
				if count.Add(1) == enough {
					once.Do(func() { close(reached) })
				}
			}
		})
	}
	<-reached
	server.kill(r.t)
	wg.Wait()
	var all []string
	for _, some := range keys {
		all = append(all, some...)
	}
	return all
}

// record records a thousandth of a unit, so that the quota suffices for the test.
func (r *recorder) record(key string) (status int, err error) {
	body := fmt.Sprintf(`{"meter_code":"api-calls","quantity":0.001,"idempotency_key":%q}`, key)
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.base+"/tenant/"+r.tenant+"/usage", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// check compares the stored events with the acknowledged keys, and the counter with the events.
func (r *recorder) check(url string, acknowledged map[string]bool) {
	r.t.Helper()
	ctx := r.t.Context()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url, Patience: dbtest.ConnTimeout})
	if err != nil {
		r.t.Fatal(err)
	}
	// Close it here rather than in a cleanup: SQLite only recovers a file that no process has open.
	defer db.Close()
	rows, err := db.Conn(ctx).QueryContext(ctx,
		`SELECT idempotency_key, quantity FROM usage_events WHERE tenant_id = $1::uuid AND idempotency_key IS NOT NULL`, r.tenant)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	stored, total := map[string]bool{}, int64(0)
	for rows.Next() {
		var key string
		var quantity int64
		if err := rows.Scan(&key, &quantity); err != nil {
			r.t.Fatal(err)
		}
		if stored[key] {
			r.t.Errorf("%s is stored twice", key)
		}
		stored[key] = true
		total += quantity
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	for key := range acknowledged {
		if !stored[key] {
			r.t.Errorf("%s was acknowledged and is lost", key)
		}
	}
	var counted int64
	err = db.Conn(ctx).QueryRowContext(ctx, `SELECT sum(c.units * 1000000 + c.millionths) FROM usage_counters c JOIN meters m ON m.id = c.meter_id
WHERE c.tenant_id = $1::uuid AND m.code = 'api-calls'`, r.tenant).Scan(&counted)
	if err != nil || counted != total {
		r.t.Errorf("counter is %d, sum of the events is %d (%v)", counted, total, err)
	}
}
