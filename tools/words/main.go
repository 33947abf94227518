// Words counts phrases that make English hard to read, and fails if a folder has more of them than
// before.
//
// It reads Go comments, texts in Go (messages, help and descriptions), Markdown and the English
// catalogs. The committed baseline only goes down: -write stores lower counts.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

const baselineFile = "tools/words/baseline.txt"

func main() {
	write := flag.Bool("write", false, "store the counts that went down in the baseline")
	list := flag.Bool("list", false, "print each phrase with its place")
	flag.Parse()
	if err := run(os.Stdout, *write, *list); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, write, list bool) error {
	found, err := survey(".")
	if err != nil {
		return err
	}
	if list {
		for _, p := range found.phrases {
			fmt.Fprintln(out, p)
		}
		return nil
	}
	found.print(out)
	before, err := readBaseline()
	if err != nil {
		return err
	}
	risen := compare(before, found.counts())
	isFirst := write && len(before) == 0
	if len(risen) > 0 && !isFirst {
		return fmt.Errorf("more phrases than before, see go run ./tools/words -list:\n%s", strings.Join(risen, "\n"))
	}
	if write {
		return writeBaseline(found.counts())
	}
	return nil
}

// compare returns the folders with more phrases than the baseline allows.
func compare(before, now map[string]int) []string {
	var risen []string
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if now[key] > before[key] {
			risen = append(risen, fmt.Sprintf("%s: %d, was %d", key, now[key], before[key]))
		}
	}
	return risen
}

// readBaseline reads the highest permitted count of each kind of text and folder.
func readBaseline() (map[string]int, error) {
	text, err := os.ReadFile(baselineFile)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		key, count, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		if counts[key], err = strconv.Atoi(count); err != nil {
			return nil, fmt.Errorf("%s: %w", baselineFile, err)
		}
	}
	return counts, nil
}

func writeBaseline(counts map[string]int) error {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if counts[key] > 0 {
			fmt.Fprintf(&b, "%s\t%d\n", key, counts[key])
		}
	}
	return os.WriteFile(baselineFile, []byte(b.String()), 0o600)
}
