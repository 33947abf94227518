//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The commands for databases of a given size.
const (
	seedCommand  = "seed"
	scaleCommand = "scale"
)

// The limits for the cost of a route on the largest database.
const (
	mostTimes  = 2 // factor over the median of the previous size
	mostMedian = 20 * time.Millisecond
	// Differences below this are noise.
	beneath = 2 * time.Millisecond
)

// walks contains the routes that scan index entries whose number grows with the database, each with
// a description of these entries. The median of such a route can grow up to mostMedian.
var walks = map[string]string{
	"GET /api/v1/admin/audit-logs?filter[action]=user.login&filter[tenant]={tenant}":     "entries of an action, counted",
	"GET /api/v1/admin/webhook-endpoints/{endpoint}/deliveries":                          "deliveries of an endpoint, counted",
	"GET /api/v1/tenant/{tenantId}/webhook-endpoints/{endpoint}/deliveries":              "deliveries of an endpoint, counted",
	"GET /api/v1/admin/plans/{plan}/customers":                                           "subscriptions of a plan, counted",
	"GET /api/v1/admin/stats":                                                            "tenants and subscriptions, counted",
	"GET /api/v1/admin/tenants/search-with-roles?search=Tenant":                          "names, searched",
	"GET /api/v1/admin/tenants/search-with-roles?search=user-9":                          "names, searched",
	"GET /api/v1/tenant/{tenantId}/invoices":                                             "invoices of a tenant, counted",
	"GET /api/v1/tenant/{tenantId}/invoices/summary":                                     "invoices of a tenant, summed up",
	"GET /api/v1/tenant/{tenantId}/usage/series?interval=day&meter_code=api-calls&from=": "hours of a year, summed up",
	"GET /api/v1/tenant/{tenantId}/usage/series?interval=hour&meter_code=api-calls":      "hours of a week",
	"GET /api/v1/tenant/{tenantId}/team/members?page=2&per_page=20":                      "names of a team, sorted",
}

// runSeed fills a database: bench seed --database URL --tenants N --events M.
func runSeed(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench seed", flag.ContinueOnError)
	url := flags.String("database", "", "`URL` of the database, such as "+sqldb.FileURL("/tmp/tenantry.db"))
	var v volume
	flags.IntVar(&v.tenants, "tenants", 20_000, "number of tenants")
	flags.IntVar(&v.events, "events", 5_000_000, "number of usage events")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *url == "" {
		return errors.New("seed needs --database")
	}
	if err := fill(ctx, *url, v, func(step string) { _, _ = fmt.Fprintln(out, step) }); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "accounts: %s, with the password %q\n", strings.Join(knownEmails, ", "), password)
	return nil
}

// scale measures all read routes, and the common writes of tenants, on databases of several sizes.
type scale struct {
	options
	sizes  []int
	events int    // per tenant
	url    string // of a filled database; if empty, a database of each size is filled
	dir    string
	out    io.Writer
	failed []string
}

func runScale(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bench scale", flag.ContinueOnError)
	s := scale{out: out}
	databases := flags.String("databases", "sqlite,postgres", "databases to test")
	sizes := flags.String("tenants", "1,100,20000", "numbers of tenants to compare, ascending")
	only := flags.String("only", "", "`regexp` of routes to measure")
	flags.StringVar(&s.url, "database", "", "`URL` of a filled database, to measure only that one")
	flags.StringVar(&s.binary, "binary", "", "path of the tenantry binary; built if omitted")
	flags.IntVar(&s.events, "events", 250, "usage events per tenant")
	flags.Float64Var(&s.seconds, "seconds", 0.3, "seconds per route")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return err
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		s.sizes = append(s.sizes, n)
	}
	return withTempDir(func(dir string) error {
		s.dir = dir
		if err := s.build(ctx, dir, out); err != nil {
			return err
		}
		if s.url != "" {
			session := &session{options: s.options, dir: dir}
			s.sizes = s.sizes[:1]
			return s.measure(ctx, session, func(context.Context, int) (string, error) { return s.url, nil })
		}
		for s.databases = strings.Split(*databases, ","); len(s.databases) > 0; s.databases = s.databases[1:] {
			if err := s.compare(ctx, s.databases[0]); err != nil {
				return fmt.Errorf("%s: %w", s.databases[0], err)
			}
		}
		if len(s.failed) > 0 {
			return fmt.Errorf("%d routes grow with the data:\n%s", len(s.failed), strings.Join(s.failed, "\n"))
		}
		return nil
	})
}

