package app

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/psp/compare"
	"github.com/tenantry/tenantry/internal/psp/inbox"
)

func TestASandboxWarnsOfWhatIsNotNormal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(calm{slog.NewTextHandler(&out, nil)}).With("a", 1).WithGroup("g")
	log.Warn(compare.LoggedDifference, "b", 2)
	log.Warn(inbox.LoggedMissed)
	log.Error(inbox.LoggedMissed)
	log.Warn("something else")
	log.Debug("nothing")
	var levels []string
	for line := range strings.Lines(out.String()) {
		_, level, _ := strings.Cut(line, "level=")
		level, _, _ = strings.Cut(level, " ")
		levels = append(levels, level)
	}
	if got := strings.Join(levels, ","); got != "INFO,INFO,ERROR,WARN" || !strings.Contains(out.String(), "a=1 g.b=2") {
		t.Errorf("%s: %s", got, &out)
	}
}
