package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// The limits of a connection to a listener.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 120 * time.Second
)

// Listen opens the listeners of GET /metrics and of Go's profiles under /debug/pprof/, and
// returns what serves each until its context ends. "" is none. They are apart from the
// public address, which does not expose them.
//
// Profiles show what is in memory: they are on a loopback address of the metrics, or on the
// address that is named for them, which may be that of the metrics.
func (m *Metrics) Listen(ctx context.Context, metricsAddr, profilesAddr string) (serving []func(context.Context) error, err error) {
	if metricsAddr != "" {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", metricsAddr)
		if err != nil {
			return nil, fmt.Errorf("TENANTRY_METRICS_ADDR: %w", err)
		}
		serving = append(serving, serve(l, m.Handler(), isLoopback(l) || profilesAddr == metricsAddr))
	}
	if profilesAddr != "" && profilesAddr != metricsAddr {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", profilesAddr)
		if err != nil {
			return nil, fmt.Errorf("TENANTRY_PROFILES_ADDR: %w", err)
		}
		serving = append(serving, serve(l, nil, true))
	}
	return serving, nil
}

// isLoopback reports whether only this machine reaches a listener.
func isLoopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

func serve(l net.Listener, figures http.Handler, profiles bool) func(context.Context) error {
	return func(ctx context.Context) error {
		mux := http.NewServeMux()
		if figures != nil {
			mux.Handle("GET /metrics", figures)
		}
		if profiles {
			mux.HandleFunc("GET /debug/pprof/", pprof.Index)
			mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
			mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		}
		server := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, IdleTimeout: idleTimeout}
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
		if err := server.Serve(l); ctx.Err() == nil {
			return err
		}
		return nil
	}
}
