package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/sandbox"
)

// If one unit of the quota is left, exactly one of 200 concurrent requests gets a 201, no matter
// which processes receive them. PostgreSQL runs with several processes, SQLite with one.
func TestQuotaIsEnforcedAcrossProcesses(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			quotaHolds(t, dbtest.URL(t, dialect), map[sqldb.Dialect]int{sqldb.SQLite: 1, sqldb.Postgres: 3}[dialect])
		})
	}
}

func quotaHolds(t *testing.T, url string, processes int) {
	const requests, first = 200, 10
	bases, servers := make([]string, processes), make([]*running, processes)
	for i := range bases {
		// Start them in sequence, because the first one creates the demo data.
		address := freeAddress(t)
		servers[i] = startWatched(t, append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(),
			"TENANTRY_DATABASE_URL="+url, "TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off"), address)
		bases[i] = "http://" + address + "/api/v1"
	}
	c := &client{t: t, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: requests}}}
	admin, _ := c.logIn(bases[0], sandbox.AdminEmail, sandbox.AdminPassword)
	owner, tenant := c.logIn(bases[0], sandbox.OwnerEmail, sandbox.OwnerPassword)
	allow := c.quotaOf(bases[0], admin, "starter", "api-calls")
	usage := "/tenant/" + tenant + "/usage"
	allow(first)
	if a := c.call("POST", bases[0]+usage, owner, `{"meter_code":"api-calls","quantity":9}`); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	rounds := dbtest.Rounds(3, 100)
	for limit := first; limit < first+rounds; limit++ {
		allow(limit)
		answers := make([]answer, requests)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				<-start
				answers[i] = c.call("POST", bases[i%processes]+usage, owner, `{"meter_code":"api-calls","quantity":1}`)
			})
		}
		close(start)
		wg.Wait()
		stored := 0
		for _, a := range answers {
			switch {
			case a.status == http.StatusCreated:
				stored++
			case a.status != http.StatusTooManyRequests || !bytes.Contains(a.body, []byte(`"QUOTA_EXCEEDED"`)):
				t.Errorf("limit %d: %d %s", limit, a.status, a.body)
			}
		}
		if stored != 1 {
			t.Errorf("limit %d: %d were stored", limit, stored)
		}
		for _, base := range bases {
			var shown struct {
				Data struct{ CurrentUsage, QuotaLimit float64 }
			}
			a := c.call("GET", base+usage+"/api-calls", owner, "")
			if err := json.Unmarshal(bytes.ReplaceAll(a.body, []byte("_"), nil), &shown); err != nil || shown.Data.CurrentUsage != float64(limit) || shown.Data.QuotaLimit != float64(limit) {
				t.Errorf("limit %d: %s shows %s", limit, base, a.body)
			}
		}
	}
	for _, server := range servers {
		server.stop(t)
	}
	t.Logf("%d rounds of %d requests to %d processes", rounds, requests, processes)
}

// client calls the service over HTTP.
type client struct {
	t    *testing.T
	http *http.Client
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

// call makes a request with a JSON body, or without a body if it is "". It can run in any
// goroutine: if the request fails, it returns an answer without a status instead of failing the
// test.
func (c *client) call(method, url, token, body string) answer {
	r, err := http.NewRequestWithContext(c.t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		c.t.Error(err)
		return answer{}
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	var read bytes.Buffer
	if _, err := read.ReadFrom(resp.Body); err != nil {
		c.t.Error(err)
		return answer{}
	}
	return answer{resp.StatusCode, resp.Header, read.Bytes()}
}

// into decodes the response to a request that must succeed.
func (c *client) into(v any, a answer) {
	c.t.Helper()
	if a.status/100 != 2 {
		c.t.Fatalf("%d %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		c.t.Fatalf("%v in %s", err, a.body)
	}
}

// logIn returns an access token and the user's first tenant, or "" for a user without tenants.
func (c *client) logIn(base, email, password string) (token, tenant string) {
	c.t.Helper()
	var session struct {
		AccessToken string `json:"accessToken"`
		User        struct {
			Tenants []struct {
				ID string `json:"id"`
			} `json:"tenants"`
		} `json:"user"`
	}
	c.into(&session, c.call("POST", base+"/auth/login", "", fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)))
	if len(session.User.Tenants) > 0 {
		tenant = session.User.Tenants[0].ID
	}
	return session.AccessToken, tenant
}

// quotaOf returns a function that sets a quota of a plan and removes the plan's other entitlements.
func (c *client) quotaOf(base, admin, plan, feature string) func(limit int) {
	c.t.Helper()
	id := func(list, key, value string) string {
		var found struct{ Data []map[string]any }
		c.into(&found, c.call("GET", base+"/admin/"+list+"?per_page=100", admin, ""))
		for _, row := range found.Data {
			if row[key] == value {
				return row["id"].(string)
			}
		}
		c.t.Fatalf("no %s in %s: %v", value, list, found.Data)
		return ""
	}
	planID, featureID := id("plans", "slug", plan), id("features", "code", feature)
	return func(limit int) {
		c.t.Helper()
		var set any
		c.into(&set, c.call("PUT", base+"/admin/plans/"+planID+"/entitlements", admin,
			fmt.Sprintf(`{"entitlements":[{"feature_id":%q,"type":"quota","value":%d}]}`, featureID, limit)))
	}
}
