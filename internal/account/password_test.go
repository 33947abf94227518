package account

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// noTenants is a tenantStore for tests that need no tenants.
type noTenants struct{}

func (noTenants) Create(context.Context, int64, string) (uuid.UUID, error) { return uuid.Nil, nil }

func (noTenants) LocaleOf(context.Context, int64, *string, string) (string, error) {
	return "en", nil
}
func (noTenants) MarkActive(uuid.UUID)                                       {}
func (noTenants) LockTenantOf(context.Context, int64) error                  { return nil }
func (noTenants) RemoveUnverifiedOwner(context.Context, int64) error         { return nil }
func (noTenants) MembershipsOf(context.Context, int64) ([]Membership, error) { return nil, nil }

func newTestService(t *testing.T, db *sqldb.DB) *Service {
	t.Helper()
	passwords := NewPasswords(HashCost{})
	return NewService(Deps{
		DB: db, Clock: clock.System(), Passwords: passwords, Tenants: noTenants{}, Lifetimes: DefaultLifetimes(),
	})
}

// A login rehashes a password whose hash has other parameters, and only then.
func TestLoginRenewsOutdatedHashes(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := newTestService(t, db)
		old, err := argon2id.CreateHash("correct horse", &argon2id.Params{Memory: 8 * 1024, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.insertUser(t.Context(), newUser{name: "Ada", email: "ada@example.com", passwordHash: &old}, clock.System().Now()); err != nil {
			t.Fatal(err)
		}
		hash := func() string {
			_, hash, err := s.store.userByEmail(t.Context(), "ada@example.com")
			if err != nil {
				t.Fatal(err)
			}
			return *hash
		}
		if _, _, err := s.Login(t.Context(), "ada@example.com", "wrong horse", Grant{}); err == nil || hash() != old {
			t.Errorf("a wrong password: %v, and the hash is renewed: %t", err, hash() != old)
		}
		for range 2 {
			before := hash()
			if _, _, err := s.Login(t.Context(), "ada@example.com", "correct horse", Grant{}); err != nil {
				t.Fatal(err)
			}
			if renewed := hash() != before; renewed != (before == old) {
				t.Errorf("renewed: %t", renewed)
			}
		}
		if s.deps.Passwords.hasOtherParams(hash()) {
			t.Error("the hash is still outdated")
		}
	})
}

// At most one hash runs per core, and a waiting caller can give up.
func TestHashingIsBounded(t *testing.T) {
	t.Parallel()
	p := NewPasswords(HashCost{})
	var running, most atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := p.acquireSlot(t.Context()); err != nil {
				t.Error(err)
				return
			}
			defer p.releaseSlot()
			now := running.Add(1)
			for {
				seen := most.Load()
				if now <= seen || most.CompareAndSwap(seen, now) {
					break
				}
			}
			time.Sleep(time.Millisecond) // holds the slot, so that further goroutines would overlap
			running.Add(-1)
		})
	}
	wg.Wait()
	if limit := int64(runtime.GOMAXPROCS(0)); most.Load() > limit {
		t.Errorf("%d at once on %d cores", most.Load(), limit)
	}
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Hash(ctx, "x"); err == nil {
		t.Error("canceled caller kept waiting")
	}
}

// The dummy hash has the parameters of all other hashes, so a login with an unknown email takes as
// long.
func TestDecoyCostsAsMuch(t *testing.T) {
	t.Parallel()
	for _, cost := range []HashCost{defaultHashCost, {MemoryKiB: 64, Passes: 1}} {
		p := NewPasswords(cost)
		params, salt, key, err := argon2id.DecodeHash(p.dummyHash)
		if err != nil {
			t.Fatal(err)
		}
		if *params != *p.params || len(salt) != 16 || len(key) != 32 {
			t.Errorf("%+v with %d and %d bytes, want %+v", params, len(salt), len(key), p.params)
		}
		if matches, err := p.Matches(t.Context(), "correct horse", nil); matches || err != nil {
			t.Errorf("%t, %v", matches, err)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		access, refresh := newAccessToken(), newRefreshToken()
		if len(access) != 43 || len(refresh) != 64 {
			t.Fatalf("lengths %d and %d", len(access), len(refresh))
		}
		if seen[access] || seen[refresh] {
			t.Fatal("a token came twice")
		}
		seen[access], seen[refresh] = true, true
	}
}

// A password matches regardless of how its accents are encoded. Older hashes of passwords that were
// not normalized match the original encoding until a login replaces them.
func TestPasswordsAreNormalized(t *testing.T) {
	t.Parallel()
	p := NewPasswords(HashCost{MemoryKiB: 64, Passes: 1})
	composed, decomposed, wide := "P\u00e4ssw\u00f6rter", "Pa\u0308sswo\u0308rter", "\uff30\u00e4ssw\u00f6rter" // NFC, NFD, full-width P
	old, err := argon2id.CreateHash(decomposed, p.params)
	if err != nil {
		t.Fatal(err)
	}
	bcrypted := bcryptHash(t, decomposed)
	for _, made := range []string{composed, decomposed, wide} {
		hash, err := p.Hash(t.Context(), made)
		if err != nil {
			t.Fatal(err)
		}
		for _, typed := range []string{composed, decomposed, wide} {
			if ok, outdated, err := p.check(t.Context(), typed, &hash); !ok || outdated || err != nil {
				t.Errorf("hash of %+q, typed %+q: %t, outdated %t, %v", made, typed, ok, outdated, err)
			}
		}
		if ok, err := p.Matches(t.Context(), "Passworter", &hash); ok || err != nil {
			t.Errorf("without accents: %t, %v", ok, err)
		}
	}
	for _, hash := range []string{old, bcrypted} {
		if ok, outdated, err := p.check(t.Context(), decomposed, &hash); !ok || !outdated || err != nil {
			t.Errorf("an older hash: %t, outdated %t, %v", ok, outdated, err)
		}
	}
	if ok, err := p.Matches(t.Context(), decomposed, nil); ok || err != nil {
		t.Errorf("no hash: %t, %v", ok, err)
	}
	if _, err := p.HashNew(t.Context(), "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44"); err == nil { // "password" in full-width letters
		t.Error("a common password in full-width letters is accepted")
	}
}
