package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/tenantry/tenantry/internal/authz"
)

// A secret is authz.KeyPrefix, random letters and digits, and a checksum of those, by
// which scanners for leaked secrets tell a key from other text, and by which a mistyped
// one is refused without a look-up (rules: api-keys#secrets).
const (
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomLength   = 42
	checksumLength = 6
	shownLength    = 12 // how much of a secret is shown later, with the prefix
)

// newSecret returns a secret, each of its random characters equally likely: random bytes
// that would favour the first characters are left out.
func newSecret() string {
	const fair = 256 - 256%len(alphabet)
	random := make([]byte, 0, randomLength)
	batch := make([]byte, randomLength)
	for len(random) < randomLength {
		_, _ = rand.Read(batch) // crypto/rand never fails: it ends the process instead
		for _, b := range batch {
			if int(b) < fair && len(random) < randomLength {
				random = append(random, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return authz.KeyPrefix + string(random) + checksum(string(random))
}

// checksum returns the CRC-32 of a text in base 62, padded with zeros.
func checksum(text string) string {
	digits := [checksumLength]byte{}
	sum := crc32.ChecksumIEEE([]byte(text))
	for i := checksumLength - 1; i >= 0; i-- {
		digits[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits[:])
}

// wellFormed reports whether a text can be a secret: its checksum is right.
func wellFormed(text string) bool {
	rest, ok := strings.CutPrefix(text, authz.KeyPrefix)
	return ok && len(rest) == randomLength+checksumLength && checksum(rest[:randomLength]) == rest[randomLength:]
}

// hash returns the form in which a secret is stored. A fast hash without a salt is
// enough, because secrets are random and long.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
