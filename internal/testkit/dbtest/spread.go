package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// spreadVariable distributes PostgreSQL databases. With "1", they have the keys that Citus
// requires, but are on a single server. With "citus", they are on a real cluster.
const spreadVariable = "TENANTRY_TEST_SPREAD"

// testShards is the number of shards on a real cluster, two on each worker.
const testShards = 4

func isSpread() bool { return os.Getenv(spreadVariable) != "" }

// RowLocks skips t on a Citus cluster, where advisory locks replace the row locks that t takes.
func RowLocks(t testing.TB) {
	t.Helper()
	if isCitus() {
		t.Skip("advisory locks replace row locks on Citus")
	}
}

func isCitus() bool { return os.Getenv(spreadVariable) == "citus" }

// servers returns the number of servers to start: a coordinator and two workers for Citus.
func servers() int {
	if isCitus() {
		return 3
	}
	return 1
}

// joinServers makes a Citus cluster of the servers in a folder. address is the URL of the
// coordinator.
func joinServers(address, dir string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	nodes := make([]node, servers())
	for i := range nodes {
		nodes[i] = node{host: dir, port: 5432 + i}
	}
	return createCluster(u, nodes)
}

// node is a server of a Citus cluster. The first node is the coordinator.
type node struct {
	host string
	port int
}

// in returns the URL of the database of u on the node.
func (n node) in(u *url.URL) string {
	at, query := *u, u.Query()
	query.Set("host", n.host)
	query.Set("port", fmt.Sprint(n.port))
	at.Host, at.RawQuery = "", query.Encode()
	return at.String()
}

// createCluster installs Citus in the database of u on every node and connects the nodes.
func createCluster(u *url.URL, nodes []node) error {
	for _, n := range nodes {
		if err := execOn(n.in(u), "CREATE EXTENSION citus"); err != nil {
			return err
		}
	}
	if err := execOn(u.String(), fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %d)", nodes[0].host, nodes[0].port)); err != nil {
		return err
	}
	for _, n := range nodes[1:] {
		if err := execOn(u.String(), fmt.Sprintf("SELECT citus_add_node('%s', %d)", n.host, n.port)); err != nil {
			return err
		}
	}
	return nil
}

func execOn(address, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address, Patience: ConnTimeout})
	if err != nil {
		return err
	}
	_, err = db.Conn(ctx).ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

// findNodes returns the nodes of the cluster, or nil without Citus.
func (c *cluster) findNodes(ctx context.Context) (nodes []node, err error) {
	if !isCitus() {
		return nil, nil
	}
	err = c.admin.QueryAll(ctx, sqldb.Query{
		Doing: "read nodes", Text: "SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid",
		Row: func(scan func(...any) error) error {
			var n node
			err := scan(&n.host, &n.port)
			nodes = append(nodes, n)
			return err
		},
	})
	return nodes, err
}

// distribute changes a migrated database as deploy/citus/distribute.sql does.
func (c *cluster) distribute(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	db, err := sqldb.Open(ctx, sqldb.Config{URL: c.urlOf(name), Patience: ConnTimeout})
	if err != nil {
		return err
	}
	if isCitus() {
		err = distribution.Apply(ctx, db, testShards)
	} else {
		_, err = Spread(ctx, db)
	}
	return errors.Join(err, db.Close())
}
