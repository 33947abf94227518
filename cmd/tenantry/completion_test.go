package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit"
)

// words returns the completions for the last word of a command line.
func words(t *testing.T, before ...string) []string {
	t.Helper()
	var out, problem bytes.Buffer
	p := &process{out: &out, err: &problem, getenv: func(string) string { return "" }}
	if code := run(context.Background(), append([]string{completeCommand}, before...), p); code != exitOK || problem.Len() > 0 {
		t.Fatalf("exit code %d: %s", code, &problem)
	}
	var list []string
	for line := range strings.Lines(out.String()) {
		word, help, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || strings.Contains(help, "\n") {
			t.Errorf("line %q is not a word and its help", line)
		}
		list = append(list, word)
	}
	return list
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"ba":                             {"backup"},
		"admin ":                         {"create", "list", "grant", "revoke", "reset-factors"},
		"admin cr":                       {"create"},
		"admin create --em":              {"--email"},
		"admin create --email ":          nil,
		"admin create --email a@b.c --n": {"--name"},
		"jobs ":                          {"list", "retry", "drop"},
		"jobs drop --k":                  {"--kind"},
		"completion ":                    {"bash", "zsh", "fish"},
		"completion z":                   {"zsh"},
		"mail preview invitation --lo":   {"--logo", "--locales", "--locale"},
		"nothing of the kind --nothing ": nil,
	} {
		got := words(t, strings.Split(typed, " ")...)
		if typed == "nothing of the kind --nothing " {
			got = nil // only the exit code matters
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", typed, diff)
		}
	}
	if all := words(t); len(all) < 10 {
		t.Errorf("without a word: %v", all)
	}
}

// The bash script works in bash.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash := testkit.Program(t, "bash")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "tenantry")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", `
eval "$(tenantry completion bash)"
COMP_WORDS=(tenantry admin cr) COMP_CWORD=2
_tenantry tenantry cr admin
echo "${COMPREPLY[@]}"
COMP_WORDS=(tenantry admin list --) COMP_CWORD=3
_tenantry tenantry -- list
echo "${#COMPREPLY[@]}"
complete -p tenantry`)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 || lines[0] != "create" || len(lines[1]) > 2 || lines[1] < "2" || lines[2] != "complete -o default -F _tenantry tenantry" {
		t.Errorf("%v: %s", err, out)
	}
}
