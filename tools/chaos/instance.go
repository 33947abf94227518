//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// instance is a program that listens on an address, such as the service. It can be killed and
// restarted.
type instance struct {
	binary  string
	args    []string
	env     []string
	address netip.AddrPort
	ready   string // a path that responds with 200 when the program is ready
	raw     bool   // not an HTTP server: it is ready when it accepts connections
	log     string // path of the log file
	attr    *syscall.SysProcAttr
	prepare string // shell command that runs before the program; see useDisk

	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd ends
}

// errEnded is returned if a program ended unexpectedly.
var errEnded = errors.New("the program exited")

// start starts the program and waits until it is ready.
func (i *instance) start(ctx context.Context) error {
	log, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the program has its own descriptor
	program, args := i.binary, i.args
	if i.prepare != "" {
		program, args = "/bin/sh", append([]string{"-c", i.prepare + ` && exec "$0" "$@"`, i.binary}, i.args...)
	}
	i.cmd = exec.CommandContext(ctx, program, args...)
	i.cmd.Env, i.cmd.Dir = append(os.Environ(), i.env...), filepath.Dir(i.log)
	i.cmd.Stdout, i.cmd.Stderr, i.cmd.SysProcAttr = log, log, i.attr
	if err := i.cmd.Start(); err != nil {
		return err
	}
	ended, cmd := make(chan struct{}), i.cmd
	i.ended = ended
	go func() {
		_ = cmd.Wait() // its log shows how it ended
		close(ended)
	}()
	return i.await(ctx)
}

// await waits until the program is ready.
func (i *instance) await(ctx context.Context) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}
	for began := clock.System().Now(); clock.System().Now().Sub(began) < time.Minute; {
		if i.isHealthy(ctx, client) {
			return nil
		}
		select {
		case <-i.ended:
			return fmt.Errorf("%w: %s %s:\n%s", errEnded, i.binary, strings.Join(i.args, " "), i.lastLines())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s did not get ready:\n%s", i.binary, i.lastLines())
}

func (i *instance) isHealthy(ctx context.Context, client *http.Client) bool {
	if i.raw {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", i.address.String())
		return err == nil && conn.Close() == nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+i.address.String()+i.ready, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (i *instance) lastLines() string {
	text, _ := os.ReadFile(i.log)
	return string(text[max(0, len(text)-2000):])
}

// kill ends the program with SIGKILL.
func (i *instance) kill() {
	if i.cmd == nil {
		return
	}
	_ = i.cmd.Process.Kill()
	<-i.ended
}

// stop ends the program with SIGTERM.
func (i *instance) stop() {
	if i.cmd == nil {
		return
	}
	_ = i.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-i.ended:
	case <-time.After(40 * time.Second):
		i.kill()
	}
}
