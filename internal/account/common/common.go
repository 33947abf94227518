// Package common knows the passwords that everybody uses (rules: account#passwords).
//
// passwords.txt.gz has those of at least eight letters, which is what an account may have,
// in lower case, sorted, a line each. They are all that is that long in three lists, made of
// what was stolen elsewhere: the 20,000 of Django 3.2.25, the first 10,000 of
// @zxcvbn-ts/language-common 4.1.3 and the 7,141 of github.com/ccojocar/zxcvbn-go v1.0.4
// (licences in LICENSE.txt).
package common

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

//go:embed passwords.txt.gz
var compressed []byte

// list is read when the first password is looked up. It cannot fail: the list is a part
// of the program, and a test reads it.
var list = sync.OnceValue(func() map[string]struct{} {
	words := make(map[string]struct{}, 11_000)
	text, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic("the list of common passwords: " + err.Error())
	}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		words[lines.Text()] = struct{}{}
	}
	if err := lines.Err(); err != nil {
		panic("the list of common passwords: " + err.Error())
	}
	return words
})

// Has reports whether a password, in the form that is hashed, is one of the most common,
// without regard to case.
func Has(password string) bool {
	_, ok := list()[strings.ToLower(norm.NFKC.String(password))]
	return ok
}
