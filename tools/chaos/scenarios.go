//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// scenario is a set of faults that occur under load.
type scenario struct {
	name      string
	databases []string
	instances int   // number of instances of the service; 0 means 1
	may       []int // statuses that the fault can cause in addition to 503 and no response
	unnoticed bool  // whether all requests must succeed
	standby   bool  // whether PostgreSQL has a standby
	workers   int   // number of workers if PostgreSQL is the coordinator of a Citus cluster
	redis     bool  // whether Redis counts the rate limits
	disk      bool  // whether SQLite is on a small disk
	sandbox   bool  // whether the service runs with its sandbox, whose clock can be moved, and without payments
	faults    func(ctx context.Context, w *world) error
}

// both contains both databases.
var both = []string{sqlite, postgres}

// scenarios returns all scenarios.
func scenarios() []scenario {
	return []scenario{
		{name: "killed", databases: both, faults: killInstances},
		{name: "three instances with redis, one killed at a time", databases: []string{postgres}, instances: 3, redis: true, faults: killInstances},
		{name: "database restarted", databases: []string{postgres}, faults: restartDatabase("fast")},
		{name: "database crashed", databases: []string{postgres}, faults: restartDatabase("immediate")},
		{name: "worker crashed", databases: []string{postgres}, workers: 2, faults: crashWorkers},
		{name: "database frozen", databases: []string{postgres}, faults: freezeDatabase},
		{name: "fail-over, primary gone", databases: []string{postgres}, standby: true, instances: 2, faults: failOver(false)},
		{name: "fail-over, primary silent", databases: []string{postgres}, standby: true, instances: 2, faults: failOver(true)},
		{name: "disk full", databases: []string{sqlite}, disk: true, faults: fillDisk},
		{name: "redis away", databases: both, redis: true, unnoticed: true, faults: stopRedis},
		{name: "stripe away, slow, failing", databases: both, may: []int{http.StatusBadGateway, http.StatusTooManyRequests, http.StatusConflict}, faults: stopStripe},
		{name: "mail away", databases: both, unnoticed: true, faults: stopMail},
		{name: "clock steps", databases: both, sandbox: true, faults: clockSteps},
		{name: "slow clients", databases: both, unnoticed: true, faults: slowClients},
	}
}

// chance returns the random number generator of a scenario.
func (s scenario) chance(seed uint64, database string) *rand.Rand {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, database+" "+s.name)
	return rand.New(rand.NewPCG(seed, sum.Sum64())) //nolint:gosec // it has to be repeatable
}

