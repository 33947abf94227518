package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The health command exits with 0 if the service is ready, and with 1 if it is not ready or not
// reachable.
func TestHealth(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	health := func(address string) (string, int) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "tenantry", "health")
		cmd.Env = append(os.Environ(), "TENANTRY_ADDR="+address)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := health(address); code != exitFailed {
		t.Errorf("no server: %d %s", code, out)
	}
	if out, code := health("nonsense"); code != exitMisused {
		t.Errorf("a wrong address: %d %s", code, out)
	}
	server := startDev(t, append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(), "TENANTRY_LOG_LEVEL=error"), address)
	for _, listening := range []string{address, "0.0.0.0:" + port, ":" + port} {
		if out, code := health(listening); code != exitOK || out != "{\"message\":\"ready\"}\n" {
			t.Errorf("%s: %d %s", listening, code, out)
		}
	}
	server.stop(t)
}
