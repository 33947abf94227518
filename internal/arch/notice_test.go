package arch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update NOTICE")

// NOTICE matches the current dependencies of the program, and every license only requires
// attribution. With -update, the test writes NOTICE (make notice).
func TestNoticeIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := notice("../..")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("../../NOTICE", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("NOTICE is out of date: run `make notice`")
	}
	if found := regexp.MustCompile(`\b(A?GPL|LGPL|MPL|EPL|SSPL|BUSL)\b`).FindString(want); found != "" {
		t.Errorf("a licence that is not permissive: %s", found)
	}
}

func TestLicences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"MIT License\n\nPermission is hereby granted,\nfree of charge, to any person": "MIT",
		"   Apache License\n   Version 2.0, January 2004":                             "Apache-2.0",
		" * Redistributions in binary form must\n * reproduce\nNeither the name of X": "BSD-3-Clause",
		"Redistributions in binary form must reproduce the above":                     "BSD-2-Clause",
		"Permission to use, copy, modify, and distribute this software for any":       "ISC",
		"GNU GENERAL PUBLIC LICENSE":                                                  "",
		"":                                                                            "",
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "LICENSE.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := licenceOf(folder); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v; want %q", strings.TrimSpace(text), got, err, want)
		}
	}
	if got := shortVersion("v0.0.0-20260820222146-c27c302e5fc3"); got != "v0.0.0-c27c302e5fc3" {
		t.Error(got)
	}
}

// goModule is a module with packages in the program.
type goModule struct {
	Path, Version, Dir string
	Main               bool
}

// notice returns the text of NOTICE: a sorted line for each module, and the notices that some
// licenses require. It fails for an unknown license, so that a person reads it first. root is the
// folder of the repository.
func notice(root string) (string, error) {
	modules, err := modulesOfProgram(root)
	if err != nil {
		return "", err
	}
	var out, handedOn strings.Builder
	out.WriteString("Tenantry contains these modules, under these licences. All are permissive. Their texts are\n" +
		"in the modules themselves, which `go mod download` fetches. Written by `make notice`.\n\n")
	for _, m := range modules {
		licence, err := licenceOf(m.Dir)
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
		}
		fmt.Fprintf(&out, "%-52s %-12s %s\n", m.Path, shortVersion(m.Version), licence)
		text, err := os.ReadFile(filepath.Join(m.Dir, "NOTICE"))
		switch {
		case err == nil:
			fmt.Fprintf(&handedOn, "\n== The notice of %s\n\n%s\n", m.Path, strings.TrimSpace(string(text)))
		case !errors.Is(err, os.ErrNotExist):
			return "", err
		}
	}
	for _, file := range dataLicences {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&handedOn, "\n== The licence of data in %s\n\n%s\n", filepath.Dir(file), strings.TrimSpace(string(text)))
	}
	return out.String() + handedOn.String(), nil
}

// dataLicences are the licenses of third-party data in this repository.
var dataLicences = []string{"internal/account/common_passwords_license.txt", "internal/invoice/pdf/fonts/LICENSE.txt"}

// shortVersion removes the date from a pseudo-version.
func shortVersion(version string) string {
	if at := strings.IndexByte(version, '-'); at > 0 {
		return version[:at] + "-" + version[strings.LastIndexByte(version, '-')+1:]
	}
	return version
}

// modulesOfProgram returns the modules of the program's packages, for the platform of the releases.
func modulesOfProgram(root string) ([]goModule, error) {
	cmd := exec.CommandContext(context.Background(), "env", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0",
		"go", "list", "-deps", "-json=Module", "./cmd/tenantry")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var modules []goModule
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ Module *goModule }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main && !slices.Contains(modules, *p.Module) {
			modules = append(modules, *p.Module)
		}
	}
	slices.SortFunc(modules, func(a, b goModule) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// licences maps words to licenses, the most specific first. The comparison ignores spaces and line
// ends.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"BSD-3-Clause", "Neither the name"},
	{"BSD-3-Clause", "The name of the author may not be used to endorse"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "Permission to use, copy, modify, and distribute this software"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
}

// licenceOf returns the name of the license in a module's folder.
func licenceOf(folder string) (string, error) {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "License*", "license*", "COPYING*", "UNLICENSE*"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return "", err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			plain := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "*", "")), " ")
			for _, l := range licences {
				if strings.Contains(plain, l.words) {
					return l.name, nil
				}
			}
		}
	}
	return "", errors.New("unknown license")
}
