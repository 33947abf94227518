package logline_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/logline"
)

var at = time.Date(2026, 1, 31, 9, 15, 30, 123_456_789, time.FixedZone("", 3600))

// same writes a record by the handler and by slog, and compares the two.
func same(t *testing.T, r slog.Record) {
	t.Helper()
	var got, want bytes.Buffer
	if err := logline.New(&got, slog.LevelInfo).Handle(t.Context(), r.Clone()); err != nil {
		t.Fatal(err)
	}
	if err := slog.NewJSONHandler(&want, nil).Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Errorf("got  %swant %s", &got, &want)
	}
}

func record(message string, attrs ...slog.Attr) slog.Record {
	r := slog.NewRecord(at, slog.LevelInfo, message, 0)
	r.AddAttrs(attrs...)
	return r
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, attrs := range [][]slog.Attr{
		nil,
		{slog.String("a", "b <&> c"), slog.Int("n", -1), slog.Int64("m", math.MinInt64), slog.Bool("yes", true), slog.Bool("no", false)},
		{slog.Float64("zero", 0), slog.Float64("ms", 1.234), slog.Float64("low", -1e-6), slog.Float64("high", 999999999999999999999), slog.Float64("whole", 12)},
		// Of another form, the last one too.
		{slog.Float64("lower", 9.9e-7)},
		{slog.Float64("higher", 1e21)},
		{slog.Float64("none", math.NaN())},
		{slog.Float64("negative zero", math.Copysign(0, -1))},
		{slog.String("a", "b"), slog.String("quote", `"`), slog.String("c", "d")},
		{slog.String("backslash", `\`)},
		{slog.String("line\nend", "\r\n")},
		{slog.String("umlaut", "ä"), slog.Int("n", 1)},
		{slog.String("bad", "\xff\x00\x7f")},
		{slog.Attr{}},
		{slog.Any("error", errors.New("oh \"no\"")), slog.Int("n", 1)},
		{slog.Any("nil", nil)},
		{slog.Group("g", slog.Int("n", 1))},
		{slog.Group("", slog.Int("n", 1))},
		{slog.Group("empty")},
		{slog.Duration("took", time.Second), slog.Time("at", at), slog.Uint64("u", math.MaxUint64)},
		{slog.Any("valuer", valuer{})},
	} {
		same(t, record("request", attrs...))
	}
	same(t, record(`a "message"`))
	same(t, record("ä"))
	for _, moment := range []time.Time{{}, at.UTC(), at.AddDate(-2027, 0, 0), at.AddDate(9000, 0, 0), clock.System().Now()} {
		same(t, slog.NewRecord(moment, slog.LevelError+1, "when", 0))
	}
}

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("v") }

func TestLoggerOfHandler(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(logline.New(&out, slog.LevelWarn))
	log.Info("not written")
	log.With("a", 1).WithGroup("g").Warn("written", "b", 2)
	if _, line, _ := strings.Cut(out.String(), `,`); line != `"level":"WARN","msg":"written","a":1,"g":{"b":2}}`+"\n" {
		t.Error(line)
	}
	out.Reset()
	failing := logline.New(failure{}, slog.LevelInfo)
	if err := failing.Handle(t.Context(), record("lost")); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("full")

type failure struct{}

func (failure) Write([]byte) (int, error) { return 0, errFull }

// Lines of either form stay whole when many write.
func TestLinesStayWhole(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(logline.New(&out, slog.LevelInfo))
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for range 200 {
				log.Info("plain", "n", 1)
				log.Info("other", "n", time.Second)
			}
		})
	}
	running.Wait()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, `{"time":"`) || !strings.HasSuffix(line, `}`) || strings.Count(line, "{") != 1 {
			t.Fatalf("a line is %s", line)
		}
	}
	if len(lines) != 1600 {
		t.Errorf("%d lines", len(lines))
	}
}

// Whatever is logged, the line is the one that slog writes.
func FuzzLine(f *testing.F) {
	f.Add("request", "key", "text", 1.5, int64(-1), true)
	f.Add("\"", "\\", "\x00ä\xff", math.Inf(1), int64(0), false)
	f.Add("", "", "<>&", 1e-7, int64(math.MaxInt64), true)
	f.Fuzz(func(t *testing.T, message, key, text string, number float64, whole int64, yes bool) {
		same(t, record(message, slog.String(key, text), slog.Float64(text, number), slog.Int64("n", whole), slog.Bool(message, yes)))
		same(t, slog.NewRecord(time.Unix(whole%(1<<38), whole%1e9).UTC(), slog.Level(whole%64), message, 0))
	})
}

func BenchmarkHandle(b *testing.B) {
	r := record("request", slog.String("method", "POST"), slog.String("route", "/api/v1/tenants/{tenantId}/usage"), slog.Int("status", 201),
		slog.Int("bytes", 180), slog.Float64("took_ms", 1.234), slog.String("ip", "192.0.2.1"), slog.Int64("user", 7),
		slog.String("tenant", "0190a0b0-0000-7000-8000-00000000000a"), slog.String("request_id", "0190a0b0-0000-7000-8000-00000000000b"))
	for name, h := range map[string]slog.Handler{"own": logline.New(discard{}, slog.LevelInfo), "slog": slog.NewJSONHandler(discard{}, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = h.Handle(context.Background(), r)
			}
		})
	}
}

type discard struct{}

func (discard) Write(line []byte) (int, error) { return len(line), nil }
