package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// A backup under load contains all usage that was acknowledged before the backup began, without
// duplicates and with correct counters. Recording never fails during the backup, and a server
// starts on the restored folder.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	address, folder, restored := freeAddress(t), t.TempDir(), t.TempDir()
	env := append(os.Environ(), "TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off")
	server := startWatched(t, append(env, "TENANTRY_ADDR="+address, "TENANTRY_DATA="+folder), address)
	r := &recorder{t: t, base: "http://" + address + "/api/v1"}
	r.logIn()
	load := startLoad(r)
	for round := range 3 {
		load.until(40)
		before := load.acknowledged()
		file := filepath.Join(t.TempDir(), "saved.db")
		succeed(t, env, folder, "backup", file)
		load.until(10) // recording continues after the backup
		data := filepath.Join(restored, fmt.Sprint(round))
		succeed(t, env, data, "restore", file)
		r.check(sqldb.FileURL(filepath.Join(data, "tenantry.db")), before)
	}
	load.stop()
	server.stop(t)
	again := freeAddress(t)
	startDev(t, append(env, "TENANTRY_ADDR="+again, "TENANTRY_DATA="+filepath.Join(restored, "2")), again).stop(t)
}

// succeed runs a command on a data folder and fails the test on an error.
func succeed(t *testing.T, env []string, folder string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tenantry", args...)
	cmd.Env = append(env, "TENANTRY_DATA="+folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// load records usage from several connections.
type load struct {
	r     *recorder
	ended chan struct{}
	wg    sync.WaitGroup

	mu    sync.Mutex
	grown *sync.Cond
	keys  []string
}

func startLoad(r *recorder) *load {
	l := &load{r: r, ended: make(chan struct{})}
	l.grown = sync.NewCond(&l.mu)
	for c := range 4 {
		l.wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-l.ended:
					return
				default:
				}
				key := fmt.Sprintf("load %d %d", c, i)
				status, err := r.record(key)
				if err != nil || status != http.StatusCreated {
					r.t.Errorf("recording: %d, %v", status, err)
					key = ""
				}
				l.mu.Lock()
				l.keys = append(l.keys, key)
				l.grown.Broadcast()
				l.mu.Unlock()
			}
		})
	}
	return l
}

// until waits for more responses.
func (l *load) until(more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for enough := len(l.keys) + more; len(l.keys) < enough; {
		l.grown.Wait()
	}
}

// acknowledged returns the keys that were acknowledged so far.
func (l *load) acknowledged() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := map[string]bool{}
	for _, key := range l.keys {
		if key != "" {
			keys[key] = true
		}
	}
	return keys
}

func (l *load) stop() {
	close(l.ended)
	l.wg.Wait()
}
