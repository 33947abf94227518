package app

import (
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/tenantry/tenantry/internal/settings"
)

// newLog writes the log of the process.
func newLog(w io.Writer, s settings.Settings) *slog.Logger {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == settings.LogJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Version is the version of the program, as the build recorded it.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
