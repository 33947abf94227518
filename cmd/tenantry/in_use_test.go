package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Only one process can serve from a data folder. A second one prints the folder and exits. Commands
// that only use the database can run at the same time.
func TestTheDataFolderIsServedByOne(t *testing.T) {
	t.Parallel()
	address, folder := freeAddress(t), t.TempDir()
	env := append(os.Environ(), "TENANTRY_DATA="+folder, "TENANTRY_LOG_LEVEL=error")
	server := startDev(t, append(env, "TENANTRY_ADDR="+address), address)
	run := func(args ...string) (string, int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "tenantry", args...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		exit, failed := errors.AsType[*exec.ExitError](err)
		if err != nil && !failed {
			t.Fatal(err)
		}
		if failed {
			return string(out), exit.ExitCode()
		}
		return string(out), 0
	}
	out, code := run("dev", "--addr", freeAddress(t))
	if code != 1 || !strings.Contains(out, "data folder "+folder+" is in use") {
		t.Errorf("a second process: %d %s", code, out)
	}
	if out, code := run("dev", "--addr", address, "--data", t.TempDir()); code != 1 || !strings.Contains(out, "address already in use") || !strings.Contains(out, "--addr") {
		t.Errorf("a second process at the same address: %d %s", code, out)
	}
	backup := filepath.Join(t.TempDir(), "saved.db")
	for _, beside := range [][]string{{"admin", "list"}, {"backup", backup}, {"doctor"}} {
		if out, code := run(beside...); code != 0 {
			t.Errorf("%s while the server runs: %d %s", beside, code, out)
		}
	}
	if out, code := run("restore", "--force", backup); code != 1 || !strings.Contains(out, "data folder "+folder+" is in use") {
		t.Errorf("a restore while the server runs: %d %s", code, out)
	}
	server.stop(t)
	if out, code := run("restore", "--force", backup); code != 0 {
		t.Errorf("a restore: %d %s", code, out)
	}
	again := freeAddress(t)
	startDev(t, append(env, "TENANTRY_ADDR="+again), again).stop(t)
}
