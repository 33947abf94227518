package usage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/client/api"
	"github.com/tenantry/tenantry/client/usage"
)

// A journal keeps events that the service has not accepted, and drops accepted events.
func TestJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "usage.journal")
	down := newService()
	down.before = func(int, []api.UsageEventInput) error { return errors.New("down") }
	r := start(t, down, usage.Options{Journal: path})
	for i := range 100 {
		record(t, r, event(fmt.Sprintf("%03d", i)))
	}
	if _, err := usage.NewRecorder(down, usage.Options{Journal: path}); err == nil {
		t.Error("two recorders opened the same journal")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Close(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Close returned %v", err)
	}
	up := newService()
	r = start(t, up, usage.Options{Journal: path})
	record(t, r, event("next"))
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(up.order) != 101 || !slices.IsSorted(up.order) {
		t.Errorf("%d events were sent after the restart: %v", len(up.order), up.order)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) != 0 {
		t.Errorf("journal contains %q, %v", text, err)
	}
	r = start(t, up, usage.Options{Journal: path})
	if r.Waiting() != 0 {
		t.Errorf("%d events are pending with an empty journal", r.Waiting())
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// An incomplete last line was never accepted. Other damage is reported.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	line := `{"event":{"tenant":"t","meter":"m","key":"k","at":"2026-01-01T00:00:00Z"}}` + "\n"
	for name, tt := range map[string]struct {
		text  string
		sends int // -1: it cannot be opened
	}{
		"torn":     {line + line[:20], 1},
		"garbage":  {line + "garbage\n" + line, -1},
		"twice":    {line + line, 1},
		"settled":  {line + `{"done":["t\u0000m\u0000k"]}` + "\n", 0},
		"no lines": {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := newService()
			r, err := usage.NewRecorder(s, usage.Options{Journal: path})
			if (err != nil) != (tt.sends < 0) {
				t.Fatalf("opening: %v", err)
			}
			if err != nil {
				return
			}
			if err := r.Close(t.Context()); err != nil || s.count() != tt.sends {
				t.Errorf("%v, %d sent, want %d", err, s.count(), tt.sends)
			}
		})
	}
}

// The journal does not grow without limit.
func TestJournalIsCompacted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := newService()
	r := start(t, s, usage.Options{Journal: path, Interval: time.Millisecond})
	var all sync.WaitGroup
	for w := range 32 {
		all.Go(func() {
			for i := range 100 {
				e := event(fmt.Sprintf("%d-%d", w, i))
				e.Metadata = map[string]any{"text": strings.Repeat("x", 4000)}
				if err := r.Record(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 9<<20 {
		t.Errorf("after 13 MB of events, the journal has %d bytes, %v", info.Size(), err)
	}
	if err := r.Close(t.Context()); err != nil || s.count() != 3200 {
		t.Errorf("%v, %d counted", err, s.count())
	}
}

const killedVariable = "TENANTRY_TEST_KILLED_JOURNAL"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedVariable); path != "" {
		recordUntilKilled(path)
	}
	os.Exit(m.Run())
}

// recordUntilKilled prints A and the key of each accepted event, and S and the key of each event
// that the service has stored.
func recordUntilKilled(path string) {
	var out sync.Mutex
	say := func(what string) {
		out.Lock()
		defer out.Unlock()
		_, _ = os.Stdout.WriteString(what + "\n")
	}
	s := newService()
	s.before = func(n int, events []api.UsageEventInput) error {
		if n%2 == 0 {
			return errors.New("down")
		}
		for _, e := range events {
			say("S " + e.IdempotencyKey.MustGet())
		}
		return nil
	}
	r, err := usage.NewRecorder(s, usage.Options{Journal: path, Queue: 1 << 20, Interval: 5 * time.Millisecond})
	if err != nil {
		panic(err)
	}
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				key := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				if err := r.Record(context.Background(), event(key)); err != nil {
					panic(err)
				}
				say("A " + key)
			}
		}()
	}
	select {}
}

// Every event that was accepted before the process is killed is sent, either by that process or
// after the next start.
func TestKilled(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	accepted, sent := map[string]bool{}, map[string]bool{}
	for range 5 {
		process := exec.CommandContext(t.Context(), os.Args[0])
		process.Env = append(os.Environ(), killedVariable+"="+path)
		out, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		lines, until := bufio.NewScanner(out), 50+rand.IntN(500)
		for n := 0; lines.Scan(); n++ {
			kind, key, whole := strings.Cut(lines.Text(), " ")
			switch {
			case whole && kind == "A":
				accepted[key] = true
			case whole && kind == "S":
				sent[key] = true
			}
			if n == until {
				if err := process.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := process.Wait(); err == nil || process.ProcessState.ExitCode() != -1 {
			t.Fatalf("process was not killed: %v", err)
		}
	}
	before := len(sent)
	s := newService()
	r := start(t, s, usage.Options{Journal: path})
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, key := range s.order {
		sent[key] = true
	}
	for key := range accepted {
		if !sent[key] {
			t.Fatalf("the accepted event %s was lost", key)
		}
	}
	if len(accepted) < 100 {
		t.Fatalf("only %d events were accepted", len(accepted))
	}
	t.Logf("%d accepted, %d sent before the processes were killed, %d after the last start", len(accepted), before, len(s.order))
}
