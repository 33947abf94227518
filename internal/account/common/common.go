// Package common knows the passwords that everybody uses (rules: account#passwords).
//
// passwords.txt.gz has the 10,000 most common in lower case, a line each. They come from
// the frequency lists of github.com/ccojocar/zxcvbn-go v1.0.4 (MIT, see LICENSE.txt):
// all of its list of passwords, and of its lists of words and names, out of which that
// one leaves what they have, the most frequent of at least eight letters; with variants
// of these, such as those with figures at their end.
package common

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"
)

//go:embed passwords.txt.gz
var compressed []byte

// list is read when the first password is looked up. It cannot fail: the list is a part
// of the program, and a test reads it.
var list = sync.OnceValue(func() map[string]struct{} {
	words := make(map[string]struct{}, 10_000)
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

// Has reports whether a password is one of the most common, without regard to case.
func Has(password string) bool {
	_, ok := list()[strings.ToLower(password)]
	return ok
}
