//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/bench/report"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// starts is how often each kind of start is measured.
const starts = 5

// session measures the service on one database.
type session struct {
	options
	bare     *child
	report   *report.Report
	dir      string
	database string

	postgres *postgres // nil on SQLite
	service  *child
	observed netip.AddrPort // where the service serves its profiles
	world    *world
}

func (s *session) wants(what string) bool { return s.only.MatchString(s.database + " " + what) }

func (s *session) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user has to get through.
		return err
	}
	if s.database == "postgres" {
		s.postgres, err = startPostgres(ctx, s.dir)
		if errors.Is(err, errNoPostgres) {
			s.report.Say("postgres is left out: %v", err)
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.postgres.stop(context.WithoutCancel(ctx))) }()
		if err := s.postgres.seedBare(ctx); err != nil {
			return err
		}
	}
	if s.wants("start") {
		if err := s.measureStarts(ctx); err != nil {
			return err
		}
	}
	url, err := s.newDatabase(ctx, "service")
	if err != nil {
		return err
	}
	if s.world, err = seed(ctx, url); err != nil {
		return err
	}
	s.service, err = s.start(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.service.stop()) }()
	time.Sleep(2 * time.Second) // until the work at the start is done
	idle, _, err := s.service.memory()
	if err != nil {
		return err
	}
	s.report.Figure(s.database, "memory, idle", idle, "MiB", s.most(40, 45))
	for _, sc := range scenarios(s.postgres != nil) {
		if err := s.scenario(ctx, sc); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	_, highest, err := s.service.memory()
	s.report.Figure(s.database, "memory, highest", highest, "MiB", 200)
	return err
}

// most returns the figure of the database that is measured.
func (s *session) most(sqlite, postgres float64) float64 {
	if s.postgres != nil {
		return postgres
	}
	return sqlite
}

// newDatabase returns the URL of an empty database.
func (s *session) newDatabase(ctx context.Context, name string) (string, error) {
	if s.postgres == nil {
		return sqldb.FileURL(filepath.Join(s.dir, name+".db")), nil
	}
	return s.postgres.url(name), s.postgres.create(ctx, name)
}

// measureStarts starts the service on empty databases, and again on those.
func (s *session) measureStarts(ctx context.Context) error {
	var empty, migrated []float64
	for i := range starts {
		url, err := s.newDatabase(ctx, "start"+strconv.Itoa(i))
		if err != nil {
			return err
		}
		for _, times := range []*[]float64{&empty, &migrated} {
			c, err := startService(ctx, s.binary, url, filepath.Join(s.dir, "start"))
			if err != nil {
				return err
			}
			*times = append(*times, float64(c.startup.Microseconds())/1000)
			if err := c.stop(); err != nil {
				return err
			}
		}
	}
	s.report.Figure(s.database, "start, empty database", median(empty), "ms", 400)
	s.report.Figure(s.database, "start, migrated database", median(migrated), "ms", s.most(45, 90))
	return nil
}

