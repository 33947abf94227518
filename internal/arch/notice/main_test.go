package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// NOTICE matches the current dependencies of the program, and every license only requires
// attribution.
func TestNoticeIsUpToDate(t *testing.T) {
	t.Chdir("../../..")
	want, err := notice()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("NOTICE is not what `make notice` writes")
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
