//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/tenantry/tenantry/tools/bench/load"
)

// scenario is a kind of work.
type scenario struct {
	name string
	// conns are the numbers of connections to measure.
	conns []int
	want  int
	// caller returns the caller for connection i.
	caller func(w *world, i int) load.Caller
	// probe returns an example request. The bare server returns its response.
	probe func(w *world) request
	// bare names the limit: the route of the bare server that does the minimum of the same work, or
	// one of the constants below. It is empty if there is no comparison.
	bare string
	// rates and p99s are the targets by number of connections: responses (or events) per second,
	// and milliseconds (docs/performance.md).
	rates, p99s map[int]float64
	// mixed adds background work.
	mixed bool
	// events is the number of events per request if events are counted, or else 0.
	events int
}

var everyLoad = []int{1, 16, 64}

// scenarios returns all kinds of work. The targets depend on the database.
func scenarios(onPostgres bool) []scenario {
	read, refresh := 22_000.0, 3_500.0
	if onPostgres {
		read, refresh = 9_000, 2_500
	}
	reads := []scenario{
		readScenario("me", "/api/v1/auth/me", read),
		readScenario("quotas", "/api/v1/tenant/{tenant}/usage/quotas", read),
		readScenario("entitlements", "/api/v1/tenant/{tenant}/entitlements", read),
	}
	return append(
		append(append(recordingScenarios(onPostgres), reads...), mixedScenarios(reads)...),
		readScenario("catalog", "/api/v1/catalog/plans", 20_000),
		scenario{
			name: "refresh", conns: everyLoad, want: http.StatusOK, rates: map[int]float64{64: refresh},
			caller: func(w *world, i int) load.Caller { return refreshing(w.users[i%users]) },
		},
		scenario{
			name: "login", conns: []int{1, 16}, want: http.StatusOK, bare: argon2,
			caller: func(w *world, i int) load.Caller { return repeatingCaller(login(w.users[i%users])) },
		},
	)
}

// recordingScenarios returns the kinds of work that record usage. On PostgreSQL they are compared
// with pgbench.
func recordingScenarios(onPostgres bool) []scenario {
	record := scenario{
		name: "record", conns: everyLoad, want: http.StatusCreated, bare: "POST /decode/record",
		rates: map[int]float64{16: 7_000, 64: 10_000}, p99s: map[int]float64{64: 20},
		caller: func(w *world, i int) load.Caller { return numberedCaller(recordOne(w.users[i%users]), w.nextSeries()) },
		probe:  func(w *world) request { return recordOne(w.users[0]) },
	}
	keyed := record
	keyed.name = "record with a key"
	keyed.caller = func(w *world, i int) load.Caller {
		return numberedCaller(recordKeyed(w.users[i%users]), w.nextSeries())
	}
	keyed.probe = func(w *world) request { return recordKeyed(w.users[0]) }
	granted := record
	granted.name = "record with a grant"
	granted.rates, granted.p99s = nil, nil
	granted.caller = func(w *world, i int) load.Caller {
		return numberedCaller(recordGranted(w.users[i%users]), w.nextSeries())
	}
	granted.probe = func(w *world) request { return recordGranted(w.users[0]) }
	reserved := record
	reserved.name = "reserve, then settle"
	reserved.rates, reserved.p99s = nil, nil
	reserved.caller = func(w *world, i int) load.Caller { return reserving(w.users[i%users], w.nextSeries()) }
	hot := record
	hot.name = "record, one counter"
	hot.rates, hot.p99s = nil, nil
	hot.caller = func(w *world, _ int) load.Caller { return numberedCaller(recordOne(w.users[0]), w.nextSeries()) }
	batch := scenario{
		name: "batch of 100", conns: []int{16}, want: http.StatusOK, bare: "POST /decode/batch", rates: map[int]float64{16: 60_000}, events: batchSize,
		caller: func(w *world, i int) load.Caller {
			c := numberedCaller(recordBatch(w.users[i%users]), w.nextSeries())
			c.Answered = checkAllStored
			return c
		},
		probe: func(w *world) request { return recordBatch(w.users[0]) },
	}
	if onPostgres {
		record.bare, keyed.bare, granted.bare, reserved.bare, hot.bare = pgbench, pgbench, pgbench, pgbench, pgbenchOne
		record.rates, record.p99s = map[int]float64{16: 3_500, 64: 6_000}, map[int]float64{64: 50}
		keyed.rates, keyed.p99s = record.rates, record.p99s
		batch.rates = map[int]float64{16: 35_000}
	}
	return []scenario{record, keyed, granted, reserved, hot, batch}
}

