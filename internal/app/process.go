package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// The limits of a connection, and the time that requests get to end in at a
// stop; jobs drain after them, all within the ten seconds that the process has.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second
	writeTimeout      = 90 * time.Second
	idleTimeout       = 120 * time.Second
	drainTimeout      = 5 * time.Second
	maxHeaderBytes    = 32 << 10
)

// process is a service that listens.
type process struct {
	svc      *service
	health   *health
	listener net.Listener
	// background are what runs beside the requests: the jobs, and in dev the
	// sandbox's deliveries. Each ends when its context does.
	background []func(ctx context.Context) error
}

// run serves until ctx ends, then stops in order: no new requests, the open ones
// end, then the background work drains. started runs as soon as requests are
// answered; ready after it.
func (p *process) run(ctx context.Context, started func(context.Context) error) error {
	p.svc.api.Mount("/healthz", http.HandlerFunc(p.health.live))
	p.svc.api.Mount("/readyz", http.HandlerFunc(p.health.readiness))
	tuneMemory()
	var fresh freshConns
	server := &http.Server{
		Handler: p.svc.api, ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ConnState: fresh.track,
		ErrorLog: slog.NewLogLogger(p.svc.log.Handler(), slog.LevelDebug),
	}
	// Outlives ctx, so that background work goes on while requests end.
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	group, failed := errgroup.WithContext(background)
	for _, f := range p.background {
		group.Go(func() error { return f(background) })
	}
	group.Go(func() error {
		if err := server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		if err := started(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		p.health.ready.Store(ctx.Err() == nil)
		freeStartMemory()
		return nil
	})
	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	p.health.ready.Store(false)
	p.svc.log.InfoContext(ctx, "stopping")
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	server.RegisterOnShutdown(fresh.close)
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close()
	}
	stopBackground()
	return errors.Join(group.Wait(), p.svc.close())
}
