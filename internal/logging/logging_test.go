package logging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/trace"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/logging"
)

// timeOf matches the time at the start of a line.
var timeOf = regexp.MustCompile(`(?m)^time=\S+ `)

// want compares the lines of a text log, without their times.
func want(t *testing.T, out fmt.Stringer, lines ...string) {
	t.Helper()
	got := strings.Split(strings.TrimSuffix(timeOf.ReplaceAllString(out.String(), ""), "\n"), "\n")
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Error(diff)
	}
}

// inSpan returns a context with a span.
func inSpan(ctx context.Context) context.Context {
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
	}))
}

func TestLinesHaveTheAttributesOfTheirContext(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := logging.New(&out, logging.Config{Level: slog.LevelInfo})
	request := logging.WithRequestID(t.Context(), "r1")
	log.Debug("below the level")
	log.Info("none", "a", 1)
	log.InfoContext(request, "request", "a", 1)
	log.With("b", 2).InfoContext(inSpan(request), "both")
	log.WithGroup("g").InfoContext(inSpan(t.Context()), "group", "c", 3)
	const traceID, spanID = "01000000000000000000000000000000", "0200000000000000"
	want(t, &out,
		"level=INFO msg=none a=1",
		"level=INFO msg=request a=1 request_id=r1",
		"level=INFO msg=both b=2 request_id=r1 trace_id="+traceID+" span_id="+spanID,
		"level=INFO msg=group g.c=3 g.trace_id="+traceID+" g.span_id="+spanID,
	)
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logging.New(&out, logging.Config{JSON: true}).InfoContext(logging.WithRequestID(t.Context(), "r1"), "done", "took_ms", 1.5)
	if _, line, _ := strings.Cut(out.String(), ","); line != `"level":"INFO","msg":"done","took_ms":1.5,"request_id":"r1"}`+"\n" {
		t.Error(line)
	}
}

// Expected warnings are logged at INFO, or not at all at a higher level.
func TestExpectedWarnings(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelWarn} {
		var out bytes.Buffer
		log := logging.New(&out, logging.Config{Level: level, Expected: []string{"normal"}}).With("a", 1)
		log.Warn("normal")
		log.Error("normal")
		log.Warn("other")
		lines := []string{"level=INFO msg=normal a=1", "level=ERROR msg=normal a=1", "level=WARN msg=other a=1"}
		if level > slog.LevelInfo {
			lines = lines[1:]
		}
		want(t, &out, lines...)
	}
}

// During an outage each message is logged once a minute. Lines with another cause, and lines below
// WARN, are always logged.
func TestAnOutageIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	away := errors.New("away")
	now := clock.NewFixed(time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC))
	log := logging.New(&out, logging.Config{Clock: now, IsOutage: func(err error) bool { return errors.Is(err, away) }})
	failed := fmt.Errorf("claim jobs: %w", away)
	for range 3 {
		log.Error("a", "error", failed)
		log.With("job", 1).WithGroup("g").Error("a", "error", failed) // the same message
		log.Warn("b", "n", 1, "error", failed)
		log.Error("a", "error", io.EOF)
		log.Info("a", "error", failed)
	}
	for _, d := range []time.Duration{time.Minute - time.Microsecond, time.Microsecond, 0, time.Minute, time.Minute} {
		now.Set(now.Now().Add(d))
		log.Error("a", "error", failed)
	}
	const other, news, line = "level=ERROR msg=a error=EOF", `level=INFO msg=a error="claim jobs: away"`, `level=ERROR msg=a error="claim jobs: away"`
	want(t, &out, line, `level=WARN msg=b n=1 error="claim jobs: away"`, other, news, other, news, other, news,
		line+" left_out=6", line+" left_out=1", line)
}

// sink records each write.
type sink struct {
	mu     sync.Mutex
	writes []string
	err    error
}

func (s *sink) Write(lines []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.writes = append(s.writes, string(lines))
	return len(lines), nil
}

// String returns the writes, each followed by an empty line.
func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.writes, "\n")
}

func TestBufferedLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out sink
		log, flush := logging.NewBuffered(&out, logging.Config{})
		const delay = 5 * time.Millisecond
		log.Info("a")
		time.Sleep(delay - time.Nanosecond)
		log.Info("b")
		want(t, &out, "")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		want(t, &out, "level=INFO msg=a", "level=INFO msg=b")
		out.writes = nil
		log.Info("c")
		log.With("x", 1).Warn("d")
		log.Error("e")
		log.Info("f")
		if err := flush(); err != nil {
			t.Error(err)
		}
		want(t, &out, "level=INFO msg=c", "level=WARN msg=d x=1", "", "level=ERROR msg=e", "", "level=INFO msg=f")

		out.writes, out.err = nil, io.ErrClosedPipe
		log.Info("lost")
		if err := flush(); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		out.err = nil
		log.Warn("g")
		want(t, &out, "level=WARN msg=g")
		log.Info(strings.Repeat("x", 64<<10)) // fills the buffer
		if len(out.writes) != 2 {
			t.Errorf("%d writes, want 2", len(out.writes))
		}
	})
}

// Concurrent lines stay whole and in the order of their goroutine.
func TestConcurrentLines(t *testing.T) {
	t.Parallel()
	const writers, lines = 8, 2_000
	var out sink
	log, flush := logging.NewBuffered(&out, logging.Config{})
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range lines {
				level := slog.LevelInfo
				if n%500 == 0 {
					level = slog.LevelWarn
				}
				log.Log(context.Background(), level, fmt.Sprint(i), "n", n)
			}
		})
	}
	wg.Wait()
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	var next [writers]int
	for line := range strings.Lines(strings.Join(out.writes, "")) {
		var i, n int
		if _, err := fmt.Sscanf(line[strings.Index(line, "msg="):], "msg=%d n=%d\n", &i, &n); err != nil || n != next[i] {
			t.Fatalf("%q, want n=%d, %v", line, next[i], err)
		}
		next[i]++
	}
	for i, n := range next {
		if n != lines {
			t.Errorf("goroutine %d has %d lines, want %d", i, n, lines)
		}
	}
}
