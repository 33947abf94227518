//go:build linux

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The databases.
const (
	sqlite   = "sqlite"
	postgres = "postgres"
)

//go:embed catalog.yaml
var catalog string

// world is an installation of the service with all its dependencies.
type world struct {
	options

	scenario scenario
	database string
	dir      string
	chance   *rand.Rand
	env      []string
	url      string // the database URL of the service

	front     *front
	instances []*instance
	primary   *server // nil on SQLite
	standby   *server // nil if there is no standby
	workers   []*server
	nodes     []node // of a Citus cluster
	joined    string // the database on a given Citus cluster, or empty
	redis     *instance
	provider  *provider // nil if the service runs its own sandbox
	mail      *mailServer
	meter     string // the provider's meter for billed usage
	load      *load
	recovered []time.Duration
}

// newWorld starts all servers and creates some customers. The caller must close the world even if
// newWorld returns an error.
func newWorld(ctx context.Context, o options, s scenario, database, dir string) (*world, error) {
	w := &world{options: o, scenario: s, database: database, dir: dir, chance: s.chance(o.seed, database)}
	if err := os.Mkdir(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user needs access.
		return w, err
	}
	var err error
	if w.front, err = startFront(ctx); err != nil {
		return w, err
	}
	if err := w.startDatabase(ctx); err != nil {
		return w, err
	}
	if err := w.startOutside(ctx); err != nil {
		return w, err
	}
	if err := w.fill(ctx); err != nil {
		return w, err
	}
	for n := range max(1, s.instances) {
		i, err := w.newInstance(n)
		if err != nil {
			return w, err
		}
		w.instances = append(w.instances, i)
		if err := i.start(ctx); err != nil {
			return w, err
		}
	}
	w.front.instances.Store(&w.instances)
	c := newClient(w.front.address)
	c.may = s.may
	w.load = newLoad(c, w.provider)
	if err := w.load.prepare(ctx); err != nil {
		return w, err
	}
	for _, i := range w.instances { // each instance has its own catalog cache
		if status, text := getURL(ctx, c.http, "http://"+i.address.String()+api+"/catalog/plans", ""); status != http.StatusOK {
			return w, fmt.Errorf("the catalog was answered %d: %s", status, text)
		}
	}
	return w, nil
}

// close stops everything that newWorld has started.
func (w *world) close() error {
	var err error
	for _, i := range w.instances {
		i.stop()
	}
	if w.redis != nil {
		w.redis.kill()
	}
	if w.provider != nil {
		w.provider.stop()
	}
	if w.mail != nil {
		err = w.mail.leave()
	}
	if w.front != nil {
		w.front.stop()
	}
	for _, s := range append([]*server{w.primary, w.standby}, w.workers...) {
		if s != nil {
			_ = s.signal(syscall.SIGCONT)
			_ = s.stop(context.Background(), "immediate") // it may already be stopped
		}
	}
	return errors.Join(err, w.leaveCluster())
}

func (w *world) startDatabase(ctx context.Context) (err error) {
	if w.database == sqlite {
		w.url = sqldb.FileURL(filepath.Join(w.dir, "database", "tenantry.db"))
		return os.MkdirAll(filepath.Join(w.dir, "database"), 0o700)
	}
	if w.scenario.workers > 0 && w.citus != "" {
		return w.joinCluster(ctx)
	}
	if w.primary, err = newServer(filepath.Join(w.dir, "primary")); err != nil {
		return err
	}
	if err := w.primary.initialize(ctx, w.scenario.standby); err != nil {
		return err
	}
	if w.scenario.standby {
		// Until the standby exists, commits must not wait for it.
		if err := w.primary.configure("synchronous_standby_names = ''\n"); err != nil {
			return err
		}
	}
	if w.scenario.workers > 0 {
		if err := errors.Join(requireCitus(w.primary), w.primary.configure(citusSettings)); err != nil {
			return err
		}
	}
	if err := w.primary.start(ctx); err != nil {
		return err
	}
	if w.scenario.workers > 0 {
		return w.startWorkers(ctx)
	}
	if w.scenario.standby {
		if err := w.startStandby(ctx); err != nil {
			return err
		}
	}
	w.url = databaseURL(w.primary, w.standby)
	return nil
}

func (w *world) startStandby(ctx context.Context) (err error) {
	if w.standby, err = newServer(filepath.Join(w.dir, "standby")); err != nil {
		return err
	}
	if err := w.standby.follow(ctx, w.primary); err != nil {
		return err
	}
	if err := w.standby.start(ctx); err != nil {
		return err
	}
	if err := w.primary.configure("synchronous_standby_names = '*'\n"); err != nil {
		return err
	}
	return w.primary.signal(syscall.SIGHUP)
}

// startOutside starts the dependencies of the service and sets the environment.
func (w *world) startOutside(ctx context.Context) (err error) {
	w.env = []string{
		"TENANTRY_DATABASE_URL=" + w.url, "TENANTRY_STRIPE_SECRET_KEY=" + providerKey, "TENANTRY_ACCESS_TOKEN_LIFETIME=24h",
		"TENANTRY_RATE_LIMITS=" + generousLimits(),
	}
	if w.scenario.redis {
		if w.redis, err = newRedis(w.dir); err != nil {
			return err
		}
		if err := w.redis.start(ctx); err != nil {
			return err
		}
		w.env = append(w.env, "TENANTRY_REDIS_URL=redis://"+w.redis.address.String())
	}
	if w.scenario.sandbox {
		return nil
	}
	if w.mail, err = startMail(ctx); err != nil {
		return err
	}
	if w.provider, err = startProvider(ctx, w.binary, w.dir, "http://"+w.front.address+api+"/webhooks/stripe"); err != nil {
		return err
	}
	w.env = append(w.env,
		"TENANTRY_STRIPE_WEBHOOK_SECRET="+providerSecret, "TENANTRY_INVOICE_MODE=platform_managed",
		"TENANTRY_SMTP_URL=smtp://"+w.mail.address+"?tls=none", "TENANTRY_MAIL_FROM=chaos@example.com",
		"TENANTRY_PUBLIC_URL=http://"+w.front.address,
		"HTTPS_PROXY=http://"+w.provider.address, "SSL_CERT_FILE="+w.provider.certificate, "NO_PROXY=",
	)
	return nil
}

