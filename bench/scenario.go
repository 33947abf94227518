//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// scenario is one kind of work.
type scenario struct {
	name string
	// conns are the numbers of connections that it is measured with.
	conns []int
	want  int
	// caller makes the requests of connection i.
	caller func(w *world, i int) caller
	// probe is a request like them; its answer is what the bare handler writes.
	probe func(w *world) request
	// bare is where the bare server does the least of the same; "" where
	// something else is the limit.
	bare string
	// What to reach (0: nothing is promised): a share of the bare rate, answers a
	// second, milliseconds.
	ratio, rate, p99 float64
	// events are in one request, where that is what counts.
	events int
}

var everyLoad = []int{1, 16, 64}

// scenarios are all of them. Those of recording differ by database.
func scenarios(onPostgres bool) []scenario {
	record := scenario{
		name: "record", conns: everyLoad, want: http.StatusCreated, bare: "POST /decode/record", ratio: 0.2, p99: 15,
		caller: func(w *world, i int) caller { return numbered(recordOne(w.users[i%users]), w.nextSeries()) },
		probe:  func(w *world) request { return recordOne(w.users[0]) },
	}
	hot := record
	hot.name = "record, one counter"
	hot.caller = func(w *world, _ int) caller { return numbered(recordOne(w.users[0]), w.nextSeries()) }
	batch := scenario{
		name: "batch of 100", conns: []int{16}, want: http.StatusOK, bare: "POST /decode/batch", rate: 40_000, events: batchSize,
		caller: func(w *world, i int) caller {
			c := numbered(recordBatch(w.users[i%users]), w.nextSeries())
			c.answered = allStored
			return c
		},
		probe: func(w *world) request { return recordBatch(w.users[0]) },
	}
	if onPostgres { // pgbench is the limit
		record.bare, record.ratio, record.p99 = pgbench, 1, 0
		hot.bare, hot.ratio, hot.p99 = pgbenchOne, 2, 0
		batch.rate = 25_000
	}
	read := func(name, path string, ratio float64) scenario {
		of := func(u *user) request {
			return request{method: http.MethodGet, path: strings.ReplaceAll(path, "{tenant}", u.tenant.String()), token: u.access}
		}
		s := scenario{
			name: name, conns: everyLoad, want: http.StatusOK, bare: "GET /answers/" + name, ratio: ratio,
			caller: func(w *world, i int) caller { return same(of(w.users[i%users])) },
			probe:  func(w *world) request { return of(w.users[0]) },
		}
		if !onPostgres {
			s.p99 = 10
		}
		return s
	}
	public := read("catalog", "/api/v1/catalog/plans", 0.5)
	public.p99 = 0
	all := []scenario{
		record, hot, batch,
		read("me", "/api/v1/auth/me", 0.2),
		read("quotas", "/api/v1/tenant/{tenant}/usage/quotas", 0.2),
		read("entitlements", "/api/v1/tenant/{tenant}/entitlements", 0.2),
		public,
		{
			name: "refresh", conns: everyLoad, want: http.StatusOK, rate: 2_500,
			caller: func(w *world, i int) caller { return refreshing(w.users[i%users]) },
		},
		{
			name: "login", conns: []int{1, 16}, want: http.StatusOK, bare: argon2, ratio: 0.9,
			caller: func(w *world, i int) caller {
				return same(request{
					method: http.MethodPost, path: "/api/v1/auth/login",
					body: fmt.Sprintf(`{"email":%q,"password":%q}`, w.users[i%users].email, password),
				})
			},
		},
	}
	if onPostgres { // what is promised of reads is promised on SQLite
		for i := range all {
			if strings.HasPrefix(all[i].bare, "GET ") {
				all[i].ratio = 0
			}
		}
	}
	return all
}

// The limits that are no bare handler.
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

// batchSize is how many events are in a batch.
const batchSize = 100

func recordBatch(u *user) request {
	body := `{"events":[` + strings.Repeat(event+",", batchSize-1) + event + `]}`
	return request{method: http.MethodPost, path: "/api/v1/tenant/" + u.tenant.String() + "/usage/batch", token: u.access, body: body}
}

// allStored looks whether each event of a batch was: the answer is 200 either way.
func allStored(body []byte) error {
	if n := bytes.Count(body, []byte(`"status":201`)); n != batchSize {
		return fmt.Errorf("%d of %d events were stored: %s", n, batchSize, body)
	}
	return nil
}

// refreshing trades the user's refresh token for the next, again and again.
func refreshing(u *user) caller {
	key := []byte(`"refreshToken":"`)
	return caller{
		next: func() []byte {
			return request{method: http.MethodPost, path: "/api/v1/auth/refresh", body: `{"refresh_token":"` + u.refresh + `"}`}.bytes()
		},
		answered: func(body []byte) error {
			if i := bytes.Index(body, key); i >= 0 {
				token := body[i+len(key):]
				u.refresh = string(token[:bytes.IndexByte(token, '"')])
			}
			return nil
		},
	}
}
