// Package secrets protects values at rest that the service must read again or compare: it encrypts
// them, or stores a keyed hash, under one key that lives in a file outside the database
// (rules: account#secrets-at-rest).
package secrets

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// keyLength is the length of the key in bytes: AES-256.
const keyLength = 32

// idLength is the length of a key ID in bytes. The ID distinguishes keys, so it may be short.
const idLength = 4

// ErrOtherKey means that a stored value was protected with another key.
var ErrOtherKey = errors.New("the value was protected with another key")

// errDamaged means that a stored value is not intact, or belongs to another place.
var errDamaged = errors.New("the protected value is damaged")

// Key protects secrets. Stored values begin with the ID of the key and a dot, so that the start
// check recognizes another key without decrypting anything.
type Key struct {
	id   string
	aead cipher.AEAD
	mac  []byte
}

// New returns the key with the given 32 random bytes. The keys for encryption and for hashes are
// derived from them, so that neither use reveals anything about the other.
func New(secret []byte) (*Key, error) {
	if len(secret) != keyLength {
		return nil, fmt.Errorf("the key has %d bytes instead of %d", len(secret), keyLength)
	}
	derive := func(use string, length int) ([]byte, error) {
		return hkdf.Key(sha256.New, secret, nil, "tenantry secrets: "+use, length)
	}
	id, idErr := derive("id", idLength)
	sealing, sealErr := derive("encryption", keyLength)
	mac, macErr := derive("hash", keyLength)
	if err := errors.Join(idErr, sealErr, macErr); err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Key{id: hex.EncodeToString(id), aead: aead, mac: mac}, err
}

// Seal encrypts a secret with AES-256-GCM. place names the row and the column that store the value:
// a value that is copied to another place cannot be opened there.
func (k *Key) Seal(place, secret string) string {
	sealed := k.aead.Seal(nil, nil, []byte(secret), []byte(place)) //nolint:gosec // the cipher generates the nonce
	return k.id + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// Open decrypts a value that Seal returned for the same place. It returns ErrOtherKey for a value
// of another key.
func (k *Key) Open(place, stored string) (string, error) {
	id, text, _ := strings.Cut(stored, ".")
	if id != k.id {
		return "", ErrOtherKey
	}
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", errDamaged
	}
	secret, err := k.aead.Open(nil, nil, sealed, []byte(place))
	if err != nil {
		return "", errDamaged
	}
	return string(secret), nil
}

// Hash returns the HMAC-SHA-256 of a code. Codes are short, so a plain hash of one could be
// reversed by trial. place names the row: the same code has another hash in another place.
func (k *Key) Hash(place, code string) string {
	mac := hmac.New(sha256.New, k.mac)
	fmt.Fprintf(mac, "%d:%s%s", len(place), place, code)
	return k.id + "." + hex.EncodeToString(mac.Sum(nil))
}

// generate returns the text of a new key file.
func generate() string {
	secret := make([]byte, keyLength)
	_, _ = rand.Read(secret) // crypto/rand never fails: it crashes the program instead
	return base64.StdEncoding.EncodeToString(secret) + "\n"
}

// parse returns the key in the text of a key file.
func parse(text string) (*Key, error) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("the file does not contain a key in base64")
	}
	return New(secret)
}
