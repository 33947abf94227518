package apptest

import (
	"bytes"
	"strings"
	"sync"
)

// logBuffer collects the log of a service.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// warnings returns the lines of a JSON log with level WARN or higher.
func (l *logBuffer) warnings() string {
	var lines strings.Builder
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, `"level":"INFO"`) && !strings.Contains(line, `"level":"DEBUG"`) {
			lines.WriteString(line)
		}
	}
	return lines.String()
}
