package main

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// block is a shell block in a guide.
type block struct {
	line   int
	text   string
	not    string // why it is not run
	refuse bool   // it must fail
	prints string // required output, or ""
}

var (
	fence  = regexp.MustCompile("^( *)```sh( tour)?$")
	marker = regexp.MustCompile(`^ *<!-- (not run|refused|prints)(?:: (.*))? -->$`)
)

// blocks returns the shell blocks of a page, without the tour, which TestTour runs. A comment on
// the line before a block can have a directive:
//
//	<!-- not run: why -->
//	<!-- refused -->
//	<!-- prints: text -->
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var said, current block
	indent, inside := "", false
	for i, line := range strings.Split(string(text), "\n") {
		switch opening := fence.FindStringSubmatch(line); {
		case inside && strings.TrimSpace(line) == "```":
			all = append(all, current)
			inside, said = false, block{}
		case inside:
			current.text += strings.TrimPrefix(line, indent) + "\n"
		case opening != nil && opening[2] == "":
			indent, inside, current = opening[1], true, said
			current.line = i + 1
		default:
			said = block{}
			switch m := marker.FindStringSubmatch(line); {
			case m == nil && strings.Contains(line, "<!--"):
				t.Errorf("%s:%d: comment without a reason: %s", page, i+1, line)
			case m == nil:
			case m[1] == "not run" && m[2] != "":
				said.not = m[2]
			case m[1] == "refused":
				said.refuse = true
			case m[1] == "prints":
				said.prints = m[2]
			}
		}
	}
	return all
}

// The commands of every guide work in page order with a fresh `tenantry dev`. The test prints the
// reason for each block that it does not run.
func TestGuides(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "curl", "sed", "jq"} {
		testkit.Program(t, program)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatal(len(pages), err)
	}
	pages = append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../deploy/README.md")
	var mu sync.Mutex
	read, ran, left := 0, 0, map[string]int{}
	t.Cleanup(func() {
		t.Logf("%d pieces of shell were run", ran)
		for _, why := range slices.Sorted(maps.Keys(left)) {
			t.Logf("%d were not: %s", left[why], why)
		}
		if read == len(pages) && ran < 30 {
			t.Error("too few code blocks found")
		}
	})
	slots := make(chan struct{}, 4) // each guide runs its own service
	for _, page := range pages {
		all := blocks(t, page)
		t.Run(path.Base(page), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			n := runGuide(t, all)
			mu.Lock()
			defer mu.Unlock()
			read, ran = read+1, ran+n
			for _, b := range all {
				if b.not != "" {
					left[b.not]++
				}
			}
		})
	}
}

// runGuide runs the blocks of a page and returns their number.
func runGuide(t *testing.T, all []block) int {
	all = slices.DeleteFunc(slices.Clone(all), func(b block) bool { return b.not != "" })
	if len(all) == 0 {
		return 0
	}
	address, folder := freeAddress(t), t.TempDir()
	env := append(os.Environ(), "TENANTRY_ADDR="+address, "TENANTRY_DATA="+filepath.Join(folder, "data"),
		"TENANTRY_DATABASE_URL="+dbtest.URL(t, sqldb.SQLite), "TENANTRY_LOG_LEVEL=warn")
	server := startDev(t, env, address)
	shell := startShell(t, env)
	shell.run(t, fmt.Sprintf("cd %q; set -eu -o pipefail; curl() { command curl --fail-with-body --max-time 60 \"$@\"; }", folder))
	here := strings.NewReplacer("127.0.0.1:8080", address, "localhost:8080", address, "go run ./cmd/tenantry", "tenantry")
	for _, b := range all {
		step := here.Replace(b.text)
		t.Logf("line %d:\n%s", b.line, step)
		if b.refuse {
			step = "if (\n" + step + "); then echo 'it was not refused'; exit 1; fi"
		}
		printed := shell.run(t, step)
		if !strings.Contains(printed, b.prints) {
			t.Errorf("line %d does not print %q but\n%s", b.line, b.prints, printed)
		}
	}
	server.stop(t)
	return len(all)
}
