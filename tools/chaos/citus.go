//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// citusSettings are settings of a server of a Citus cluster.
const citusSettings = "shared_preload_libraries = 'citus'\nmax_prepared_transactions = 200\ncitus.node_conninfo = 'sslmode=disable'\n"

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

// startWorkers starts the workers and makes a cluster of them and the primary.
func (w *world) startWorkers(ctx context.Context) error {
	for n := range w.scenario.workers {
		worker, err := newServer(filepath.Join(w.dir, fmt.Sprintf("worker-%d", n)))
		if err != nil {
			return err
		}
		w.workers = append(w.workers, worker)
		if err := worker.initialize(ctx, false); err != nil {
			return err
		}
		if err := worker.configure(citusSettings); err != nil {
			return err
		}
		if err := worker.start(ctx); err != nil {
			return err
		}
		if err := execOn(ctx, worker, "CREATE EXTENSION citus"); err != nil {
			return err
		}
	}
	p := w.primary.address
	err := execOn(ctx, w.primary, "CREATE EXTENSION citus", fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %d)", p.Addr(), p.Port()))
	for _, worker := range w.workers {
		if err == nil {
			err = execOn(ctx, w.primary, fmt.Sprintf("SELECT citus_add_node('%s', %d)", worker.address.Addr(), worker.address.Port()))
		}
	}
	return err
}

// execOn runs statements on a server.
func execOn(ctx context.Context, s *server, statements ...string) error {
	db, err := sqldb.Open(ctx, sqldb.Config{URL: databaseURL(s)})
	if err != nil {
		return err
	}
	for _, text := range statements {
		if err == nil {
			_, err = db.Conn(ctx).ExecContext(ctx, text)
		}
	}
	return errors.Join(err, db.Close())
}
