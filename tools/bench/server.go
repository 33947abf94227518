//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/limit"
)

// child is a server in its own process.
type child struct {
	cmd     *exec.Cmd
	address netip.AddrPort
	log     chan string // receives the last log lines when the process ends
	// startup is the time from the start until the server was ready.
	startup time.Duration
}

// startService starts the service as in production, with rate limits that count requests and with
// logging. No request leaves the machine: outgoing requests fail at a nonexistent proxy.
func startService(ctx context.Context, binary, databaseURL, data string, env ...string) (*child, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "serve", "--addr", address.String(), "--data", data, "--rate-limits", generousLimits)
	cmd.Env = append(os.Environ(),
		"TENANTRY_DATABASE_URL="+databaseURL,
		"TENANTRY_STRIPE_SECRET_KEY=sk_test_bench", "TENANTRY_STRIPE_WEBHOOK_SECRET=whsec_bench",
		"TENANTRY_INVOICE_MODE=platform_managed", "TENANTRY_SMTP_URL=smtp://127.0.0.1:9", "TENANTRY_MAIL_FROM=bench@example.com",
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "NO_PROXY=",
	)
	cmd.Env = append(cmd.Env, env...)
	return start(ctx, cmd, address, "/readyz")
}

// generousLimits are rate limits that count every request but are never reached.
var generousLimits = func() string {
	var groups []string
	for group := range limit.Defaults() {
		groups = append(groups, group+"=1000000000")
	}
	return strings.Join(groups, ",")
}()

// start starts a server and waits until path responds with 200.
func start(ctx context.Context, cmd *exec.Cmd, address netip.AddrPort, path string) (*child, error) {
	output, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	begin := clock.System().Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, address: address, log: make(chan string, 1)}
	go func() { c.log <- lastLines(output) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for clock.System().Now().Sub(begin) < time.Minute {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.String()+path, http.NoBody)
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		if resp, err := client.Do(r); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				c.startup = clock.System().Now().Sub(begin)
				return c, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil, errors.Join(errors.New("the server did not become ready"), c.stop())
}

// lastLines reads r to the end and returns the last lines. It continues after a line that is too
// long, because a server blocks if its log is not read.
func lastLines(r io.Reader) string {
	var last []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if last = append(last, lines.Text()); len(last) > 64 {
			last = append(last[:0], last[32:]...)
		}
	}
	_, _ = io.Copy(io.Discard, r)
	return strings.Join(last[max(0, len(last)-20):], "\n")
}

// stop stops the server with SIGTERM. The error contains the last lines of its log.
func (c *child) stop() error {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	log := <-c.log
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("the server ended with %w:\n%s", err, log)
	}
	return nil
}

// memory returns the current and the peak resident memory, in MiB.
func (c *child) memory() (now, highest float64, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 64)
		switch name {
		case "VmRSS":
			now = kib / 1024
		case "VmHWM":
			highest = kib / 1024
		}
	}
	return now, highest, nil
}

// cpu returns the CPU time of the server.
func (c *child) cpu() (time.Duration, error) {
	u, err := usageOf(c.cmd.Process.Pid)
	return u.own, err
}

// cpuTime is the CPU time of a process.
type cpuTime struct {
	parent      int
	own, reaped time.Duration // reaped is the CPU time of its ended children
}

// usageOf reads the CPU time of a process.
func usageOf(process int) (cpuTime, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat")
	if err != nil {
		return cpuTime{}, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var n [15]int64 // starting with the process state
	for i, field := range strings.Fields(rest)[1:len(n)] {
		if n[i+1], err = strconv.ParseInt(field, 10, 64); err != nil {
			return cpuTime{}, err
		}
	}
	const tick = 10 * time.Millisecond
	return cpuTime{int(n[1]), time.Duration(n[11]+n[12]) * tick, time.Duration(n[13]+n[14]) * tick}, nil
}

// freeAddress returns an unused address.
func freeAddress() (netip.AddrPort, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	address, err := netip.ParseAddrPort(l.Addr().String())
	return address, errors.Join(err, l.Close())
}
