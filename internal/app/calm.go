package app

import (
	"context"
	"log/slog"
	"slices"

	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/psp/inbox"
)

// calm logs as news, not as a warning, what is normal in a sandbox whose clock was moved: the
// daily comparisons run at once, before the provider's notifications have come.
type calm struct{ slog.Handler }

// Handle implements slog.Handler.
func (c calm) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelWarn && slices.Contains([]string{compare.LoggedDifference, inbox.LoggedMissed}, r.Message) {
		r.Level = slog.LevelInfo
	}
	return c.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (c calm) WithAttrs(attrs []slog.Attr) slog.Handler { return calm{c.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (c calm) WithGroup(name string) slog.Handler { return calm{c.Handler.WithGroup(name)} }
