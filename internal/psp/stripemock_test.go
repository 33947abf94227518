package psp_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit"
)

// mockModule is the pinned version of the mock. It describes a later API version than psp uses, but
// in the same major release, in which versions only add to the API.
const mockModule = "github.com/stripe/stripe-mock@v0.203.0"

// startTimeout limits how long the mock reads the API description.
const startTimeout = 60 * time.Second

// stripeMock starts Stripe's own mock for the duration of the test and returns its base URL. The
// mock validates every request against the provider's published API description and returns
// examples.
//
// The program is built from its module on first use and stored in the user's cache directory.
func stripeMock(t *testing.T) string {
	t.Helper()
	program, err := buildStripeMock(t)
	if err != nil {
		testkit.Skip(t, "stripe-mock", err)
	}
	address, err := startStripeMock(t, program)
	if err != nil {
		t.Fatalf("stripe-mock: %v", err)
	}
	return "http://" + address
}

// buildStripeMock returns the path of the program. Several test processes can build concurrently:
// each builds in its own directory, and a rename moves the result into place atomically.
func buildStripeMock(t *testing.T) (string, error) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "tenantry-test")
	_, version, _ := strings.Cut(mockModule, "@")
	program := filepath.Join(dir, "stripe-mock-"+version)
	name := "stripe-mock"
	if runtime.GOOS == "windows" {
		program, name = program+".exe", name+".exe"
	}
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dir, "build-") //nolint:usetesting // a rename needs the same file system
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }()
	cmd := exec.CommandContext(t.Context(), "go", "install", mockModule)
	cmd.Dir = tmp
	cmd.Env = append(cmd.Environ(), "GOBIN="+tmp, "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install %s: %w: %s", mockModule, err, out)
	}
	return program, os.Rename(filepath.Join(tmp, name), program)
}

// startStripeMock runs the program on ports that the system chooses and returns the address that it
// prints.
func startStripeMock(t *testing.T, program string) (string, error) {
	t.Helper()
	cmd := exec.Command(program, "-http-addr", "127.0.0.1:", "-https-addr", "127.0.0.1:")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	found := make(chan string, 1)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "HTTP at address: "); ok {
				found <- address
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-finished
		_ = cmd.Wait()
	})
	select {
	case address := <-found:
		return address, nil
	case <-finished:
		return "", fmt.Errorf("%s ended before it listened", filepath.Base(program))
	case <-time.After(startTimeout):
		return "", fmt.Errorf("%s does not listen", filepath.Base(program))
	}
}
