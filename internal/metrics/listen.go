package metrics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// Timeouts of connections to a listener.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 120 * time.Second
)

// Listen opens the listeners for GET /metrics and for Go's profiles under /debug/pprof/. It returns
// functions that serve them until their context ends. An empty address opens no listener. The
// public address exposes neither.
//
// Profiles reveal memory contents. They are served on metricsAddr if it is a loopback address, and
// on profilesAddr, which can be equal to metricsAddr.
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

// isLoopback reports whether a listener is reachable only from this machine.
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
