package arch

import "testing"

func TestHouse(t *testing.T) {
	t.Parallel()
	for _, what := range Measure(sources(t)).Violations() {
		t.Error(what)
	}
}
