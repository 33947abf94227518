package app

import (
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/tenantry/tenantry/internal/settings"
)

// newLog returns a logger that writes to w in the level and format of s.
func newLog(w io.Writer, s settings.Settings) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == settings.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Version returns the version that the build recorded, "dev" without one.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
