package account

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// HashCost is the work that one password hash takes.
type HashCost struct {
	MemoryKiB uint32 // in KiB
	Passes    uint32 // over the memory
}

// DefaultHashCost returns 19 MiB and 2 passes, which the OWASP Password Storage Cheat
// Sheet recommends with 1 lane.
func DefaultHashCost() HashCost { return HashCost{MemoryKiB: 19 * 1024, Passes: 2} }

// passwordHasher hashes and checks passwords with Argon2id. A password is hashed in Unicode NFKC
// (NIST SP 800-63B, section 3.1.1.2): keyboards write é as one code point or as two. A hash keeps a core busy for
// tens of milliseconds, so no more run at once than there are cores: a burst of
// logins waits here and does not take the memory of the rest of the service.
type passwordHasher struct {
	params    *argon2id.Params
	slots     chan struct{}
	dummyHash string // the hash that a login for an unknown email is checked against
}

// NewPasswords returns a hasher that runs as many hashes at once as there are cores.
func NewPasswords(cost HashCost) *passwordHasher {
	params := &argon2id.Params{Memory: cost.MemoryKiB, Iterations: cost.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return &passwordHasher{params: params, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), dummyHash: dummyHash(params)}
}

// dummyHash returns a hash that takes as long to check as one with the parameters. It is that of
// no known password: to compute one would take a start the time of a login.
func dummyHash(p *argon2id.Params) string {
	part := func(text string, length uint32) string {
		return base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(text, int(length))[:length]))
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Iterations, p.Parallelism,
		part("no salt", p.SaltLength), part("no key", p.KeyLength))
}

// HashNew is Hash for a password that somebody chooses. One that everybody uses is a
// validation error on password (rules: account#passwords).
func (p *passwordHasher) HashNew(ctx context.Context, password string) (string, error) {
	if err := CheckNewPassword(password); err != nil {
		return "", err
	}
	return p.Hash(ctx, password)
}

// CheckNewPassword refuses a common password.
func CheckNewPassword(password string) error {
	if isCommonPassword(password) {
		return errCommonPassword
	}
	return nil
}

// Hash returns the hash of a password, in the PHC string format. It fails when ctx
// ends while it waits for a core.
func (p *passwordHasher) Hash(ctx context.Context, password string) (string, error) {
	if err := p.acquireSlot(ctx); err != nil {
		return "", err
	}
	defer p.releaseSlot()
	return argon2id.CreateHash(norm.NFKC.String(password), p.params)
}

// Matches reports whether a hash is that of a password. A nil hash matches nothing
// and takes the same time as any other, so that the time of a login does not reveal
// which emails have an account.
func (p *passwordHasher) Matches(ctx context.Context, password string, hash *string) (bool, error) {
	ok, _, err := p.check(ctx, password, hash)
	return ok, err
}

// check is Matches, and reports whether a matching hash is outdated: made with other
// parameters than p has, by another function, or from a password that was not normalized.
func (p *passwordHasher) check(ctx context.Context, password string, hash *string) (ok, isOutdated bool, err error) {
	if err := p.acquireSlot(ctx); err != nil {
		return false, false, err
	}
	defer p.releaseSlot()
	normal := norm.NFKC.String(password)
	if ok, err = p.matches(normal, hash); ok || err != nil || password == normal {
		return ok, ok && p.hasOtherParams(*hash), err
	}
	// Older and imported hashes are of passwords as they were typed.
	ok, err = p.matches(password, hash)
	return ok, ok, err
}

func (p *passwordHasher) matches(password string, hash *string) (bool, error) {
	switch {
	case hash == nil:
		_, err := argon2id.ComparePasswordAndHash(password, p.dummyHash)
		return false, err
	case isBcrypt(*hash):
		return matchesBcrypt(password, *hash)
	}
	return argon2id.ComparePasswordAndHash(password, *hash)
}

// hasOtherParams reports whether a hash was made with other parameters than p has, or by
// another function.
func (p *passwordHasher) hasOtherParams(hash string) bool {
	params, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || *params != *p.params
}

func (p *passwordHasher) acquireSlot(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *passwordHasher) releaseSlot() { <-p.slots }