// killInstances repeatedly kills an instance and restarts it.
func killInstances(ctx context.Context, w *world) error {
	for range w.repeatCount(5) {
		w.pause(ctx, 500*time.Millisecond, 3*time.Second)
		i := w.instances[w.chance.IntN(len(w.instances))]
		i.kill()
		w.pause(ctx, 0, time.Second)
		if err := w.release(ctx); err != nil {
			return err
		}
		if err := i.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// restartDatabase stops and restarts PostgreSQL.
func restartDatabase(mode string) func(ctx context.Context, w *world) error {
	return func(ctx context.Context, w *world) error {
		for n := range w.repeatCount(4) {
			w.pause(ctx, 500*time.Millisecond, 2*time.Second)
			if err := w.primary.stop(ctx, mode); err != nil {
				return err
			}
			if n%2 == 0 {
				w.away(ctx)
			}
			w.pause(ctx, 0, 2*time.Second)
			if err := w.primary.start(ctx); err != nil {
				return err
			}
			if err := w.back(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// crashWorkers crashes and restarts a worker of a Citus cluster. Requests for tenants on the other
// worker can succeed meanwhile.
func crashWorkers(ctx context.Context, w *world) error {
	for range w.repeatCount(4) {
		w.pause(ctx, 500*time.Millisecond, 2*time.Second)
		if err := w.crashWorker(ctx); err != nil {
			return err
		}
		if err := w.back(ctx); err != nil {
			return err
		}
	}
	return nil
}

// freezeDatabase suspends and resumes the processes of PostgreSQL.
func freezeDatabase(ctx context.Context, w *world) error {
	for n := range w.repeatCount(4) {
		w.pause(ctx, 500*time.Millisecond, 2*time.Second)
		if err := w.primary.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		if n%2 == 0 {
			w.away(ctx)
		}
		w.pause(ctx, 200*time.Millisecond, 4*time.Second)
		if err := w.primary.signal(syscall.SIGCONT); err != nil {
			return err
		}
		if err := w.back(ctx); err != nil {
			return err
		}
	}
	return nil
}

// failOver stops the primary, or freezes it with all connections open, and promotes the standby.
func failOver(silent bool) func(ctx context.Context, w *world) error {
	return func(ctx context.Context, w *world) error {
		w.pause(ctx, 2*time.Second, 4*time.Second)
		if silent {
			if err := w.primary.signal(syscall.SIGSTOP); err != nil {
				return err
			}
		} else if err := w.primary.stop(ctx, "immediate"); err != nil {
			return err
		}
		w.away(ctx)
		w.pause(ctx, 0, time.Second)
		if err := w.standby.promote(ctx); err != nil {
			return err
		}
		if err := w.back(ctx); err != nil {
			return err
		}
		w.pause(ctx, 4*time.Second, 6*time.Second)
		return nil
	}
}

// fillDisk fills the disk of SQLite's file and then frees it.
func fillDisk(ctx context.Context, w *world) error {
	i := w.instances[0]
	ballast := fmt.Sprintf("/proc/%d/root%s", i.cmd.Process.Pid, filepath.Join(w.dir, "database", "ballast"))
	for range w.repeatCount(2) {
		w.pause(ctx, time.Second, 2*time.Second)
		if err := fillUp(ballast); err != nil {
			return err
		}
		refused := func() bool {
			a := w.load.do(ctx, http.MethodPatch, api+"/tenant", w.load.owners[0].token, fields{"name": "Ada's"})
			return a.status == http.StatusServiceUnavailable && a.textAt("code") == string(fault.StorageFull)
		}
		if !w.load.retry(ctx, refused) { // SQLite reuses free space in its file first
			w.load.recordFault("no request was rejected with storage_full on a full disk")
		}
		for path, want := range map[string]int{"/readyz": 503, api + "/auth/me": 200, api + "/catalog/plans": 200} {
			if status, text := getURL(ctx, w.load.http, "http://"+i.address.String()+path, w.load.owners[0].token); status != want {
				w.load.recordFault("%s with a full disk: %d, want %d: %s", path, status, want, text)
			}
		}
		w.pause(ctx, time.Second, 3*time.Second)
		if err := os.Remove(ballast); err != nil {
			return err
		}
		if err := w.waitForRecovery(ctx, func() bool {
			return w.load.do(ctx, http.MethodPatch, api+"/tenant", w.load.owners[0].token, fields{"name": "Ada"}).isOK()
		}); err != nil {
			return err
		}
	}
	return nil
}

// stopRedis kills Redis, and then freezes it.
func stopRedis(ctx context.Context, w *world) error {
	for range w.repeatCount(2) {
		w.pause(ctx, time.Second, 2*time.Second)
		w.redis.kill()
		w.pause(ctx, time.Second, 4*time.Second)
		if err := w.redis.start(ctx); err != nil {
			return err
		}
		w.pause(ctx, time.Second, 2*time.Second)
		if err := w.redis.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		w.pause(ctx, time.Second, 4*time.Second)
		if err := w.redis.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
	}
	return nil
}

// stopStripe makes the provider unreachable, then slow, then failing in several ways.
func stopStripe(ctx context.Context, w *world) error {
	w.pause(ctx, time.Second, 2*time.Second)
	w.provider.away.Store(true)
	w.pause(ctx, 2*time.Second, 5*time.Second)
	w.provider.away.Store(false)
	w.pause(ctx, time.Second, 2*time.Second)
	w.provider.slow.Store(int64(3 * time.Second))
	w.pause(ctx, 3*time.Second, 6*time.Second)
	w.provider.slow.Store(0)
	for _, calls := range []map[string]any{
		{"fail_after": 0.5, "status": 500},
		{"fail_before": 0.3, "fail_after": 0.2, "timeout_after": 0.2, "rate_limit": 0.1, "timeout_ms": 1000, "status": 500},
		{"fail_after": 1, "status": 0},
	} {
		err := w.provider.setChaos(ctx, map[string]any{
			"api": calls, "seed": w.chance.Uint32(), "webhooks": map[string]any{"drop": 0.1, "duplicate": 0.3, "reorder": 0.3},
		})
		if err != nil {
			return err
		}
		w.pause(ctx, 3*time.Second, 5*time.Second)
	}
	return w.provider.setChaos(ctx, nil)
}

// stopMail stops the mail server for some time.
func stopMail(ctx context.Context, w *world) error {
	for range w.repeatCount(2) {
		w.pause(ctx, time.Second, 2*time.Second)
		if err := w.mail.leave(); err != nil {
			return err
		}
		w.pause(ctx, time.Second, 4*time.Second)
		if err := w.mail.back(ctx); err != nil {
			return err
		}
	}
	return nil
}

// clockSteps moves the service's clock forward, and backward during a restart.
func clockSteps(ctx context.Context, w *world) error {
	for _, step := range []time.Duration{time.Minute, time.Hour, 26 * time.Hour, 20 * 24 * time.Hour} {
		w.pause(ctx, time.Second, 2*time.Second)
		step += time.Duration(w.chance.Int64N(int64(step)))
		if a := w.load.do(ctx, http.MethodPost, "/sandbox/clock", "", fields{"advance": step.String()}); !a.isOK() {
			return fmt.Errorf("the clock was not moved: %d %s", a.status, a.body)
		}
	}
	i := w.instances[0]
	for range w.repeatCount(2) {
		w.pause(ctx, time.Second, 2*time.Second)
		i.kill() // while it has jobs, whose leases end far in the future
		file := filepath.Join(w.dir, "data-0", "sandbox.db")
		back := time.Duration(w.chance.Int64N(int64(10 * 24 * time.Hour)))
		err := w.exec(ctx, sqldb.FileURL(file), "sandbox_settings",
			`UPDATE sandbox_settings SET value = value - $1 WHERE key = 'clock_offset'`, int64(back))
		if err != nil {
			return err
		}
		if err := i.start(ctx); err != nil {
			return err
		}
	}
	w.pause(ctx, time.Second, 2*time.Second)
	return nil
}

// slowClients opens connections that send or read hardly any data.
func slowClients(ctx context.Context, w *world) error {
	o, i := w.load.owners[0], w.instances[0]
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close() // the service may have closed it
		}
	}()
	for n := range 300 {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", i.address.String())
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		head := "POST " + o.path("/usage") + " HTTP/1.1\r\nHost: chaos.test\r\nContent-Type: application/json\r\nAuthorization: Bearer " + o.token + "\r\n"
		switch n % 3 {
		case 0: // an incomplete header
		case 1: // an incomplete body
			head += "Content-Length: 1000\r\n\r\n{"
		case 2: // a long response that is not read
			head = strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: chaos.test\r\n\r\n", 50)
		}
		if _, err := io.WriteString(conn, head); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE) {
			return err
		}
		if n%3 == 1 {
			go func() {
				for ctx.Err() == nil {
					time.Sleep(time.Second)
					if _, err := io.WriteString(conn, " "); err != nil {
						return
					}
				}
			}()
		}
	}
	w.pause(ctx, 8*time.Second, 12*time.Second)
	return nil
}

// waitForRecovery waits until well returns true and records the recovery time.
func (w *world) waitForRecovery(ctx context.Context, well func() bool) error {
	began := now()
	if !w.load.retry(ctx, well) {
		return errors.New("the service did not recover")
	}
	w.recovered = append(w.recovered, now().Sub(began))
	return nil
}

// newSandboxMails returns the number of mails in the sandbox's mailbox.
func newSandboxMails(ctx context.Context, address string) (map[letter]int, error) {
	status, text := getURL(ctx, http.DefaultClient, "http://"+address+"/sandbox/mail/messages", "")
	var box struct {
		Data []struct{ To, Subject string }
	}
	if err := json.Unmarshal([]byte(text), &box); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("the mailbox: %d %s", status, text)
	}
	found := map[letter]int{}
	for _, m := range box.Data {
		found[letter{m.To, m.Subject}]++
	}
	return found, nil
}
