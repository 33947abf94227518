package app_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// countTrips stands between the service and PostgreSQL and returns a URL of the database
// through it. Each time the server says that it is ready for the next, which ends a round
// trip, trips grows.
func countTrips(t *testing.T, address string, trips *atomic.Int64) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	port := query.Get("port")
	if port == "" {
		port = "5432"
	}
	server := filepath.Join(query.Get("host"), ".s.PGSQL."+port)
	folder := dbtest.TempDir(t)
	listener, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("unix", server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { _, _ = io.Copy(upstream, client); _ = upstream.Close() }()
			go func() { passOn(client, upstream, trips); _ = client.Close() }()
		}
	}()
	query.Set("host", folder)
	query.Set("port", "5432")
	u.RawQuery = query.Encode()
	return u.String()
}

// passOn copies the server's messages, each a letter, its length and the rest.
func passOn(client io.Writer, server io.Reader, trips *atomic.Int64) {
	head := make([]byte, 5)
	for {
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		if head[0] == 'Z' {
			trips.Add(1)
		}
		if _, err := client.Write(head); err != nil {
			return
		}
		if _, err := io.CopyN(client, server, int64(binary.BigEndian.Uint32(head[1:]))-4); err != nil {
			return
		}
	}
}

// How many round trips to PostgreSQL a request takes once its statements are prepared. Who
// makes one of them more costly sees it here. Work of others, such as jobs, is in some of the
// tries, so the fewest count.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	config := apptest.NewSettings(t, sqldb.Postgres)
	config.DatabaseURL = settings.Secret(countTrips(t, config.DatabaseURL.Reveal(), &trips))
	s := apptest.StartWith(t, config)
	o := s.Register("owner@example.com", true)
	s.BuyPlan(o, "starter")
	credentials := apptest.Object{"email": "owner@example.com", "password": "correct horse"}
	n, refresh := 0, s.Call("POST", "/api/v1/auth/login", "", credentials).Want(200).Str("refreshToken")
	event := func() apptest.Object {
		n++
		return apptest.Object{"meter_code": "api-calls", "quantity": 0.01, "idempotency_key": fmt.Sprint(n)}
	}
	for _, test := range []struct {
		name string
		most int64
		call func()
	}{
		{"record", 4, func() { s.Call("POST", o.Path("/usage"), o.Token, event()).Want(201) }},
		{"batch", 4, func() {
			events := make([]any, 20)
			for i := range events {
				events[i] = event()
			}
			s.Call("POST", o.Path("/usage/batch"), o.Token, apptest.Object{"events": events}).Want(200)
		}},
		{"me", 1, func() { s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200) }},
		{"quotas", 1, func() { s.Call("GET", o.Path("/usage/quotas"), o.Token, nil).Want(200) }},
		{"entitlements", 1, func() { s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200) }},
		{"settings", 8, func() {
			n++
			s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"settings": apptest.Object{"n": n}}).Want(200)
		}},
		{"refresh", 3, func() {
			refresh = s.Call("POST", "/api/v1/auth/refresh", "", apptest.Object{"refresh_token": refresh}).Want(200).Str("refreshToken")
		}},
		{"login", 5, func() {
			s.Call("POST", "/api/v1/auth/login", "", credentials).Want(200)
		}},
	} {
		fewest := int64(1 << 30)
		for range 25 { // more than the pool has connections, each of which prepares
			before := trips.Load()
			test.call()
			fewest = min(fewest, trips.Load()-before)
		}
		if fewest > test.most {
			t.Errorf("%s takes %d round trips, at most %d are allowed", test.name, fewest, test.most)
		} else if fewest < test.most {
			t.Errorf("%s takes %d round trips: allow no more than that", test.name, fewest)
		}
	}
}
