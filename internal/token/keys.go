package token

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// rotateEvery is the age at which the periodic job retires the key that signs.
	rotateEvery = 90 * 24 * time.Hour
	// publishFormer is how long the key set contains a retired key.
	publishFormer = 7 * 24 * time.Hour
)

// KeysDeps holds the dependencies of Keys.
type KeysDeps struct {
	DB      *sqldb.DB
	Clock   clock.Clock
	Secrets *secrets.Key // encrypts the private keys
	Audit   *audit.Log
}

// Keys manages the keys that sign tokens (ES256). The first use creates the keys, so a new
// installation does not contain them.
//
// Invariant: once keys exist, exactly two keys are not retired. The key with the lower number
// signs. The other key is the next one; it is public from its creation, so verifiers know it before
// it signs.
type Keys struct {
	deps  KeysDeps
	store store
}

// NewKeys returns the signing keys of a database.
func NewKeys(d KeysDeps) *Keys { return &Keys{deps: d, store: store{d.DB}} }

// key is a signing key.
type key struct {
	number    int64
	id        string  // RFC 7638 thumbprint
	public    []byte  // uncompressed point of P-256
	private   *string // encrypted; nil once the key is retired
	activeAt  *time.Time
	retiredAt *time.Time
}

// signer returns the private key that signs.
func (k *Keys) signer(ctx context.Context) (jose.JSONWebKey, error) {
	keys, err := k.load(ctx)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	current := inUse(keys)[0]
	text, err := k.deps.Secrets.Open(rowOfKey(current.id), *current.private)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("open signing key: %w", err)
	}
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), []byte(text))
	return jose.JSONWebKey{Key: private, KeyID: current.id}, err
}

// Rotate retires the key that signs. The next key signs from then on. It returns the ID of that key.
func (k *Keys) Rotate(ctx context.Context) (id string, err error) {
	return k.rotate(ctx, func(key) bool { return true })
}

// RotateOld rotates the keys if the key that signs is old enough, and deletes retired keys that have
// left the key set. It is a periodic job.
func (k *Keys) RotateOld(ctx context.Context) error {
	now := k.deps.Clock.Now()
	keys, err := k.store.keys(ctx, now)
	if err != nil || len(keys) == 0 { // never used
		return err
	}
	isOld := func(current key) bool { return !current.activeAt.Add(rotateEvery).After(now) }
	if isOld(inUse(keys)[0]) {
		if _, err := k.rotate(ctx, isOld); err != nil {
			return err
		}
	}
	return k.store.deleteRetired(ctx, now.Add(-publishFormer))
}

// rotate replaces the key that signs if isDue accepts it. It returns the ID of the key that signs
// afterwards.
//
// Invariant: rotations are serialized by the lock on the keys in use, so two concurrent ones never
// activate or create the same key.
func (k *Keys) rotate(ctx context.Context, isDue func(current key) bool) (id string, err error) {
	err = k.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := k.load(ctx); err != nil {
			return err
		}
		if err := k.store.lockKeysInUse(ctx); err != nil {
			return err
		}
		now := k.deps.Clock.Now()
		keys, err := k.store.keys(ctx, now)
		if err != nil {
			return err
		}
		current, next := inUse(keys)[0], inUse(keys)[1]
		if id = current.id; !isDue(current) {
			return nil
		}
		id = next.id
		if err := k.store.retire(ctx, current.number, now); err != nil {
			return err
		}
		if err := k.store.activate(ctx, next.number, now); err != nil {
			return err
		}
		if err := k.create(ctx, next.number+1, nil); err != nil {
			return err
		}
		return k.deps.Audit.Record(ctx, audit.Entry{
			Action: "signing_key.rotated", Resource: "signing_key", ResourceID: next.id,
			Before: map[string]any{"kid": current.id}, After: map[string]any{"kid": next.id},
		})
	})
	return id, err
}

// load returns the keys of the key set: retired keys whose tokens can still be valid, the key that
// signs, and the next one. At the first use it creates two keys. It reads the database each time,
// so that a rotation applies to all processes immediately.
//
// Invariant: concurrent first uses create one pair. All of them insert the numbers 1 and 2. The
// second insert waits for the first one and then does nothing.
func (k *Keys) load(ctx context.Context) ([]key, error) {
	after := k.deps.Clock.Now().Add(-publishFormer)
	keys, err := k.store.keys(ctx, after)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	err = k.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := k.deps.Clock.Now()
		if err := k.create(ctx, 1, &now); err != nil {
			return err
		}
		return k.create(ctx, 2, nil)
	})
	if err != nil {
		return nil, err
	}
	return k.store.keys(ctx, after)
}

// create generates a key and stores it, unless a key has the number already.
func (k *Keys) create(ctx context.Context, number int64, activeAt *time.Time) error {
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, publicErr := pair.PublicKey.Bytes()
	private, privateErr := pair.Bytes()
	thumbprint, err := (&jose.JSONWebKey{Key: &pair.PublicKey}).Thumbprint(crypto.SHA256)
	if err := errors.Join(publicErr, privateErr, err); err != nil {
		return fmt.Errorf("encode signing key: %w", err)
	}
	id := base64.RawURLEncoding.EncodeToString(thumbprint)
	return k.store.insert(ctx, key{
		number: number, id: id, public: public, private: new(k.deps.Secrets.Seal(rowOfKey(id), string(private))), activeAt: activeAt,
	}, k.deps.Clock.Now())
}

// inUse returns the key that signs and the next one. Retired keys come before them.
func inUse(keys []key) []key { return keys[len(keys)-2:] }

// rowOfKey binds an encrypted private key to its row.
func rowOfKey(id string) string { return "signing_keys.private_key " + id }
