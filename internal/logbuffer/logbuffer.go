// Package logbuffer lets the lines of the log that come at the same time share one write:
// a write for each costs more than making the line.
package logbuffer

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// The limits of what waits: the first line that waits is written after delay at the latest,
// and a full buffer at once, by whoever filled it.
const (
	delay = 5 * time.Millisecond
	size  = 64 << 10
)

// Buffer is a writer of lines that are written to another a little later, whole and in their
// order. It is safe for concurrent use. Whoever ends the process calls Flush first.
type Buffer struct {
	// out is held while something is written, so that lines keep their order.
	out   sync.Mutex
	to    io.Writer
	spare []byte // of the last write, empty

	mu    sync.Mutex
	lines []byte // what waits
	due   *time.Timer
}

// New returns a buffer of lines that go to a writer.
func New(to io.Writer) *Buffer { return &Buffer{to: to} }

// Write takes a line. An error of the writer behind the buffer is that of some earlier line,
// and is told by Flush alone.
func (b *Buffer) Write(line []byte) (int, error) {
	if b.take(line) {
		return len(line), nil
	}
	if err := b.Flush(); err != nil {
		return 0, err
	}
	if b.take(line) {
		return len(line), nil
	}
	b.out.Lock() // longer than the buffer, or others have filled it again
	defer b.out.Unlock()
	if err := b.flush(); err != nil {
		return 0, err
	}
	return b.to.Write(line)
}

// take keeps a line for later if there is room, and reports whether there was.
func (b *Buffer) take(line []byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lines)+len(line) > size {
		return false
	}
	if len(b.lines) == 0 {
		if b.due == nil {
			b.due = time.AfterFunc(delay, func() { _ = b.Flush() })
		} else {
			b.due.Reset(delay)
		}
	}
	b.lines = append(b.lines, line...)
	return true
}

// Flush writes what waits. When it returns, each line that came before is written.
func (b *Buffer) Flush() error {
	b.out.Lock()
	defer b.out.Unlock()
	return b.flush()
}

// flush is Flush for who holds out.
func (b *Buffer) flush() error {
	b.mu.Lock()
	lines := b.lines
	b.lines, b.spare = b.spare, nil
	b.mu.Unlock()
	var err error
	if len(lines) > 0 {
		_, err = b.to.Write(lines)
	}
	b.spare = lines[:0]
	return err
}

// Handler returns a handler of log lines that flushes the buffer after each from the level
// WARN on. next writes to the buffer.
func (b *Buffer) Handler(next slog.Handler) slog.Handler { return handler{next, b} }

type handler struct {
	slog.Handler
	buffer *Buffer
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level < slog.LevelWarn || err != nil {
		return err
	}
	return h.buffer.Flush()
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.buffer}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.buffer}
}