// cost is the cost of a route on one database.
type cost struct {
	first, p50, p99 time.Duration // median time to the first byte; quantiles of the total time
	bytes           int
	status          int
}

// compare measures one kind of database in all sizes.
func (s *scale) compare(ctx context.Context, database string) (err error) {
	session := &session{options: s.options, dir: filepath.Join(s.dir, database), database: database}
	if err := os.MkdirAll(session.dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user needs access.
		return err
	}
	if database == "postgres" {
		if session.postgres, err = startPostgres(ctx, session.dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, session.postgres.stop(context.WithoutCancel(ctx))) }()
	}
	return s.measure(ctx, session, func(ctx context.Context, size int) (string, error) {
		url, err := session.newDatabase(ctx, "tenants"+strconv.Itoa(size))
		if err != nil {
			return "", err
		}
		began := clock.System().Now()
		err = fill(ctx, url, volume{tenants: size, events: size * s.events}, func(string) {})
		_, _ = fmt.Fprintf(s.out, "%s with %d tenants, filled in %v\n", database, size, clock.System().Now().Sub(began).Round(time.Second))
		return url, err
	})
}

// measure measures a database of each size.
func (s *scale) measure(ctx context.Context, session *session, database func(ctx context.Context, size int) (string, error)) error {
	var names []string
	costs := map[string][]cost{}
	for _, size := range s.sizes {
		url, err := database(ctx, size)
		if err != nil {
			return err
		}
		routes, found, err := s.routes(ctx, session, url)
		if err != nil {
			return err
		}
		names = routes
		for name, c := range found {
			costs[name] = append(costs[name], c)
		}
	}
	return s.print(session.database, names, costs)
}

// routes starts the service on a database and measures every route.
func (s *scale) routes(ctx context.Context, session *session, url string) (names []string, costs map[string]cost, err error) {
	c, err := session.start(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	time.Sleep(2 * time.Second) // until the startup work is done
	w, err := inspect(ctx, c, url)
	if err != nil {
		return nil, nil, err
	}
	asked, err := listReadRoutes(ctx, c, w)
	if err != nil {
		return nil, nil, err
	}
	asked = append(asked, writesOf(w)...)
	costs = map[string]cost{}
	for _, a := range asked {
		if !s.only.MatchString(a.name) {
			continue
		}
		if costs[a.name], err = s.cost(ctx, c, a); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", a.name, err)
		}
		names = append(names, a.name)
	}
	return names, costs, nil
}

// cost sends the requests of a route repeatedly and measures them.
func (s *scale) cost(ctx context.Context, c *child, a asked) (cost, error) {
	const least, warm = 5, 2
	var found cost
	var began, ended []time.Duration
	end := clock.System().Now().Add(time.Duration(s.seconds * float64(time.Second)))
	for i := 0; i < least+warm || clock.System().Now().Before(end); i++ {
		start := clock.System().Now()
		resp, err := a.next(i).send(ctx, c.address)
		if err != nil {
			return cost{}, err
		}
		first := clock.System().Now().Sub(start)
		body, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err != nil {
			return cost{}, err
		}
		if i >= warm {
			began, ended = append(began, first), append(ended, clock.System().Now().Sub(start))
		}
		found.status, found.bytes = resp.StatusCode, len(body)
		if found.status >= http.StatusInternalServerError {
			return cost{}, fmt.Errorf("%d %s", found.status, body)
		}
	}
	slices.Sort(began)
	slices.Sort(ended)
	found.first, found.p50, found.p99 = began[len(began)/2], ended[len(ended)/2], ended[len(ended)*99/100]
	return found, nil
}

