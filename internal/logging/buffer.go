package logging

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// Limits of a buffer: the age of its first line and the size of its lines.
const (
	flushDelay = 5 * time.Millisecond
	bufferSize = 64 << 10
)

// buffer collects lines, so that many lines share one system call. It is safe for concurrent use.
type buffer struct {
	out io.Writer

	mu    sync.Mutex
	lines bytes.Buffer
}

// Write adds a line. The returned error may concern earlier lines.
func (b *buffer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines.Len() == 0 {
		time.AfterFunc(flushDelay, func() { _ = b.Flush() })
	}
	b.lines.Write(line)
	if b.lines.Len() < bufferSize {
		return len(line), nil
	}
	return len(line), b.flush()
}

// Flush writes all lines.
func (b *buffer) Flush() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.flush()
}

func (b *buffer) flush() error {
	_, err := b.lines.WriteTo(b.out)
	b.lines.Reset() // WriteTo keeps the lines that it could not write
	return err
}
