package app

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/sandbox"
	"github.com/tenantry/tenantry/sandbox/clock"
)

// SecondInstance runs another instance of a service that [Dev] runs in another process, on the same
// database and with the same sandbox, until ctx ends. own is the URL of the first process, which
// serves the sandbox. Once the instance serves requests, SecondInstance calls started with its
// address and clock. The clock starts at the sandbox's time; the caller moves it when the sandbox's
// clock moves. Only tests use SecondInstance, to run several instances with one sandbox.
func SecondInstance(ctx context.Context, s settings.Settings, own string, logTo io.Writer, started func(net.Addr, *clock.Adjustable) error) (err error) {
	log := newSandboxLog(logTo, s)
	listener, err := listen(ctx, s.Addr)
	if err != nil {
		return err
	}
	s = s.WithListenAddress(listener.Addr())
	world, err := sandbox.Open(ctx, filepath.Join(s.Data, settings.SandboxFile))
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	db, err := openFor(ctx, s, sandboxed)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer commands.CloseJoining(db, &err)
	out, err := sandboxEnvironment(ctx, world, s, db, own)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	svc, err := newService(s, db, out, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	background, err := svc.background(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	world.Clock().OnAdvance(func(time.Time) { svc.jobs.Wake(); svc.hooks.Wake() })
	p := &process{svc: svc, health: &health{db: db}, listener: listener, background: background}
	return p.run(ctx, func(context.Context) error { return started(listener.Addr(), world.Clock()) })
}