// print prints the table of one database and records the routes that grew too much.
func (s *scale) print(database string, names []string, costs map[string][]cost) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "\n%s\t", database)
	for _, size := range s.sizes {
		_, _ = fmt.Fprintf(w, "%d: first ms\tp50\tp99\tKB\t", size)
	}
	_, _ = fmt.Fprintln(w, "status\t\t")
	for _, name := range names {
		row := costs[name]
		_, _ = fmt.Fprintf(w, "%s\t", name)
		for _, c := range row {
			_, _ = fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t%.1f\t", ms(c.first), ms(c.p50), ms(c.p99), float64(c.bytes)/1000)
		}
		last := row[len(row)-1]
		why, most := walks[withoutDate.ReplaceAllString(name, "")], limitOf(name)
		switch {
		case most > 0:
			why = fmt.Sprintf("at most %v", most)
		case why != "":
			most = mostMedian
		}
		if growsTooMuch(most, row[0], row[max(0, len(row)-2)], last) {
			why = "GROWS"
			s.failed = append(s.failed, fmt.Sprintf("%s %s: %.2f to %.2f ms", database, name, ms(row[max(0, len(row)-2)].p50), ms(last.p50)))
		}
		_, _ = fmt.Fprintf(w, "%d\t%s\t\n", last.status, why)
	}
	return w.Flush()
}

// withoutDate matches the date at the end of a route's name.
var withoutDate = regexp.MustCompile(`\d{4}-\d{2}-\d{2}$`)

// growsTooMuch reports whether a route exceeds its limits on the largest database. most, unless 0, is
// the only limit. If the response grows with the tenant's data, the limits apply to the time per byte
// and to the time to the first byte.
func growsTooMuch(most time.Duration, first, before, last cost) bool {
	if last.p50 <= beneath {
		return false
	}
	longer := float64(last.p50) / float64(before.p50)
	larger := float64(last.bytes) / float64(max(before.bytes, 1))
	switch {
	case most > 0:
		return last.p50 > most
	case larger > 2:
		return longer > mostTimes*larger || last.first > mostMedian
	default:
		return longer > mostTimes || last.p50 > max(mostMedian, first.p50*3/2)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// filled contains the accounts and ids for requests to a filled database.
type filled struct {
	large, small, admin *user
	subject             int64  // a user in the audit log
	meter               string // the code of a meter with events
	plan                string // the slug of a plan with subscriptions
	objects             []object
}

// object is the id for a placeholder in paths that start with below.
type object struct{ below, name, id string }

// objects are the queries for the ids of objects. $1 is the large tenant.
var objects = []struct{ below, name, query string }{
	{"/api/v1/tenant/", "{invoiceId}", `SELECT id FROM invoices WHERE tenant_id = $1 ORDER BY id LIMIT 1`},
	{"/api/v1/tenant/", "{endpoint}", `SELECT id FROM webhook_endpoints WHERE tenant_id = $1`},
	{"/api/v1/admin/", "{endpoint}", `SELECT id FROM webhook_endpoints WHERE tenant_id IS NULL AND $1::uuid IS NOT NULL`},
	{"/api/v1/admin/", "{plan}", `SELECT plan_id FROM subscriptions WHERE tenant_id = $1 LIMIT 1`},
	{"/api/v1/admin/", "{product}", `SELECT p.product_id FROM subscriptions s JOIN plans p ON p.id = s.plan_id WHERE s.tenant_id = $1 LIMIT 1`},
	{"/api/v1/admin/", "{feature}", `SELECT id FROM features WHERE $1::uuid IS NOT NULL ORDER BY code LIMIT 1`},
	{"/api/v1/admin/", "{meter}", `SELECT meter_id FROM usage_streams WHERE tenant_id = $1`},
}

// inspect logs the accounts in and reads the ids for the requests.
func inspect(ctx context.Context, c *child, url string) (_ *filled, err error) {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: url})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := &filled{}
	for i, u := range []**user{&w.large, &w.small, &w.admin} {
		*u = &user{email: knownEmails[i]}
		if err := logIn(ctx, c, *u); err != nil {
			return nil, err
		}
		row := db.Conn(ctx).QueryRowContext(ctx, `SELECT m.tenant_id FROM memberships m JOIN users u ON u.id = m.user_id WHERE u.email = $1`, knownEmails[i])
		if err := row.Scan(&(*u).tenant); err != nil {
			return nil, err
		}
	}
	for _, o := range objects {
		var id uuid.UUID
		if err := db.Conn(ctx).QueryRowContext(ctx, o.query, w.large.tenant).Scan(&id); err != nil {
			return nil, fmt.Errorf("%s: %w", o.name, err)
		}
		w.objects = append(w.objects, object{o.below, o.name, id.String()})
	}
	return w, errors.Join(
		db.Conn(ctx).QueryRowContext(ctx, `SELECT p.slug FROM subscriptions s JOIN plans p ON p.id = s.plan_id WHERE s.tenant_id = $1`, w.large.tenant).Scan(&w.plan),
		db.Conn(ctx).QueryRowContext(ctx, `SELECT max(actor_id) FROM audit_logs`).Scan(&w.subject),
		db.Conn(ctx).QueryRowContext(ctx, `SELECT m.code FROM usage_streams s JOIN meters m ON m.id = s.meter_id WHERE s.tenant_id = $1`, w.large.tenant).Scan(&w.meter),
	)
}

