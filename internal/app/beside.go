package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
)

// besides returns what runs further instances of the service on the same database and sandbox,
// one on each listener, as if they were processes of their own: they share nothing else.
func (svc *service) besides(world *clock.Adjustable, s settings.Settings, log *slog.Logger) []func(context.Context) error {
	var run []func(context.Context) error
	for _, listener := range s.Beside {
		run = append(run, func(ctx context.Context) error { return svc.beside(ctx, world, s, listener, log) })
	}
	return run
}

func (svc *service) beside(ctx context.Context, world *clock.Adjustable, s settings.Settings, listener net.Listener, log *slog.Logger) (err error) {
	s.MetricsAddr, s.ProfilesAddr = "", ""
	db, err := openFor(ctx, s, sandboxed)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer commands.Closing(db, &err)
	other, err := newService(s, db, svc.outside, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	background, err := other.background(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	world.OnAdvance(func(time.Time) { other.jobs.Wake(); other.hooks.Wake() })
	p := &process{svc: other, health: &health{db: db}, listener: listener, background: background}
	return p.run(ctx, func(context.Context) error { return nil })
}