// fill creates the tables and the catalog.
func (w *world) fill(ctx context.Context) error {
	text := catalog
	if w.provider == nil {
		text, _, _ = strings.Cut(text, "    prices:\n      EUR: {unit_price")
	} else {
		meter, err := w.provider.create(ctx, "/v1/billing/meters", "display_name", "Billed calls",
			"event_name", billed, "default_aggregation[formula]", "sum")
		if err != nil {
			return err
		}
		price, err := w.provider.create(ctx, "/v1/prices", "currency", "eur", "unit_amount_decimal", "1", "recurring[interval]", "month",
			"recurring[usage_type]", "metered", "recurring[meter]", meter, "product_data[name]", "Billed calls")
		if err != nil {
			return err
		}
		w.meter, text = meter, strings.Replace(text, "PRICE", price, 1)
	}
	file := filepath.Join(w.dir, "catalog.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if w.scenario.disk {
		return nil // it is filled on its own disk, see newInstance
	}
	if err := w.tenantry(ctx, "migrate"); err != nil {
		return err
	}
	if err := w.tenantry(ctx, "catalog", "import", file, "--yes"); err != nil || w.scenario.workers == 0 {
		return err
	}
	return w.tenantry(ctx, "distribute", "--shards", "8")
}

// tenantry runs a command of the program.
func (w *world) tenantry(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Env, cmd.Dir = append(append(os.Environ(), w.env...), "TENANTRY_DATA="+filepath.Join(w.dir, "data-0")), w.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("tenantry %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return nil
}

// newInstance prepares an instance of the service.
func (w *world) newInstance(n int) (*instance, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(w.dir, fmt.Sprintf("data-%d", n))
	i := &instance{
		binary: w.binary, args: []string{"serve", "--addr", address.String(), "--data", data}, env: w.env,
		address: address, ready: "/readyz", log: filepath.Join(w.dir, fmt.Sprintf("service-%d.log", n)),
	}
	if w.scenario.sandbox {
		i.args[0] = "dev"
		i.env = append(slices.Clone(i.env), "TENANTRY_DEMO_DEFAULT_PLAN=none") // its quotas would reject the load
	}
	if w.scenario.disk {
		i.useDisk(filepath.Join(w.dir, "database"), fmt.Sprintf(`"$0" migrate && "$0" catalog import %q --yes`, filepath.Join(w.dir, "catalog.yaml")))
	}
	return i, nil
}

// mails returns the mails that the service has sent.
func (w *world) mails(ctx context.Context) (map[letter]int, error) {
	if w.mail != nil {
		return w.mail.mails(ctx)
	}
	return newSandboxMails(ctx, w.front.address)
}

// pause waits for a random time between least and most, multiplied by the length of the run.
func (w *world) pause(ctx context.Context, least, most time.Duration) {
	d := least + time.Duration(w.chance.Int64N(int64(most-least)+1))
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(float64(d) * min(1, w.length))):
	}
}

// repeatCount returns the number of repetitions of a fault.
func (w *world) repeatCount(n int) int { return max(1, int(float64(n)*w.length)) }

// back measures the time until the service recovers after its database has come back.
func (w *world) back(ctx context.Context) error {
	began := clock.System().Now()
	o := w.load.owners[0]
	for _, i := range w.instances {
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
		for status := 0; status != http.StatusOK; {
			if clock.System().Now().Sub(began) > time.Minute {
				return errors.New("the service did not recover within a minute: " + i.lastLines())
			}
			status, _ = getURL(ctx, c, "http://"+i.address.String()+api+"/auth/me", o.token)
			if status != http.StatusOK {
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	w.recovered = append(w.recovered, clock.System().Now().Sub(began))
	return nil
}

// away checks the service while its database is unavailable: it is not ready, but the public
// catalog works. It first gives the service time to detect the failure.
func (w *world) away(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(maxRefusal):
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for _, i := range w.instances {
		for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, api + "/catalog/plans": 200, api + "/auth/me": 503} {
			if status, text := getURL(ctx, c, "http://"+i.address.String()+path, w.load.owners[0].token); status != want && ctx.Err() == nil {
				w.load.recordFault("%s while the database is away: %d, want %d: %s", path, status, want, text)
			}
		}
	}
}

// getURL sends a GET request and returns the status, or 0 without a response, and the body.
func getURL(ctx context.Context, c *http.Client, address, token string) (int, string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() // the body is only read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

// release releases the leases of a killed instance, so that other instances take over its work
// immediately and not after a minute and a half. In a full-length run it does nothing.
func (w *world) release(ctx context.Context) error {
	if w.length >= 1 {
		return nil
	}
	var err error
	for _, table := range []string{"jobs", "psp_operations"} {
		err = errors.Join(err, w.exec(ctx, w.url, "", `UPDATE `+table+` SET leased_until = $1 WHERE leased_until > $1`, time.Unix(0, 0).UTC()))
	}
	return err
}

// exec executes a statement on a database.
func (w *world) exec(ctx context.Context, address, table, statement string, args ...any) error {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address, Table: table})
	if err != nil {
		return err
	}
	_, err = db.Conn(ctx).ExecContext(ctx, statement, args...)
	return errors.Join(err, db.Close())
}
