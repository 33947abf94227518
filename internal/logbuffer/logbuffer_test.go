package logbuffer_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/logbuffer"
)

// sink keeps what is written, write by write.
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

func (s *sink) want(t *testing.T, writes ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(writes, s.writes); diff != "" {
		t.Error(diff)
	}
}

func logTo(s *sink) (*slog.Logger, *logbuffer.Buffer) {
	b := logbuffer.New(s)
	plain := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}
	return slog.New(b.Handler(slog.NewTextHandler(b, plain))), b
}

// Lines wait for each other for five milliseconds, and a warning or an error for nobody.
func TestLinesShareWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sink
		log, _ := logTo(&s)
		log.Info("a")
		time.Sleep(4 * time.Millisecond)
		log.Info("b")
		s.want(t)
		time.Sleep(time.Millisecond)
		synctest.Wait()
		s.want(t, "msg=a\nmsg=b\n")
		log.Info("c")
		log.With("x", 1).Warn("d")
		s.want(t, "msg=a\nmsg=b\n", "msg=c\nmsg=d x=1\n")
		log.WithGroup("g").Error("e")
		time.Sleep(5 * time.Millisecond)
		log.Info("f")
		time.Sleep(5 * time.Millisecond)
		synctest.Wait()
		s.want(t, "msg=a\nmsg=b\n", "msg=c\nmsg=d x=1\n", "msg=e\n", "msg=f\n")
	})
}

// Flush writes what waits, and tells what went wrong.
func TestFlush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sink
		log, b := logTo(&s)
		log.Info("a")
		for range 2 {
			if err := b.Flush(); err != nil {
				t.Error(err)
			}
		}
		s.want(t, "msg=a\n")
		log.Info("b")
		s.err = errors.New("closed")
		if err := b.Flush(); !errors.Is(err, s.err) {
			t.Errorf("%v, want %v", err, s.err)
		}
	})
}

// No more than 64 KiB waits: whoever writes more waits for the writing. A longer line than
// that comes through, in its place.
func TestTheBufferIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sink
		_, b := logTo(&s)
		line, long := strings.Repeat("x", 1023)+"\n", strings.Repeat("y", 100<<10)+"\n"
		for range 65 {
			_, _ = b.Write([]byte(line))
		}
		s.want(t, strings.Repeat(line, 64))
		if n, err := b.Write([]byte(long)); n != len(long) || err != nil {
			t.Error(n, err)
		}
		s.want(t, strings.Repeat(line, 64), line, long)
	})
}

// Many goroutines write at once, and some wait for theirs to be there: no line is lost, cut
// or ahead of an earlier one of its goroutine.
func TestConcurrentLines(t *testing.T) {
	t.Parallel()
	const writers, lines = 8, 2_000
	var s sink
	log, b := logTo(&s)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range lines {
				if n%500 == 0 {
					log.Warn(fmt.Sprint(i), "n", n)
				} else {
					log.Info(fmt.Sprint(i), "n", n)
				}
			}
		})
	}
	wg.Wait()
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	var next [writers]int
	for line := range strings.Lines(strings.Join(s.writes, "")) {
		var i, n int
		if _, err := fmt.Sscanf(line, "msg=%d n=%d\n", &i, &n); err != nil || n != next[i] {
			t.Fatalf("%q, want n=%d, %v", line, next[i], err)
		}
		next[i]++
	}
	for i, n := range next {
		if n != lines {
			t.Errorf("%d lines of %d, want %d", n, i, lines)
		}
	}
	if len(s.writes) > writers*lines/2 {
		t.Errorf("%d writes", len(s.writes))
	}
}
