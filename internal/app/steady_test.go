package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
)

// While the database is away each message is logged once a minute, whoever logs it. What has
// another cause, and what is no warning, is always logged.
func TestAnOutageIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := clock.NewFixed(time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC))
	plain := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "error" {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(newSteady(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: plain}), now))
	away := fmt.Errorf("claim jobs: %w", io.ErrUnexpectedEOF)
	for range 3 {
		log.Error("a", "error", away)
		log.With("job", 1).WithGroup("g").Error("a", "error", away) // the same message
		log.Warn("b", "n", 1, "error", away)
		log.Error("a", "error", errors.New("defect"))
		log.Error("a")
		log.Info("a", "error", away)
	}
	now.Set(now.Now().Add(steadyEvery - time.Microsecond))
	log.Error("a", "error", away)
	now.Set(now.Now().Add(time.Microsecond))
	log.Error("a", "error", away)
	log.Error("a", "error", away)
	now.Set(now.Now().Add(steadyEvery))
	log.Error("a", "error", away)
	now.Set(now.Now().Add(steadyEvery))
	log.Error("a", "error", away)
	always := []string{"ERROR msg=a", "ERROR msg=a", "INFO msg=a"}
	want := append([]string{"ERROR msg=a", "WARN msg=b n=1"}, always...)
	want = append(append(want, always...), always...)
	want = append(want, "ERROR msg=a left_out=6", "ERROR msg=a left_out=1", "ERROR msg=a")
	got := strings.Split(strings.TrimSpace(strings.ReplaceAll(out.String(), "level=", "")), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
