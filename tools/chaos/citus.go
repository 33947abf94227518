//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// citusSettings are settings of a server of a Citus cluster.
const citusSettings = "shared_preload_libraries = 'citus'\nmax_prepared_transactions = 200\ncitus.node_conninfo = 'sslmode=disable'\n" +
	"citus.recover_2pc_interval = 1s\n"

// errNoCitus is returned if Citus is not installed.
var errNoCitus = errors.New("the extension citus is not installed")

// requireCitus returns errNoCitus if the server cannot load Citus.
func requireCitus(s *server) error {
	for _, folder := range []string{"../lib", "../lib/postgresql"} {
		if _, err := os.Stat(filepath.Join(s.bin, folder, "citus.so")); err == nil {
			return nil
		}
	}
	return errNoCitus
}

// node is a server of a Citus cluster. The first node is the coordinator.
type node struct {
	host string
	port int
}

// in returns the URL of a database on the node.
func (n node) in(coordinator, database string) (string, error) {
	u, err := url.Parse(coordinator)
	if err != nil {
		return "", err
	}
	query := u.Query()
	query.Set("host", n.host)
	query.Set("port", strconv.Itoa(n.port))
	u.Host, u.Path, u.RawQuery = "", "/"+database, query.Encode()
	return u.String(), nil
}

// startWorkers starts the workers and joins them with the primary into a cluster.
func (w *world) startWorkers(ctx context.Context) error {
	w.url = databaseURL(w.primary)
	w.nodes = []node{{w.primary.address.Addr().String(), int(w.primary.address.Port())}}
	for n := range w.scenario.workers {
		worker, err := newServer(filepath.Join(w.dir, fmt.Sprintf("worker-%d", n)))
		if err != nil {
			return err
		}
		w.workers = append(w.workers, worker)
		w.nodes = append(w.nodes, node{worker.address.Addr().String(), int(worker.address.Port())})
		if err := worker.initialize(ctx, false); err != nil {
			return err
		}
		if err := worker.configure(citusSettings); err != nil {
			return err
		}
		if err := worker.start(ctx); err != nil {
			return err
		}
	}
	return w.connectNodes(ctx, superuser)
}

// joinCluster creates a database on the cluster of the coordinator at w.citus.
func (w *world) joinCluster(ctx context.Context) error {
	admin, err := sqldb.Open(ctx, sqldb.Config{URL: w.citus})
	if err != nil {
		return err
	}
	err = admin.QueryAll(ctx, sqldb.Query{
		Doing: "read nodes", Text: "SELECT nodename, nodeport FROM pg_dist_node WHERE noderole = 'primary' ORDER BY groupid",
		Row: func(scan func(...any) error) error {
			var n node
			err := scan(&n.host, &n.port)
			w.nodes = append(w.nodes, n)
			return err
		},
	})
	if err = errors.Join(err, admin.Close()); err != nil || len(w.nodes) < 2 {
		return errors.Join(err, errNoCitus)
	}
	w.joined = "tenantry_chaos_" + strings.ReplaceAll(sqldb.NewID().String(), "-", "")
	for _, n := range w.nodes {
		for _, statement := range []string{"CREATE DATABASE " + w.joined, "ALTER DATABASE " + w.joined + " SET synchronous_commit TO on"} {
			if err := w.execOn(ctx, n, superuser, statement); err != nil {
				return err
			}
		}
	}
	if w.url, err = w.nodes[0].in(w.citus, w.joined); err != nil {
		return err
	}
	return w.connectNodes(ctx, w.joined)
}

// leaveCluster removes the database that joinCluster created.
func (w *world) leaveCluster() error {
	if w.joined == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	for _, n := range w.nodes {
		err = errors.Join(err, w.execOn(ctx, n, superuser, "DROP DATABASE "+w.joined+" WITH (FORCE)"))
	}
	return err
}

// connectNodes installs Citus in a database of every node and connects the nodes.
func (w *world) connectNodes(ctx context.Context, database string) error {
	for _, n := range w.nodes {
		if err := w.execOn(ctx, n, database, "CREATE EXTENSION citus"); err != nil {
			return err
		}
	}
	for i, n := range w.nodes {
		call := "SELECT citus_add_node('%s', %d)"
		if i == 0 {
			call = "SELECT citus_set_coordinator_host('%s', %d)"
		}
		if err := w.execOn(ctx, w.nodes[0], database, fmt.Sprintf(call, n.host, n.port)); err != nil {
			return err
		}
	}
	return nil
}

// A worker has this many tries, with a pause before each, to recover from a crash.
const (
	recoveryTries = 3000
	recoveryPause = 20 * time.Millisecond
)

// crashWorker crashes a worker and returns when the worker is back. If this run has started the
// worker, it stays stopped for a time. On a given cluster, crashWorker kills one process of the
// worker, so that PostgreSQL ends all other processes and recovers as after a crash.
func (w *world) crashWorker(ctx context.Context) error {
	i := w.chance.IntN(len(w.nodes) - 1)
	if w.joined != "" {
		_ = w.execOn(ctx, w.nodes[1+i], w.joined, `COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'`) // the connection is lost
		for range recoveryTries {
			w.pause(ctx, recoveryPause, recoveryPause)
			if w.execOn(ctx, w.nodes[1+i], w.joined, "SELECT 1") == nil {
				return nil
			}
		}
		return errors.New("the worker did not recover within a minute")
	}
	if err := w.workers[i].stop(ctx, "immediate"); err != nil {
		return err
	}
	w.pause(ctx, 0, 2*time.Second)
	return w.workers[i].start(ctx)
}

// execOn runs a statement in a database of a node.
func (w *world) execOn(ctx context.Context, n node, database, statement string) error {
	address, err := n.in(cmp.Or(w.citus, w.url), database)
	if err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, sqldb.Config{URL: address})
	if err != nil {
		return err
	}
	_, err = db.Conn(ctx).ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}
