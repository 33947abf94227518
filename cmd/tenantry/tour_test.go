package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// The commands of the quick start work unchanged with the real program: once without interruption,
// and once with the program killed and restarted between steps.
func TestTour(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "sed"} {
		testkit.Program(t, program)
	}
	steps := tourSteps(t)
	for _, dialect := range dbtest.Dialects(t) {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s killed=%t", dialect, killed), func(t *testing.T) {
				t.Parallel()
				tour(t, steps, dialect, killed)
			})
		}
	}
}

// tourSteps returns the shell blocks of the quick start that are marked as the tour.
func tourSteps(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/quick-start.md")
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, block := range regexp.MustCompile("(?s)```sh tour\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		steps = append(steps, block[1])
	}
	if len(steps) < 7 {
		t.Fatalf("the quick start has only %d steps of the tour", len(steps))
	}
	return steps
}

func tour(t *testing.T, steps []string, dialect sqldb.Dialect, killed bool) {
	address := freeAddress(t)
	env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(),
		"TENANTRY_DATABASE_URL="+dbtest.URL(t, dialect), "TENANTRY_LOG_LEVEL=warn")
	server := startDev(t, env, address)
	shell := startShell(t, append(os.Environ(), "API=http://"+address+"/api/v1"))
	var output strings.Builder
	for _, step := range steps {
		output.WriteString(shell.run(t, step))
		if killed {
			server.kill(t)
			server = startDev(t, env, address)
		}
	}
	if !killed { // the tour can be repeated
		for _, step := range steps {
			output.WriteString(shell.run(t, step))
		}
	}
	for _, want := range []string{
		`tenant [0-9a-f-]{36}\n`, `plan [0-9a-f-]{36}\n`, `paid: 303\n`, `"status":"active"`,
		`first: 201\nagain: 409\n`, `"code":"QUOTA_EXCEEDED"`, `over: 429\n`,
		`"meter_code":"api-calls".*"current_usage":1000,"reserved":0,"quota_limit":1000`,
	} {
		if n := len(regexp.MustCompile(want).FindAllString(output.String(), -1)); n == 0 || !killed && n < 2 {
			t.Errorf("the tour prints %s %d times:\n%s", want, n, &output)
		}
	}
	server.stop(t)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// running is a running program.
type running struct {
	cmd    *exec.Cmd
	stderr strings.Builder
}

// startDev starts `tenantry dev` and waits until it is ready.
func startDev(t *testing.T, env []string, address string) *running {
	t.Helper()
	return startCommand(t, exec.CommandContext(t.Context(), "tenantry", "dev"), env, address)
}

// startWatched is startDev for the program of watched.
func startWatched(t *testing.T, env []string, address string) *running {
	t.Helper()
	return startCommand(t, exec.CommandContext(t.Context(), watched, "dev"), env, address)
}

// startCommand starts a command that runs the program, and waits until the program is ready.
func startCommand(t *testing.T, cmd *exec.Cmd, env []string, address string) *running {
	t.Helper()
	r := &running{cmd: cmd}
	r.cmd.Env = env
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stderr of the program:\n%s", &r.stderr)
		}
	})
	testkit.Eventually(t, "the start of the program", func() bool { return ready(t, address) })
	return r
}

func ready(t *testing.T, address string) bool {
	t.Helper()
	return answers(t, address, "/readyz")
}

// answers reports whether a program responds to a path with 200.
func answers(t *testing.T, address, path string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// kill ends the program like a power failure.
func (r *running) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = r.cmd.Wait()
}

// stop stops the program and checks that it exits with 0 within a short time.
func (r *running) stop(t *testing.T) {
	t.Helper()
	began := clock.System().Now()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, &r.stderr)
	}
	if took := clock.System().Now().Sub(began); took > 30*time.Second {
		t.Errorf("it took %s to stop", took)
	}
}

// shell is a bash process. Steps share its variables.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

func startShell(t *testing.T, env []string) *shell {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash")
	cmd.Env = env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &shell{in, bufio.NewReader(out)}
}

// run runs a step and returns its output.
func (s *shell) run(t *testing.T, step string) string {
	t.Helper()
	const end = "=== end of the step ==="
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s\\n'\n", step, end); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if strings.TrimSpace(line) == end {
			return printed.String()
		}
		printed.WriteString(line)
		if err != nil {
			t.Fatalf("the shell ended: %v\n%s", err, &printed)
		}
	}
}
