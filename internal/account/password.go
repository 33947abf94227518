package account

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"

	"github.com/tenantry/tenantry/internal/account/common"
)

// HashCost is the work that one password hash takes.
type HashCost struct {
	MemoryKiB uint32 // in KiB
	Passes    uint32 // over the memory
}

// DefaultHashCost returns 19 MiB and 2 passes, which the OWASP Password Storage Cheat
// Sheet recommends with 1 lane.
func DefaultHashCost() HashCost { return HashCost{MemoryKiB: 19 * 1024, Passes: 2} }

// Passwords hashes and checks passwords with Argon2id. A hash keeps a core busy for
// tens of milliseconds, so no more run at once than there are cores: a burst of
// logins waits here and does not take the memory of the rest of the service.
type Passwords struct {
	params *argon2id.Params
	slots  chan struct{}
	decoy  string // the hash that a login for an unknown email is checked against
}

// NewPasswords returns a hasher that runs as many hashes at once as there are cores.
func NewPasswords(cost HashCost) *Passwords {
	params := &argon2id.Params{Memory: cost.MemoryKiB, Iterations: cost.Passes, Parallelism: 1, SaltLength: 16, KeyLength: 32}
	return &Passwords{params: params, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), decoy: decoy(params)}
}

// decoy returns a hash that takes as long to check as one with the parameters. It is that of
// no known password: to compute one would take a start the time of a login.
func decoy(p *argon2id.Params) string {
	part := func(text string, length uint32) string {
		return base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat(text, int(length))[:length]))
	}
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Iterations, p.Parallelism,
		part("no salt", p.SaltLength), part("no key", p.KeyLength))
}

// HashNew is Hash for a password that somebody chooses. One that everybody uses is a
// validation error on password (rules: account#passwords).
func (p *Passwords) HashNew(ctx context.Context, password string) (string, error) {
	if common.Has(password) {
		return "", errCommonPassword
	}
	return p.Hash(ctx, password)
}

// Hash returns the hash of a password, in the PHC string format. It fails when ctx
// ends while it waits for a core.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	if err := p.enter(ctx); err != nil {
		return "", err
	}
	defer p.leave()
	return argon2id.CreateHash(password, p.params)
}

// Matches reports whether a hash is that of a password. A nil hash matches nothing
// and takes the same time as any other, so that the time of a login does not reveal
// which emails have an account.
func (p *Passwords) Matches(ctx context.Context, password string, hash *string) (bool, error) {
	if err := p.enter(ctx); err != nil {
		return false, err
	}
	defer p.leave()
	if hash == nil {
		_, err := argon2id.ComparePasswordAndHash(password, p.decoy)
		return false, err
	}
	if isBcrypt(*hash) {
		return matchesBcrypt(password, *hash)
	}
	return argon2id.ComparePasswordAndHash(password, *hash)
}

// outdated reports whether a hash was made with other parameters than p has, or by
// another function.
func (p *Passwords) outdated(hash string) bool {
	params, _, _, err := argon2id.DecodeHash(hash)
	return err != nil || *params != *p.params
}

func (p *Passwords) enter(ctx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Passwords) leave() { <-p.slots }
