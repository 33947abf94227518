package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
)

// While the disk of the database is full, writes fail with an error code, reads work, and the
// service is not ready. It recovers when there is free space again.
func TestTheDiskIsFull(t *testing.T) {
	t.Parallel()
	attr := mayMount(t)
	address, folder := freeAddress(t), t.TempDir()
	env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+t.TempDir(),
		"TENANTRY_DATABASE_URL="+sqldb.FileURL(filepath.Join(folder, "t.db")), "TENANTRY_LOG_LEVEL=error", "TENANTRY_RATE_LIMITS=off")
	// The program gets a 32 MiB file system in its own mount namespace, which ends with the
	// program.
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `mount -t tmpfs -o size=32m tmpfs "$1" && exec tenantry dev`, "sh", folder)
	cmd.SysProcAttr = attr
	server := startCommand(t, cmd, env, address)
	r := &recorder{t: t, base: "http://" + address + "/api/v1"}
	r.logIn()
	wantStored := func(key string) {
		t.Helper()
		if status, err := r.record(key); err != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d, %v", key, status, err)
		}
	}
	wantStored("before")
	ballast := fmt.Sprintf("/proc/%d/root%s/ballast", server.cmd.Process.Pid, folder)
	fill(t, ballast)
	full := 0
	for i := 0; full < 20 && i < 20_000; i++ { // SQLite first reuses free pages
		switch status, err := r.record(fmt.Sprint("full ", i)); {
		case err != nil:
			t.Fatal(err)
		case status == http.StatusServiceUnavailable:
			full++
		case status != http.StatusCreated:
			t.Fatalf("recording answered %d", status)
		}
	}
	if full < 20 {
		t.Fatal("the disk was never full")
	}
	if ready(t, address) {
		t.Error("ready with a full disk")
	}
	for path, want := range map[string]string{
		"/tenant/" + r.tenant + "/usage/quotas": `"api-calls"`,
		"/auth/me":                              r.tenant,
		"/catalog/plans":                        `"slug"`,
	} {
		if text := r.get(path); !strings.Contains(text, want) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if text := r.post("/tenant/"+r.tenant+"/usage", `{"meter_code":"api-calls"}`); !strings.Contains(text, `"code":"storage_full"`) {
		t.Errorf("rejected with %s", text)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for i := 0; !ready(t, address); i++ {
		if i == 100 {
			t.Fatal("not ready with room")
		}
	}
	wantStored("after")
	server.stop(t)
}

// mayMount returns the attributes of a process that can mount a file system in its own namespace.
// It skips t if the system does not allow that.
func mayMount(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		// A tmpfs can only create files for mapped users and groups.
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	try := exec.CommandContext(t.Context(), testkit.Program(t, "mount"), "-t", "tmpfs", "-o", "size=1m", "tmpfs", t.TempDir())
	try.SysProcAttr = attr
	if output, err := try.CombinedOutput(); err != nil {
		testkit.Skip(t, "mount", fmt.Errorf("%w: %s", err, output))
	}
	return attr
}

// fill writes to a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 1; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func (r *recorder) get(path string) string { return r.ask(http.MethodGet, path, "") }

func (r *recorder) post(path, body string) string { return r.ask(http.MethodPost, path, body) }

// ask makes a request and returns the response body.
func (r *recorder) ask(method, path, body string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}
