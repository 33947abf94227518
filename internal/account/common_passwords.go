package account

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"
)

// common_passwords.txt.gz lists common passwords of at least eight characters, the minimum length
// for an account. They are in lower case, sorted, one per line. Sources: the 20,000 of Django
// 3.2.25, the first 10,000 of @zxcvbn-ts/language-common 4.1.3 and the 7,141 of
// github.com/ccojocar/zxcvbn-go v1.0.4 (licenses in common_passwords_license.txt).
//
//go:embed common_passwords.txt.gz
var compressedPasswords []byte

// commonPasswords reads the list at the first lookup. It cannot fail, because the list is embedded
// and a test reads it.
var commonPasswords = sync.OnceValue(func() map[string]struct{} {
	words := make(map[string]struct{}, 11_000)
	text, err := gzip.NewReader(bytes.NewReader(compressedPasswords))
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

// isCommonPassword reports whether a password is in the list, ignoring case (rules:
// account#passwords).
func isCommonPassword(password string) bool {
	_, ok := commonPasswords()[strings.ToLower(norm.NFKC.String(password))]
	return ok
}
