// Words counts phrases that make English hard to read, and fails if the count of a folder differs
// from the committed baseline.
//
// It reads Go comments, texts in Go (messages, help, descriptions and failure messages of tests),
// Markdown, the English catalogs, and the help of the Makefile. The baseline only goes down: -write
// stores lower counts.
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
	write := flag.Bool("write", false, "store lower counts in the baseline")
	list := flag.Bool("list", false, "print each phrase and its file")
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
	risen, fallen := compare(before, found.counts())
	isFirst := write && len(before) == 0
	if len(risen) > 0 && !isFirst {
		return fmt.Errorf("more phrases than in the baseline, see go run ./tools/words -list:\n%s", strings.Join(risen, "\n"))
	}
	if write {
		return writeBaseline(found.counts())
	}
	if len(fallen) > 0 {
		return fmt.Errorf("fewer phrases than in the baseline, lower it with go run ./tools/words -write:\n%s", strings.Join(fallen, "\n"))
	}
	return nil
}

// compare returns the folders with more and with fewer phrases than in the baseline.
func compare(before, now map[string]int) (risen, fallen []string) {
	all := maps.Clone(before)
	maps.Copy(all, now)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		line := fmt.Sprintf("%s: %d, baseline %d", key, now[key], before[key])
		switch {
		case now[key] > before[key]:
			risen = append(risen, line)
		case now[key] < before[key]:
			fallen = append(fallen, line)
		}
	}
	return risen, fallen
}

// readBaseline reads the count of each kind of text and folder.
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
