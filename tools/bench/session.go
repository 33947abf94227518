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

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/tools/bench/load"
)

// starts is the number of measurements of each kind of start.
const starts = 5

// session measures the service on one database.
type session struct {
	options
	bare     *child
	report   *reporter
	dir      string
	database string

	postgres *postgres // nil on SQLite
	service  *child
	observed netip.AddrPort // the address of the service's profiles
	world    *world
}

func (s *session) isSelected(what string) bool { return s.only.MatchString(s.database + " " + what) }

func (s *session) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(s.dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user needs access.
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
	if s.isSelected("start") {
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
	time.Sleep(2 * time.Second) // until the startup work is done
	idle, _, err := s.service.memory()
	if err != nil {
		return err
	}
	s.report.PrintNumber(s.database, "memory, idle", idle, "MiB", 60)
	for _, sc := range scenarios(s.postgres != nil) {
		if err := s.scenario(ctx, sc); err != nil {
			return fmt.Errorf("%s: %w", sc.name, err)
		}
	}
	_, highest, err := s.service.memory()
	s.report.PrintNumber(s.database, "memory, highest", highest, "MiB", 256)
	return err
}

// newDatabase returns the URL of an empty database.
func (s *session) newDatabase(ctx context.Context, name string) (string, error) {
	if s.postgres == nil {
		return sqldb.FileURL(filepath.Join(s.dir, name+".db")), nil
	}
	return s.postgres.url(name), s.postgres.create(ctx, name)
}

// measureStarts starts the service on empty databases, and then again on the migrated databases.
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
	s.report.PrintNumber(s.database, "start, empty database", median(empty), "ms", 400)
	s.report.PrintNumber(s.database, "start, migrated database", median(migrated), "ms", 150)
	return nil
}

// scenario measures one kind of work with each number of connections.
func (s *session) scenario(ctx context.Context, sc scenario) error {
	if !slices.ContainsFunc(sc.conns, func(n int) bool { return s.isSelected(sc.name + " " + strconv.Itoa(n)) }) {
		return nil
	}
	if err := s.setAnswers(ctx, sc); err != nil {
		return err
	}
	for _, n := range sc.conns {
		if s.isSelected(sc.name + " " + strconv.Itoa(n)) {
			if err := s.measure(ctx, sc, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAnswers makes the bare server return the service's responses.
func (s *session) setAnswers(ctx context.Context, sc scenario) error {
	if sc.probe == nil {
		return nil
	}
	if err := s.setAnswer(ctx, sc.bare, sc.want, sc.probe(s.world)); err != nil || !sc.mixed {
		return err
	}
	return s.setAnswer(ctx, bareRecord, http.StatusCreated, recordOne(s.world.users[0]))
}

// setAnswer makes a route of the bare server, such as "POST /decode/record", return the service's
// response to a request.
func (s *session) setAnswer(ctx context.Context, route string, want int, probe request) error {
	status, body, err := withNewNumbers(probe, s.world.nextSeries()).do(ctx, s.service.address)
	if err != nil {
		return err
	}
	if status != want {
		return fmt.Errorf("the service answered %d: %s", status, body)
	}
	name := route[strings.LastIndexByte(route, '/')+1:]
	_, _, err = request{method: http.MethodPut, path: "/answers/" + name, body: string(body)}.do(ctx, s.bare.address)
	return err
}

// measure alternates between the service and its limit, so that other load on the machine affects
// both.
func (s *session) measure(ctx context.Context, sc scenario, n int) error {
	var rates, p50s, p99s, cpus, databaseCPUs, limits, limitCPUs, ratios, kept []float64
	others := 0
	for range s.rounds {
		callers := make([]load.Caller, n)
		for i := range callers {
			callers[i] = sc.caller(s.world, i)
		}
		works := []load.Work{{Callers: callers, Want: sc.want}}
		if sc.mixed {
			works = append(works, backgroundWork(s.world)...)
		}
		profiled := s.profile(ctx, sc.name, n)
		databaseBefore, err1 := s.postgres.cpu()
		all, cpu, err := s.loadOn(s.service, works)
		databaseAfter, err2 := s.postgres.cpu()
		if err := errors.Join(err, err1, err2, <-profiled); err != nil {
			return err
		}
		limit, limitCPU, err := s.limit(ctx, sc, n)
		if err != nil {
			return err
		}
		r, each := all[0], float64(max(1, sc.events))
		rates, cpus = append(rates, r.Rate()*each), append(cpus, cpu/each)
		databaseCPUs = append(databaseCPUs, s.cpuPerAnswer(databaseAfter-databaseBefore, r)/each)
		p50s, p99s = append(p50s, r.Quantile(0.5)), append(p99s, r.Quantile(0.99))
		for i, one := range all {
			others += one.OtherStatuses()
			if i > 0 {
				kept = append(kept, one.Rate()/works[i].Rate)
			}
		}
		if limit > 0 {
			limits, limitCPUs, ratios = append(limits, limit*each), append(limitCPUs, limitCPU/each), append(ratios, r.Rate()/limit)
		}
	}
	row := reportRow{
		Database: s.database, Work: sc.name, Connections: n, Rate: median(rates), P50: median(p50s), P99: median(p99s), CPU: median(cpus), DatabaseCPU: median(databaseCPUs),
		Others: others, Limit: sc.bare, LimitRate: median(limits), LimitCPU: median(limitCPUs), Ratio: median(ratios),
		WantRate: sc.rates[n], WantP99: sc.p99s[n],
	}
	if len(kept) > 0 {
		row.Mixed, row.BackgroundShare = true, slices.Min(kept)
	}
	s.report.Row(row)
	return nil
}

// loadOn runs a load on a server. It also returns the server's CPU time per response of the first
// work, in microseconds.
func (s *session) loadOn(c *child, works []load.Work) (all []load.Result, cpu float64, err error) {
	before, err := c.cpu()
	if err != nil {
		return nil, 0, err
	}
	if all, err = load.Run(c.address, s.duration(), works...); err != nil {
		return nil, 0, err
	}
	after, err := c.cpu()
	return all, s.cpuPerAnswer(after-before, all[0]), err
}

// cpuPerAnswer returns the CPU time per response, in microseconds. It corrects for the warm-up, in
// which responses are not counted.
func (s *session) cpuPerAnswer(cpu time.Duration, r load.Result) float64 {
	share := s.duration().Seconds() / (s.duration() + load.WarmUp).Seconds()
	return share * float64(cpu.Microseconds()) / max(1, float64(len(r.Latencies)))
}

func (s *session) duration() time.Duration { return time.Duration(s.seconds * float64(time.Second)) }

// limit measures the limit of the scenario. It returns the limit's rate, or 0 if there is no
// comparison, and the CPU time per response of the bare server.
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
	callers := make([]load.Caller, n)
	for i := range callers {
		like := sc.probe(s.world)
		like.method, like.path = method, path
		if callers[i] = repeatingCaller(like); like.body != "" {
			callers[i] = numberedCaller(like, s.world.nextSeries())
		}
	}
	works := []load.Work{{Callers: callers, Want: sc.want}}
	if sc.mixed {
		works = append(works, bareBackgroundWork(s.world)...)
	}
	all, cpu, err := s.loadOn(s.bare, works)
	if err != nil {
		return 0, 0, err
	}
	return all[0].Rate(), cpu, nil
}

// median returns the median of the values, or 0 if there are no values.
func median[T cmp.Ordered](values []T) (zero T) {
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
