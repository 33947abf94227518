package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrases are patterns that usually stand for a noun, a name or a plain verb.
var phrases = []*regexp.Regexp{
	regexp.MustCompile(`\b(whoever|nobody|somebody|everybody|anybody)\b`),
	regexp.MustCompile(`(?i)\bwhat (is|was|were|are|it|its|they|has|had|a|an|the|each|he|every|follows|can|one|somebody|others|comes|such|all|some|of)\b`),
	regexp.MustCompile(`(?i)\b(tells?|told|telling)\b`),
	regexp.MustCompile(`(?i)\b(ones? that|those that|those of|that of|one of which|of which|of those)\b`), //nolint:dupword // a pattern
	regexp.MustCompile(`(?i)\b(is|are|was|has) (none|no|nothing|nobody)\b`),
	regexp.MustCompile(`(?i)\b(anew|for ever|in vain|as of|beside|any more)\b`),
}

// The kinds of texts.
const (
	inComments = "comments"
	inTexts    = "texts in Go"
	inTests    = "texts in tests"
	inMarkdown = "Markdown"
	inCatalogs = "English catalogs"
	inHelp     = "field texts and Makefile"
)

// counter counts the words and phrases of one kind of text in a folder.
type counter struct{ words, phrases int }

// report is the result of a survey, by kind and folder.
type report struct {
	counters map[string]map[string]*counter
	phrases  []string // each phrase with its place
}

func (r *report) counts() map[string]int {
	counts := map[string]int{}
	for kind, folders := range r.counters {
		for folder, c := range folders {
			counts[kind+" "+folder] = c.phrases
		}
	}
	return counts
}

// add counts the phrases of a text.
func (r *report) add(kind, file, text string) {
	if r.counters[kind] == nil {
		r.counters[kind] = map[string]*counter{}
	}
	folder := path.Dir(file)
	c := r.counters[kind][folder]
	if c == nil {
		c = &counter{}
		r.counters[kind][folder] = c
	}
	c.words += len(strings.Fields(text))
	for _, p := range phrases {
		for _, match := range p.FindAllStringIndex(text, -1) {
			c.phrases++
			from, to := max(match[0]-40, 0), min(match[1]+40, len(text))
			r.phrases = append(r.phrases, fmt.Sprintf("%s: %s: …%s…", file, kind, strings.Join(strings.Fields(text[from:to]), " ")))
		}
	}
}

// print writes the phrases per 1,000 words of each kind, and the worst folders.
func (r *report) print(out io.Writer) {
	for _, kind := range []string{inComments, inTexts, inTests, inMarkdown, inCatalogs, inHelp} {
		var all counter
		for _, c := range r.counters[kind] {
			all.words, all.phrases = all.words+c.words, all.phrases+c.phrases
		}
		fmt.Fprintf(out, "%5.1f per 1,000 words  %s (%d words)\n", all.rate(), kind, all.words)
		var folders []string
		for folder := range r.counters[kind] {
			folders = append(folders, folder)
		}
		slices.SortFunc(folders, func(a, b string) int { return r.counters[kind][b].phrases - r.counters[kind][a].phrases })
		for _, folder := range folders[:min(len(folders), 3)] {
			if c := r.counters[kind][folder]; c.phrases > 0 {
				fmt.Fprintf(out, "      %4d  %s (%.1f)\n", c.phrases, folder, c.rate())
			}
		}
	}
}

func (c counter) rate() float64 {
	if c.words == 0 {
		return 0
	}
	return 1000 * float64(c.phrases) / float64(c.words)
}

// skipped are folders with files that nobody here writes.
var skipped = map[string]bool{".git": true, "node_modules": true, "dist": true, "testdata": true, "bin": true}

// survey reads all texts below a folder.
func survey(root string) (*report, error) {
	r := &report{counters: map[string]map[string]*counter{}}
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && skipped[entry.Name()] {
				return fs.SkipDir
			}
			return err
		}
		return r.read(root, file)
	})
	return r, err
}

var (
	english   = regexp.MustCompile(`(^|/)en\.(json|po)$`)
	code      = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	jsonText  = regexp.MustCompile(`:\s*"((?:[^"\\]|\\.)*)"`)
	poText    = regexp.MustCompile(`(?m)^msgid "(.+)"$`)
	elements  = regexp.MustCompile(`^clients/elements/src/texts/\w+\.ts$`)
	tsText    = regexp.MustCompile(`\['((?:[^'\\]|\\.)*)'`) // the first language is English
	makeHelp  = regexp.MustCompile(`(?m)^[a-z-]+:.*?## (.+)$`)
	generated = regexp.MustCompile(`(?m)^// Code generated`)
	sentence  = regexp.MustCompile(`[a-z]{2,} [a-z]{2,} `)
)

func (r *report) read(root, file string) error {
	readText := r.reader(file)
	if readText == nil {
		return nil
	}
	data, err := os.ReadFile(path.Join(root, file))
	if err != nil {
		return err
	}
	readText(string(data))
	return nil
}

// reader returns the function that reads the text of a file, or nil for a file to skip.
func (r *report) reader(file string) func(text string) {
	matches := func(kind string, pattern *regexp.Regexp) func(string) {
		return func(text string) {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				r.add(kind, file, m[1])
			}
		}
	}
	switch {
	case file == "tools/words/survey.go", file == "internal/arch/words_test.go": // patterns
		return nil
	case strings.HasSuffix(file, ".go"):
		return func(text string) { r.readGo(file, text) }
	case strings.HasSuffix(file, ".md"):
		return func(text string) { r.add(inMarkdown, file, code.ReplaceAllString(text, "")) }
	case file == "internal/app/handbook/fields.txt":
		return func(text string) { r.add(inHelp, file, code.ReplaceAllString(text, "")) }
	case file == "Makefile":
		return matches(inHelp, makeHelp)
	case elements.MatchString(file):
		return matches(inCatalogs, tsText)
	case english.MatchString(file) && strings.HasSuffix(file, ".po"):
		return matches(inCatalogs, poText)
	case english.MatchString(file):
		return matches(inCatalogs, jsonText)
	}
	return nil
}

// readGo reads the comments of a file and its texts: strings with several words.
func (r *report) readGo(file, source string) {
	if generated.MatchString(source) {
		return
	}
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile(file, set.Base(), len(source)), []byte(source), nil, scanner.ScanComments)
	texts := inTexts
	if strings.HasSuffix(file, "_test.go") {
		texts = inTests
	}
	var comment []string
	last := 0
	flush := func() {
		r.add(inComments, file, strings.Join(comment, " "))
		comment = nil
	}
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			flush()
			return
		}
		line := set.Position(pos).Line
		switch {
		case kind == token.COMMENT && !strings.HasPrefix(literal, "//go:") && !strings.HasPrefix(literal, "//nolint"):
			if line > last+1 {
				flush()
			}
			comment, last = append(comment, strings.TrimSpace(strings.TrimLeft(literal, "/*"))), line
		case kind == token.STRING:
			text, err := strconv.Unquote(literal)
			if err == nil && sentence.MatchString(text) && !strings.Contains(text, "SELECT ") && !strings.Contains(text, "<") {
				r.add(texts, file, text)
			}
		}
	}
}