// readScenario returns the scenario for a GET request, with the target rate at 64 connections.
func readScenario(name, path string, rate float64) scenario {
	of := func(u *user) request {
		return request{method: http.MethodGet, path: strings.ReplaceAll(path, "{tenant}", u.tenant.String()), token: u.access}
	}
	return scenario{
		name: name, conns: everyLoad, want: http.StatusOK, bare: "GET /answers/" + name,
		caller: func(w *world, i int) load.Caller { return repeatingCaller(of(w.users[i%users])) },
		probe:  func(w *world) request { return of(w.users[0]) },
		rates:  map[int]float64{64: rate},
	}
}

// The limits that are not routes of the bare server.
const (
	pgbench    = "pgbench"
	pgbenchOne = "pgbench on one counter"
	argon2     = "Argon2id"
)

func (w *world) nextSeries() int { w.series++; return w.series }

const event = `{"meter_code":"api-calls","quantity":1,"idempotency_key":"` + placeholder + `","metadata":{"source":"bench"}}`

func recordOne(u *user) request {
	return request{method: http.MethodPost, path: "/api/v1/tenant/" + u.tenant.String() + "/usage", token: u.access, body: event}
}

// recordKeyed is like recordOne but uses an API key instead of the user's token.
func recordKeyed(u *user) request {
	r := recordOne(u)
	r.token = u.key
	return r
}

// recordGranted is like recordOne for a meter whose limit is 0, so that every event draws from a
// grant.
func recordGranted(u *user) request {
	r := recordOne(u)
	r.body = strings.Replace(r.body, "api-calls", grantedMeter, 1)
	return r
}

// reserving alternates between reserving units and settling the reservation. Both requests count.
func reserving(u *user, series int) load.Caller {
	path := "/api/v1/tenant/" + u.tenant.String() + "/usage/reservations"
	reserve := numberedCaller(request{
		method: http.MethodPost, path: path, token: u.access, body: `{"meter_code":"api-calls","quantity":2,"idempotency_key":"` + placeholder + `"}`,
	}, series)
	var open string // the ID of the open reservation
	return load.Caller{
		Next: func() []byte {
			if open == "" {
				return reserve.Next()
			}
			return request{method: http.MethodPost, path: path + "/" + open + "/settle", token: u.access, body: `{"quantity":1}`}.bytes()
		},
		Answered: func(body []byte) error {
			if open != "" {
				open = ""
				return nil
			}
			_, rest, found := strings.Cut(string(body), `"id":"`)
			if open, _, _ = strings.Cut(rest, `"`); !found {
				return fmt.Errorf("no reservation: %s", body)
			}
			return nil
		},
	}
}

func login(u *user) request {
	return request{
		method: http.MethodPost, path: "/api/v1/auth/login",
		body: fmt.Sprintf(`{"email":%q,"password":%q}`, u.email, password),
	}
}

// batchSize is the number of events per batch.
const batchSize = 100

func recordBatch(u *user) request {
	body := `{"events":[` + strings.Repeat(event+",", batchSize-1) + event + `]}`
	return request{method: http.MethodPost, path: "/api/v1/tenant/" + u.tenant.String() + "/usage/batch", token: u.access, body: body}
}

// checkAllStored checks that each event of a batch was stored, because the status is 200 in any
// case.
func checkAllStored(body []byte) error {
	if n := bytes.Count(body, []byte(`"status":201`)); n != batchSize {
		return fmt.Errorf("%d of %d events were stored: %s", n, batchSize, body)
	}
	return nil
}

// refreshing repeatedly exchanges the user's refresh token for the next token.
func refreshing(u *user) load.Caller {
	key := []byte(`"refreshToken":"`)
	return load.Caller{
		Next: func() []byte {
			return request{method: http.MethodPost, path: "/api/v1/auth/refresh", body: `{"refresh_token":"` + u.refresh + `"}`}.bytes()
		},
		Answered: func(body []byte) error {
			if i := bytes.Index(body, key); i >= 0 {
				token := body[i+len(key):]
				u.refresh = string(token[:bytes.IndexByte(token, '"')])
			}
			return nil
		},
	}
}