func logIn(ctx context.Context, c *child, u *user) error {
	body := fmt.Sprintf(`{"email": %q, "password": %q}`, u.email, password)
	status, answer, err := request{method: http.MethodPost, path: "/api/v1/auth/login", body: body}.do(ctx, c.address)
	if err != nil {
		return err
	}
	var tokens struct {
		AccessToken string `json:"accessToken"`
	}
	if err := json.Unmarshal(answer, &tokens); err != nil || status != http.StatusOK {
		return fmt.Errorf("login answered %d: %s", status, answer)
	}
	u.access = tokens.AccessToken
	return nil
}

// asked is a route with a function that returns its requests.
type asked struct {
	name string
	next func(i int) request
}

// listReadRoutes returns the read routes in the API description that need no external service. The
// requests are for the large tenant.
func listReadRoutes(ctx context.Context, c *child, w *filled) ([]asked, error) {
	_, body, err := request{method: http.MethodGet, path: "/openapi.json"}.do(ctx, c.address)
	if err != nil {
		return nil, err
	}
	var description apiDescription
	if err := json.Unmarshal(body, &description); err != nil {
		return nil, err
	}
	var all []asked
	for path, methods := range description.Paths {
		if methods["get"] == nil || !strings.HasPrefix(path, "/api/v1/") || needsProvider(path) {
			continue
		}
		filledIn := strings.NewReplacer("{tenantId}", w.large.tenant.String(), "{tenant}", w.large.tenant.String(),
			"{meterCode}", w.meter).Replace(path)
		for _, o := range w.objects {
			if strings.HasPrefix(filledIn, o.below) {
				filledIn = strings.ReplaceAll(filledIn, o.name, o.id)
			}
		}
		if strings.Contains(filledIn, "{") {
			continue // these routes read one row by its key: images, invitation links and identity providers
		}
		all = append(all, newReadRoute(path, filledIn, w))
	}
	lists, err := description.listOperatorRoutes(w)
	if err != nil {
		return nil, err
	}
	tenant := "/api/v1/tenant/{tenantId}"
	yearAgo := clock.System().Now().AddDate(-1, 0, 0).Format(time.DateOnly)
	for _, words := range searches {
		lists = append(lists, tenant+"/search?q="+url.QueryEscape(words))
	}
	for _, variant := range append(lists,
		"/api/v1/admin/tenants?per_page=100", "/api/v1/admin/tenants?deleted=true", "/api/v1/admin/tenants?search=tenant-9", "/api/v1/admin/tenants?search=Tenant",
		"/api/v1/admin/tenants/search-with-roles?search=user-9", "/api/v1/admin/tenants/search-with-roles?search=Tenant",
		"/api/v1/admin/audit-logs?filter[action]=user.login", "/api/v1/admin/audit-logs?filter[action]=none",
		"/api/v1/admin/audit-logs?filter[tenant]="+w.large.tenant.String(), "/api/v1/admin/audit-logs?filter[action]=user.login&filter[tenant]="+w.large.tenant.String(),
		"/api/v1/admin/audit-logs?filter[actor]="+strconv.FormatInt(w.subject, 10), "/api/v1/admin/audit-logs?page=50",
		tenant+"/team/members?page=2&per_page=20", tenant+"/team/invitations?page=2&per_page=20", tenant+"/team/invitations?pending_only=true",
		tenant+"/invoices?page=100", tenant+"/timeline?kind=payments", tenant+"/timeline?kind=usage",
		"/api/v1/admin/activity?kind=payments", "/api/v1/admin/activity?kind=usage", "/api/v1/admin/activity?kind=webhooks",
		tenant+"/usage/export?meter_code="+w.meter, tenant+"/usage/export?format=jsonl&meter_code="+w.meter, tenant+"/usage/series?interval=day&meter_code="+w.meter+"&from="+yearAgo,
		tenant+"/usage/series?interval=hour&meter_code="+w.meter,
		"/api/v1/admin/stats/series?figure=mrr", "/api/v1/admin/stats/series?figure=mrr&interval=day&from="+yearAgo,
		"/api/v1/admin/stats/series?figure=tenants&interval=day&from="+yearAgo, "/api/v1/admin/stats/series?figure=subscriptions",
		"/api/v1/admin/stats/series?figure=failed_payments&interval=day&from="+yearAgo, "/api/v1/admin/stats/series?figure=quota_refusals&interval=day&from="+yearAgo,
	) {
		all = append(all, newReadRoute(variant, strings.ReplaceAll(variant, "{tenantId}", w.large.tenant.String()), w))
	}
	slices.SortFunc(all, func(a, b asked) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

func newReadRoute(name, path string, w *filled) asked {
	token := w.large.access
	if strings.HasPrefix(path, "/api/v1/admin/") {
		token = w.admin.access
	}
	r := request{method: http.MethodGet, path: path, token: token}
	return asked{name: "GET " + strings.ReplaceAll(name, w.large.tenant.String(), "{tenant}"), next: func(int) request { return r }}
}

// needsProvider reports whether a route calls the provider or belongs to an external login.
func needsProvider(path string) bool {
	for _, part := range []string{"/oauth/", "/pdf", "preview-change", "psp-price-status", "/studio", "search-with-roles"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// writesOf returns the common writes of tenants, for the large tenant and for a small tenant.
func writesOf(w *filled) []asked {
	var all []asked
	for _, by := range []struct {
		name string
		user *user
	}{{"large", w.large}, {"small", w.small}} {
		of := "/api/v1/tenant/" + by.user.tenant.String()
		all = append(
			all,
			asked{"POST usage, " + by.name, func(i int) request {
				body := fmt.Sprintf(`{"meter_code": %q, "quantity": 1, "idempotency_key": "scale-%d"}`, w.meter, i)
				return request{method: http.MethodPost, path: of + "/usage", token: by.user.access, body: body}
			}},
			asked{"PATCH tenant, " + by.name, func(i int) request {
				body := fmt.Sprintf(`{"name": "Renamed %d"}`, i)
				return request{method: http.MethodPatch, path: "/api/v1/tenant", token: by.user.access, body: body}
			}},
			asked{"POST login, " + by.name, func(int) request {
				body := fmt.Sprintf(`{"email": %q, "password": %q}`, by.user.email, password)
				return request{method: http.MethodPost, path: "/api/v1/auth/login", body: body}
			}},
		)
	}
	return all
}
