package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
)

// The sources of the settings name exactly the flags of serve and dev, apart from the flags for
// files with secrets.
func TestSourcesNameTheFlags(t *testing.T) {
	t.Parallel()
	var commands cli
	parser, err := kong.New(&commands)
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(string) string { return "" }
	for name, read := range map[string][]settings.Source{
		"serve": settings.ServeFlags{}.Sources(getenv), "dev": settings.DevFlags{}.Sources(getenv),
	} {
		got := map[string]string{}
		for _, s := range read {
			if s.Flag != "" {
				got[s.Flag] = s.Variable
			}
		}
		want := map[string]string{}
		for _, flag := range childOf(parser.Model.Node, name).Flags {
			if isSecretFile := flag.Tag.Has("secret") && strings.HasSuffix(flag.Name, "-file"); isSecretFile || flag.Name == "help" {
				continue
			}
			want["--"+flag.Name] = ""
			if len(flag.Envs) > 0 {
				want["--"+flag.Name] = flag.Envs[0]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