// scenario measures one kind of work with each number of connections.
func (s *session) scenario(ctx context.Context, sc scenario) error {
	if !slices.ContainsFunc(sc.conns, func(n int) bool { return s.wants(sc.name + " " + strconv.Itoa(n)) }) {
		return nil
	}
	if sc.probe != nil {
		status, body, err := unused(sc.probe(s.world), s.world.nextSeries()).do(ctx, s.service.address)
		if err != nil {
			return err
		}
		if status != sc.want {
			return fmt.Errorf("the service answered %d: %s", status, body)
		}
		if _, name, ok := strings.Cut(sc.bare, "/decode/"); ok {
			err = s.setAnswer(ctx, name, body)
		} else if _, name, ok := strings.Cut(sc.bare, "/answers/"); ok {
			err = s.setAnswer(ctx, name, body)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range sc.conns {
		if s.wants(sc.name + " " + strconv.Itoa(n)) {
			if err := s.measure(ctx, sc, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *session) setAnswer(ctx context.Context, name string, body []byte) error {
	_, _, err := request{method: http.MethodPut, path: "/answers/" + name, body: string(body)}.do(ctx, s.bare.address)
	return err
}

// measure lets the service and its limit take turns, so that other work of the machine
// affects both.
func (s *session) measure(ctx context.Context, sc scenario, n int) error {
	var rates, p50s, p99s, cpus, limits, limitCPUs, ratios []float64
	others := 0
	for range s.rounds {
		callers := make([]caller, n)
		for i := range callers {
			callers[i] = sc.caller(s.world, i)
		}
		profiled := s.profile(ctx, sc.name, n)
		r, cpu, err := s.loadOn(s.service, sc.want, callers)
		if err := errors.Join(err, <-profiled); err != nil {
			return err
		}
		limit, limitCPU, err := s.limit(ctx, sc, n)
		if err != nil {
			return err
		}
		each := float64(max(1, sc.events))
		rates, cpus = append(rates, r.rate()*each), append(cpus, cpu/each)
		p50s, p99s = append(p50s, r.quantile(0.5)), append(p99s, r.quantile(0.99))
		others += r.others(sc.want)
		if limit > 0 {
			limits, limitCPUs, ratios = append(limits, limit*each), append(limitCPUs, limitCPU/each), append(ratios, r.rate()/limit)
		}
	}
	s.report.Row(report.Row{
		Database: s.database, Work: sc.name, Connections: n, Rate: median(rates), P50: median(p50s), P99: median(p99s), CPU: median(cpus),
		Others: others, Limit: sc.bare, LimitRate: median(limits), LimitCPU: median(limitCPUs), Ratio: median(ratios),
		WantRatio: sc.ratio, WantRate: sc.rate, WantP99: sc.p99,
	})
	return nil
}

// loadOn loads a server and returns its CPU time for each answer, in microseconds.
func (s *session) loadOn(c *child, want int, callers []caller) (r result, cpu float64, err error) {
	before, err := c.cpu()
	if err != nil {
		return r, 0, err
	}
	if r, err = load(c.address, s.length(), want, callers); err != nil {
		return r, 0, err
	}
	after, err := c.cpu()
	// The load ran a little longer than answers were counted.
	share := r.elapsed.Seconds() / (r.elapsed + warmUp).Seconds()
	return r, share * float64((after - before).Microseconds()) / max(1, float64(len(r.latencies))), err
}

func (s *session) length() time.Duration { return time.Duration(s.seconds * float64(time.Second)) }

// limit measures what the work is compared with. It returns its rate, 0 where nothing
// is compared, and the CPU time for each answer of the bare handler.
func (s *session) limit(ctx context.Context, sc scenario, n int) (rate, cpu float64, err error) {
	switch sc.bare {
	case "":
		return 0, 0, nil
	case pgbench:
		rate, err = s.postgres.bench(ctx, n, users, s.seconds)
		return rate, 0, err
	case pgbenchOne:
		rate, err = s.postgres.bench(ctx, n, 1, s.seconds)
		return rate, 0, err
	case argon2:
		path := "/argon2id?seconds=" + strconv.FormatFloat(s.seconds, 'f', -1, 64)
		_, body, err := request{method: http.MethodGet, path: path}.do(ctx, s.bare.address)
		if err != nil {
			return 0, 0, err
		}
		rate, err = strconv.ParseFloat(string(body), 64)
		return rate, 0, err
	}
	method, path, _ := strings.Cut(sc.bare, " ")
	callers := make([]caller, n)
	for i := range callers {
		like := sc.probe(s.world)
		like.method, like.path = method, path
		if callers[i] = same(like); like.body != "" {
			callers[i] = numbered(like, s.world.nextSeries())
		}
	}
	r, cpu, err := s.loadOn(s.bare, sc.want, callers)
	return r.rate(), cpu, err
}

// median returns the median of the values, 0 if there are none.
func median[T cmp.Ordered](values []T) (zero T) {
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
