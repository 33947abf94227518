// Command notice writes the licenses of the program's modules to standard output (make notice). It
// fails for an unknown license, so that a person reads it first.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	text, err := notice()
	if err == nil {
		_, err = os.Stdout.WriteString(text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// module is a module with packages in the program.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// notice returns the text of NOTICE: a sorted line for each module, and the notices that some
// licenses require.
func notice() (string, error) {
	modules, err := modulesOfProgram()
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
		text, err := os.ReadFile(file)
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
func modulesOfProgram() ([]module, error) {
	cmd := exec.CommandContext(context.Background(), "env", "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0",
		"go", "list", "-deps", "-json=Module", "./cmd/tenantry")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var modules []module
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct{ Module *module }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main && !slices.Contains(modules, *p.Module) {
			modules = append(modules, *p.Module)
		}
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
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
