package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// A refresh token consists of 64 letters and digits (rules: account#logins).
const (
	refreshAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	refreshLength   = 64
)

// newAccessToken returns 256 random bits in base64url.
func newAccessToken() string {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // crypto/rand never fails: it crashes the program instead
	return base64.RawURLEncoding.EncodeToString(bits)
}

// tokenLength is the length of access and session tokens: 256 bits in base64url.
const tokenLength = 43

// newRefreshToken returns 64 random letters and digits. It discards random bytes that would make
// the first letters more likely than the others.
func newRefreshToken() string {
	const fair = 256 - 256%len(refreshAlphabet)
	token := make([]byte, 0, refreshLength)
	batch := make([]byte, refreshLength)
	for len(token) < refreshLength {
		_, _ = rand.Read(batch)
		for _, b := range batch {
			if int(b) < fair && len(token) < refreshLength {
				token = append(token, refreshAlphabet[int(b)%len(refreshAlphabet)])
			}
		}
	}
	return string(token)
}

// hashToken returns the hash under which a token is stored. A fast, unsalted hash is sufficient
// because tokens are long and random.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
