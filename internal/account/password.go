package account

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// HashCost is the cost of one password hash. The zero value means the default.
type HashCost struct {
	MemoryKiB uint32 // memory in KiB
	Passes    uint32 // passes over the memory
}

// defaultHashCost is 19 MiB and 2 passes, as recommended by the OWASP Password Storage Cheat Sheet
// for 1 lane.
var defaultHashCost = HashCost{MemoryKiB: 19 * 1024, Passes: 2}

// PasswordHasher hashes and checks passwords with Argon2id. It normalizes passwords to Unicode NFKC
// (NIST SP 800-63B, section 3.1.1.2), because keyboards type é as one code point or as two. A hash
// keeps a core busy for tens of milliseconds. At most one hash runs per core, so a burst of logins
// waits instead of exhausting the memory.
type PasswordHasher struct {
	params    *argon2id.Params
	slots     chan struct{}
	dummyHash string // checked at a login with an unknown email
}

// NewPasswords returns a hasher that runs at most one hash per core concurrently.
func NewPasswords(cost HashCost) *PasswordHasher {
	cost = cmp.Or(cost, defaultHashCost)
	params := &argon2id.Params{Memory: cost.MemoryKiB, Iterations: cost.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return &PasswordHasher{params: params, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), dummyHash: dummyHash(params)}
}

// dummyHash returns a hash with the given parameters that takes as long to check as any other and
// matches no known password. Computing a real hash would delay the start by the time of a login.
func dummyHash(p *argon2id.Params) string {
	part := func(text string, length uint32) string {
		return base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(text, int(length))[:length]))
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Iterations, p.Parallelism,
		part("no salt", p.SaltLength), part("no key", p.KeyLength))
}

// HashNew is like Hash, for a password that a user chooses. A common password is a validation error
// on password (rules: account#passwords).
func (p *PasswordHasher) HashNew(ctx context.Context, password string) (string, error) {
	if err := CheckNewPassword(password); err != nil {
		return "", err
	}
	return p.Hash(ctx, password)
}

// CheckNewPassword returns a validation error for a common password.
func CheckNewPassword(password string) error {
	if isCommonPassword(password) {
		return errCommonPassword
	}
	return nil
}

// Hash returns the hash of a password in the PHC string format. It returns an error if ctx is done
// while it waits for a core.
func (p *PasswordHasher) Hash(ctx context.Context, password string) (string, error) {
	if err := p.acquireSlot(ctx); err != nil {
		return "", err
	}
	defer p.releaseSlot()
	return argon2id.CreateHash(norm.NFKC.String(password), p.params)
}

// Matches reports whether a password matches a hash. A nil hash matches no password and takes the
// same time, so that the time of a login does not reveal whether an account exists.
func (p *PasswordHasher) Matches(ctx context.Context, password string, hash *string) (bool, error) {
	ok, _, err := p.check(ctx, password, hash)
	return ok, err
}

// check is like Matches, and also reports whether a matching hash is outdated: made with other
// parameters or another function, or from a password that was not normalized.
func (p *PasswordHasher) check(ctx context.Context, password string, hash *string) (ok, isOutdated bool, err error) {
	if err := p.acquireSlot(ctx); err != nil {
		return false, false, err
	}
	defer p.releaseSlot()
	normal := norm.NFKC.String(password)
	if ok, err = p.matches(normal, hash); ok || err != nil || password == normal {
		return ok, ok && p.hasOtherParams(*hash), err
	}
	// Older and imported hashes were made from the password as typed.
	ok, err = p.matches(password, hash)
	return ok, ok, err
}

func (p *PasswordHasher) matches(password string, hash *string) (bool, error) {
	switch {
	case hash == nil:
		_, err := argon2id.ComparePasswordAndHash(password, p.dummyHash)
		return false, err
	case isBcrypt(*hash):
		return matchesBcrypt(password, *hash)
	}
	return argon2id.ComparePasswordAndHash(password, *hash)
}

// hasOtherParams reports whether a hash was made with other parameters or by another function.
func (p *PasswordHasher) hasOtherParams(hash string) bool {
	params, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || *params != *p.params
}

func (p *PasswordHasher) acquireSlot(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *PasswordHasher) releaseSlot() { <-p.slots }
