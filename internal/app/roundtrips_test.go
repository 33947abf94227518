package app_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// readMessages starts a proxy between the service and PostgreSQL and returns a database URL through
// it. The proxy calls ofService and ofServer with each message, from any goroutine.
func readMessages(t *testing.T, address string, ofService, ofServer func(kind byte, body []byte)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	network, server := dbtest.ServerAddress(u)
	listener, through := dbtest.Listen(t, u)
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial(network, server)
			if err != nil {
				_ = client.Close()
				continue
			}
			go func() { passOn(upstream, client, true, ofService); _ = upstream.Close() }()
			go func() { passOn(client, upstream, false, ofServer); _ = client.Close() }()
		}
	}()
	return through
}

// passOn copies messages. A message is a type byte, its length and the body. The first message of a
// client has no type byte.
func passOn(to io.Writer, from io.Reader, client bool, read func(kind byte, body []byte)) {
	for first := client; ; first = false {
		head := make([]byte, 5)
		if first {
			head = head[:4]
		}
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		length := binary.BigEndian.Uint32(head[len(head)-4:])
		message := append(head, make([]byte, length-4)...)
		if _, err := io.ReadFull(from, message[len(head):]); err != nil {
			return
		}
		if !first {
			read(message[0], message[len(head):])
		}
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// TestRoundTrips checks the number of round trips to PostgreSQL per request, once its statements
// are prepared, so that a regression is noticed. Concurrent work such as jobs adds round trips to
// some attempts, so the minimum counts.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	var trips atomic.Int64
	config := apptest.NewSettings(t, sqldb.Postgres)
	config.DatabaseURL = settings.Secret(readMessages(t, config.DatabaseURL.Reveal(), func(byte, []byte) {}, func(kind byte, _ []byte) {
		if kind == 'Z' { // ReadyForQuery ends a round trip
			trips.Add(1)
		}
	}))
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
		{"record", 6, func() { s.Call("POST", o.Path("/usage"), o.Token, event()).Want(201) }},
		{"batch", 6, func() {
			events := make([]any, 20)
			for i := range events {
				events[i] = event()
			}
			s.Call("POST", o.Path("/usage/batch"), o.Token, apptest.Object{"events": events}).Want(200)
		}},
		{"me", 3, func() { s.Call("GET", "/api/v1/auth/me", o.Token, nil).Want(200) }},
		{"quotas", 2, func() { s.Call("GET", o.Path("/usage/quotas"), o.Token, nil).Want(200) }},
		{"entitlements", 2, func() { s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200) }},
		{"settings", 8, func() {
			n++
			s.Call("PATCH", "/api/v1/tenant", o.Token, apptest.Object{"settings": apptest.Object{"n": n}}).Want(200)
		}},
		{"refresh", 4, func() {
			refresh = s.Call("POST", "/api/v1/auth/refresh", "", apptest.Object{"refresh_token": refresh}).Want(200).Str("refreshToken")
		}},
		{"login", 11, func() {
			s.Call("POST", "/api/v1/auth/login", "", credentials).Want(200)
		}},
	} {
		fewest := int64(1 << 30)
		for range 25 { // more than the pool has connections; each connection prepares the statements
			before := trips.Load()
			test.call()
			fewest = min(fewest, trips.Load()-before)
		}
		if fewest > test.most {
			t.Errorf("%s takes %d round trips, want at most %d", test.name, fewest, test.most)
		} else if fewest < test.most {
			t.Errorf("%s takes only %d round trips: lower its limit", test.name, fewest)
		}
	}
}
