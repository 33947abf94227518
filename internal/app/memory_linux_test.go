package app

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// mappedPages returns the number of file-backed pages of the process.
func mappedPages(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[2])
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestUnmapProgram(t *testing.T) {
	before := mappedPages(t)
	unmapProgram()
	if after := mappedPages(t); after >= before {
		t.Errorf("%d pages are mapped, %d before", after, before)
	}
}
