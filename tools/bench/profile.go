//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
)

// start starts the service, with a listener for profiles if they were requested.
func (s *session) start(ctx context.Context, url string) (*child, error) {
	var env []string
	if s.profiles != "" {
		if err := os.MkdirAll(s.profiles, 0o750); err != nil {
			return nil, err
		}
		var err error
		if s.observed, err = freeAddress(); err != nil {
			return nil, err
		}
		env = append(env, "TENANTRY_METRICS_ADDR="+s.observed.String())
	}
	return startService(ctx, s.binary, url, filepath.Join(s.dir, "data"), env...)
}

// profile writes a CPU profile of the service under load, if profiles were requested. It sends the
// error, or nil, when the profile is written. Profiling reduces the rate of the service by a few
// percent.
func (s *session) profile(ctx context.Context, work string, conns int) <-chan error {
	done := make(chan error, 1)
	if s.profiles == "" {
		done <- nil
		return done
	}
	name := strings.NewReplacer(" ", "-", ",", "").Replace(fmt.Sprintf("%s %s %d.pprof", s.database, work, conns))
	go func() {
		done <- download(ctx, s.observed, fmt.Sprintf("/debug/pprof/profile?seconds=%.0f", math.Max(1, s.seconds)), filepath.Join(s.profiles, name))
	}()
	return done
}

// download writes the response of a server to a file.
func download(ctx context.Context, from netip.AddrPort, path, file string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+from.String()+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s: %s", path, resp.Status, body)
	}
	return os.WriteFile(file, body, 0o600)
}
