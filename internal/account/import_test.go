package account

import (
	"errors"
	"strings"
	"testing"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/bcrypt"
)

// argonHash returns an Argon2id hash with parameters of another system.
func argonHash(t testing.TB, password string, change func(*argon2id.Params)) string {
	t.Helper()
	p := &argon2id.Params{Memory: 1024, Iterations: 1, Parallelism: 2, SaltLength: 16, KeyLength: 32}
	if change != nil {
		change(p)
	}
	hash, err := argon2id.CreateHash(password, p)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func bcryptHash(t testing.TB, password string) string {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(hash)
}

// checkHash accepts the hash formats of other systems that a login can check.
func TestCheckHash(t *testing.T) {
	t.Parallel()
	known := bcryptHash(t, "correct horse")
	for _, c := range []struct {
		name, hash string
		want       error
	}{
		{"bcrypt", known, nil},
		{"bcrypt of PHP", "$2y$" + known[4:], nil},
		{"bcrypt of Python", "$2b$" + known[4:], nil},
		{"bcrypt at the limit", "$2a$14$" + known[7:], nil},
		{"Argon2id", argonHash(t, "correct horse", nil), nil},
		{"bcrypt that takes long", "$2a$15$" + known[7:], errHashCost},
		{"bcrypt that takes days", "$2a$31$" + known[7:], errHashCost},
		{"bcrypt of no cost", "$2a$xx$" + known[7:], errHashFormat},
		{"bcrypt cut off", known[:59], errHashFormat},
		{"bcrypt with more", known + "a", errHashFormat},
		{"old crypt", "$1$salt$qJH7.N4xYta3aEG/dfqo/0", errHashFormat},
		{"MD5", "5f4dcc3b5aa765d61d8327deb882cf99", errHashFormat},
		{"PBKDF2 of Django", "pbkdf2_sha256$260000$salt$hash", errHashFormat},
		{"Argon2i", strings.Replace(argonHash(t, "correct horse", nil), "argon2id", "argon2i", 1), errHashFormat},
		{"a password", "correct horse", errHashFormat},
		{"nothing", "", errHashFormat},
		{"Argon2id with a short key", argonHash(t, "correct horse", func(p *argon2id.Params) { p.KeyLength = 8 }), errHashFormat},
		{"Argon2id with a short salt", argonHash(t, "correct horse", func(p *argon2id.Params) { p.SaltLength = 4 }), errHashFormat},
		{"Argon2id with many passes", argonHash(t, "correct horse", func(p *argon2id.Params) { p.Iterations = 11 }), errHashCost},
		{
			"Argon2id with much memory",
			strings.Replace(argonHash(t, "correct horse", nil), "m=1024", "m=4194304", 1),
			errHashCost,
		},
		{
			"Argon2id with no passes",
			strings.Replace(argonHash(t, "correct horse", nil), "t=1", "t=0", 1),
			errHashFormat,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := checkHash(c.hash); !errors.Is(got, c.want) {
				t.Errorf("%q: %v, want %v", c.hash, got, c.want)
			}
		})
	}
}

// A login accepts imported hashes and reports them as outdated.
func TestImportedHashesMatch(t *testing.T) {
	t.Parallel()
	p := NewPasswords(HashCost{MemoryKiB: 64, Passes: 1})
	known := bcryptHash(t, "correct horse")
	for name, hash := range map[string]string{
		"bcrypt":           known,
		"bcrypt of PHP":    "$2y$" + known[4:],
		"bcrypt of Python": "$2b$" + known[4:],
		"Argon2id":         argonHash(t, "correct horse", nil),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for password, want := range map[string]bool{
				"correct horse":  true,
				"Correct horse":  false,
				"correct horse ": false,
				"":               false,
			} {
				if got, err := p.Matches(t.Context(), password, &hash); got != want || err != nil {
					t.Errorf("%q: %t, %v", password, got, err)
				}
			}
			if !p.hasOtherParams(hash) {
				t.Error("the hash would stay")
			}
		})
	}
}
