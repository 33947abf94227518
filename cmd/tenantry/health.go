package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
)

// healthTimeout is longer than the service takes to detect that its database is unavailable.
const healthTimeout = 3 * time.Second

type healthCmd struct {
	Addr string `env:"TENANTRY_ADDR" placeholder:"ADDRESS" default:"127.0.0.1:8080" help:"Address that the service listens on. Default: 127.0.0.1:8080."`
}

// Run checks whether the service on this machine is ready. Container images without a shell use it.
func (c *healthCmd) Run(ctx context.Context, p *process) error {
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return &settings.Error{Name: "TENANTRY_ADDR", Reason: err.Error()}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(text)))
	}
	_, err = fmt.Fprintln(p.out, strings.TrimSpace(string(text)))
	return err
}
