package apikey

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"

	"github.com/tenantry/tenantry/internal/authz"
)

// A secret consists of authz.KeyPrefix, random letters and digits, and their checksum. The checksum
// lets secret scanners recognize keys, and lets the server reject a mistyped key without a database
// query (rules: api-keys#secrets).
const (
	alphabet       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomLength   = 42
	checksumLength = 6
	shownLength    = 12 // length of the prefix shown later, including authz.KeyPrefix
)

// newSecret returns a random secret. It discards random bytes that would make the first characters
// of the alphabet more likely than the others.
func newSecret() string {
	const fair = 256 - 256%len(alphabet)
	random := make([]byte, 0, randomLength)
	batch := make([]byte, randomLength)
	for len(random) < randomLength {
		_, _ = rand.Read(batch) // crypto/rand never fails: it crashes the program instead
		for _, b := range batch {
			if int(b) < fair && len(random) < randomLength {
				random = append(random, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return authz.KeyPrefix + string(random) + checksum(string(random))
}

// checksum returns the CRC-32 of the text in base 62, padded with zeros.
func checksum(text string) string {
	digits := [checksumLength]byte{}
	sum := crc32.ChecksumIEEE([]byte(text))
	for i := checksumLength - 1; i >= 0; i-- {
		digits[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(digits[:])
}

// wellFormed reports whether the text has the format of a secret and a correct checksum.
func wellFormed(text string) bool {
	rest, ok := strings.CutPrefix(text, authz.KeyPrefix)
	return ok && len(rest) == randomLength+checksumLength && checksum(rest[:randomLength]) == rest[randomLength:]
}

// hash returns the hash under which a secret is stored. A fast, unsalted hash is sufficient because
// secrets are long and random.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
