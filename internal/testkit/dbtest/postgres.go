package dbtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// cluster is a PostgreSQL server for test databases.
type cluster struct {
	// admin is a connection to an existing database.
	admin *sqldb.DB
	url   *url.URL
	// leash keeps the server running if the package has started it; otherwise nil.
	leash *os.File
	// nodes are the other servers of a Citus cluster. Each database exists on all servers, and
	// Citus connects databases with the same name.
	nodes []*sqldb.DB
	at    []node // with the coordinator

	freezing sync.Mutex
	frozen   map[string]bool // by name; see freeze

	// template returns the name of a migrated database. It is created once per process.
	template func() (string, error)
}

// templateLock is the key of the advisory lock for creating the template.
const templateLock = 7_470_256_014_611_338

// postgres returns the server of this process. The first caller waits for its start. The server
// runs until the process ends.
var postgres = sync.OnceValues(func() (*cluster, error) {
	address, leash := os.Getenv(urlVariable), (*os.File)(nil)
	if address == "" {
		var err error
		if address, leash, err = startServer(); err != nil {
			return nil, err
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL", urlVariable)
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	admin, err := sqldb.Open(ctx, sqldb.Config{URL: address, Patience: ConnTimeout})
	if err != nil {
		return nil, err
	}
	c := &cluster{admin: admin, url: u, leash: leash, frozen: map[string]bool{}}
	if c.at, err = c.findNodes(ctx); err != nil {
		return nil, err
	}
	for i, n := range c.at {
		if i == 0 {
			continue
		}
		db, err := sqldb.Open(ctx, sqldb.Config{URL: n.in(u), Patience: ConnTimeout})
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, db)
	}
	c.template = sync.OnceValues(c.makeTemplate)
	return c, nil
})

// databaseURL creates a database and returns its URL.
func (c *cluster) databaseURL(t testing.TB, migrated bool) string {
	t.Helper()
	template := "template0"
	if migrated {
		var err error
		if template, err = c.template(); err != nil {
			t.Fatalf("dbtest: PostgreSQL template: %v", err)
		}
	}
	return c.copyOf(t, template)
}

// copyOf copies a database and returns the URL of the copy.
func (c *cluster) copyOf(t testing.TB, template string) string {
	t.Helper()
	name := newName()
	if err := c.create(name, template); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	t.Cleanup(func() {
		// FORCE: a killed service can leave connections open.
		if err := errors.Join(c.freeze(name), c.execAll("DROP DATABASE "+name+" WITH (FORCE)")); err != nil {
			t.Errorf("dbtest: %v", err)
		}
	})
	return c.urlOf(name)
}

// create copies a database on every server. A copy does not inherit the settings of its template.
func (c *cluster) create(name, template string) error {
	err := c.execAll("CREATE DATABASE " + name + " TEMPLATE " + template)
	if err == nil && len(c.nodes) > 0 {
		err = c.exec("ALTER DATABASE " + name + " SET citus.multi_shard_modify_mode TO sequential")
	}
	return err
}

// urlOf returns the URL of a database on the server.
func (c *cluster) urlOf(name string) string {
	u := *c.url
	u.Path = "/" + name
	return u.String()
}

// makeTemplate returns the name of a migrated database. The name contains a hash of the migrations,
// so processes on one server share the template and never use a template of another version. It is
// not deleted, so the next run can use it.
func (c *cluster) makeTemplate() (name string, err error) {
	sum, err := migrationsSum()
	if err != nil {
		return "", err
	}
	name = "tenantry_template_" + sum
	if isSpread() {
		name += "_" + os.Getenv(spreadVariable)
	}
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	err = c.admin.Tx(ctx, func(ctx context.Context) error {
		conn := c.admin.Conn(ctx)
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(templateLock)); err != nil {
			return err
		}
		var known bool
		err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&known)
		if err != nil || known {
			return err
		}
		return c.fillTemplate(name)
	})
	return name, err
}

// fillTemplate migrates a database with a temporary name and then renames it, so that a template is
// always complete.
func (c *cluster) fillTemplate(name string) error {
	draft := newName()
	if err := c.create(draft, "template0"); err != nil {
		return err
	}
	var err error
	if len(c.nodes) > 0 {
		u, _ := url.Parse(c.urlOf(draft))
		err = createCluster(u, c.at)
	}
	if err == nil {
		err = migrate(c.urlOf(draft))
	}
	if err == nil && isSpread() {
		err = c.distribute(draft)
	}
	if err == nil {
		err = c.freeze(draft)
	}
	if err == nil {
		err = c.execAll("ALTER DATABASE " + draft + " RENAME TO " + name)
	}
	if err != nil {
		return errors.Join(err, c.execAll("DROP DATABASE IF EXISTS "+draft+" WITH (FORCE)"))
	}
	return nil
}

// freeze ends the background processes of Citus in a database, which prevent copies. Connections to
// the database would start them again.
func (c *cluster) freeze(name string) error {
	c.freezing.Lock()
	defer c.freezing.Unlock()
	if len(c.nodes) == 0 || c.frozen[name] {
		return nil
	}
	err := c.execAll("ALTER DATABASE "+name+" ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '"+name+"'")
	c.frozen[name] = err == nil
	return err
}

// execAll runs statements on every server.
func (c *cluster) execAll(statements ...string) error {
	for _, statement := range statements {
		for _, db := range append([]*sqldb.DB{c.admin}, c.nodes...) {
			if err := execIn(db, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cluster) exec(statement string) error { return execIn(c.admin, statement) }

func execIn(db *sqldb.DB, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	if _, err := db.Conn(ctx).ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func newName() string {
	return "tenantry_test_" + strings.ReplaceAll(sqldb.NewID().String(), "-", "")
}

// migrationsSum returns a hash of all migrations.
func migrationsSum() (string, error) {
	sum := fnv.New64a()
	files := sqldb.Migrations()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00", path, text)
		return err
	})
	return fmt.Sprintf("%016x", sum.Sum64()), err
}
