package arch

import "testing"

func TestHouse(t *testing.T) {
	t.Parallel()
	for _, what := range Measure(sources(t)).Broken() {
		t.Error(what)
	}
}
