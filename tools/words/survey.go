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
	inMarkdown = "Markdown"
	inCatalogs = "English catalogs"
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
	for _, kind := range []string{inComments, inTexts, inMarkdown, inCatalogs} {
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
	generated = regexp.MustCompile(`(?m)^// Code generated`)
	sentence  = regexp.MustCompile(`[a-z]{2,} [a-z]{2,} `)
)

func (r *report) read(root, file string) error {
	isGo := strings.HasSuffix(file, ".go")
	if !isGo && !strings.HasSuffix(file, ".md") && !english.MatchString(file) {
		return nil
	}
	data, err := os.ReadFile(path.Join(root, file))
	if err != nil {
		return err
	}
	text := string(data)
	switch {
	case isGo:
		if !generated.MatchString(text) && file != "tools/words/survey.go" {
			r.readGo(file, data)
		}
	case strings.HasSuffix(file, ".md"):
		r.add(inMarkdown, file, code.ReplaceAllString(text, ""))
	case strings.HasSuffix(file, ".po"):
		for _, m := range poText.FindAllStringSubmatch(text, -1) {
			r.add(inCatalogs, file, m[1])
		}
	default:
		for _, m := range jsonText.FindAllStringSubmatch(text, -1) {
			r.add(inCatalogs, file, m[1])
		}
	}
	return nil
}

// readGo reads the comments of a file, and outside of tests its texts: strings with several words.
func (r *report) readGo(file string, data []byte) {
	set := token.NewFileSet()
	var s scanner.Scanner
	s.Init(set.AddFile(file, set.Base(), len(data)), data, nil, scanner.ScanComments)
	isTest := strings.HasSuffix(file, "_test.go")
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
		case kind == token.STRING && !isTest:
			text, err := strconv.Unquote(literal)
			if err == nil && sentence.MatchString(text) && !strings.Contains(text, "SELECT ") && !strings.Contains(text, "<") {
				r.add(inTexts, file, text)
			}
		}
	}
}
