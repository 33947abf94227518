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

// The limits of a connection, and how long requests can continue while the process stops. Jobs
// drain after the requests. A stop takes less than ten seconds, plus the stop delay of the
// settings.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 60 * time.Second
	writeTimeout      = 90 * time.Second
	idleTimeout       = 120 * time.Second
	drainTimeout      = 5 * time.Second
	traceTimeout      = time.Second
	// maxHeaderBytes limits the head of a request to 32 KiB: net/http reads 4 KiB more than the
	// setting.
	maxHeaderBytes = 32<<10 - 4<<10
)

// process runs a service on a listener.
type process struct {
	svc      *service
	health   *health
	listener net.Listener
	// background runs concurrently with the requests: the jobs and, in dev, the sandbox's
	// deliveries. Each function returns when its context ends.
	background []func(ctx context.Context) error
}

// run serves requests until ctx ends. Then it stops in this order: it reports that it is not ready,
// continues to accept requests during the stop delay, lets open requests finish, and drains the
// background work. started runs once the process serves requests; when it returns, the process is
// ready.
func (p *process) run(ctx context.Context, started func(context.Context) error) error {
	p.svc.api.Mount("/healthz", http.HandlerFunc(p.health.serveLiveness))
	p.svc.api.Mount("/readyz", http.HandlerFunc(p.health.serveReadiness))
	var fresh unusedConns
	server := &http.Server{
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes, ConnState: fresh.track,
		ErrorLog: slog.NewLogLogger(p.svc.log.Handler(), slog.LevelDebug),
	}
	// background outlives ctx, so jobs continue while the last requests finish.
	background, stopBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBackground()
	group, failed := errgroup.WithContext(background)
	for _, f := range p.background {
		group.Go(func() error { return f(background) })
	}
	group.Go(func() error {
		if err := p.svc.api.Serve(server, p.listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		if err := started(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		p.health.ready.Store(ctx.Err() == nil)
		return nil
	})
	select {
	case <-ctx.Done():
	case <-failed.Done():
	}
	p.health.ready.Store(false)
	p.svc.log.InfoContext(ctx, "stopping")
	select {
	case <-time.After(p.svc.settings.StopDelay):
	case <-failed.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	server.RegisterOnShutdown(fresh.close)
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close()
	}
	stopBackground()
	err := group.Wait()
	last, done := context.WithTimeout(context.WithoutCancel(ctx), traceTimeout)
	defer done()
	_ = p.svc.tracer.Close(last) // an unavailable collector is not an error
	return errors.Join(err, p.svc.close())
}
