package arch

import "testing"

func TestFilesAreSmall(t *testing.T) {
	t.Parallel()
	for _, file := range Measure(sources(t)).Files {
		if file.Lines > maxFile {
			t.Errorf("%s has %d lines: split it by subject", file.Name, file.Lines)
		}
	}
}
