package factor

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6238 and all authenticator apps use SHA-1
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	stepSeconds  = 30
	codeDigits   = 6
	codeModulus  = 1_000_000
	secretLength = 20 // in bytes: 160 bits
	tolerance    = 1  // steps before and after the current one
)

// secretEncoding is the encoding of secrets, also in the database before encryption.
var secretEncoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// newTOTPSecret returns a random secret in base32 without padding.
func newTOTPSecret() string {
	secret := make([]byte, secretLength)
	_, _ = rand.Read(secret) // crypto/rand never fails: it crashes the program instead
	return secretEncoding.EncodeToString(secret)
}

// Limits of a secret from another system, in bytes. Many systems use 10, less than RFC 4226
// requires of new secrets.
const minSecret, maxSecret = 10, 64

// ParseSecret converts the secret of an authenticator app from another system to the stored form.
// It ignores case, spaces, hyphens and padding. The error does not contain the secret.
func ParseSecret(text string) (string, error) {
	text = strings.TrimRight(strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(text)), "=")
	key, err := secretEncoding.DecodeString(text)
	isCut := slices.Contains([]int{1, 3, 6}, len(text)%8) // the decoder drops the last character
	if err != nil || isCut || len(key) < minSecret || len(key) > maxSecret {
		return "", errSecret
	}
	return secretEncoding.EncodeToString(key), nil
}

// totpCode returns the code of a time step (RFC 6238 with SHA-1 and six digits).
func totpCode(secret []byte, step int64) string {
	mac := hmac.New(sha1.New, secret)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash never returns an error
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[at:at+4]) & 0x7fffffff
	return fmt.Sprintf("%0*d", codeDigits, number%codeModulus)
}

// matchTOTP returns the time step for which a code is valid. It reports false for a wrong code, and
// for a code of a step at or before last: each step is accepted once (RFC 6238, section 5.2).
func matchTOTP(secret, code string, last int64, now time.Time) (step int64, ok bool) {
	key, err := secretEncoding.DecodeString(secret)
	if err != nil || len(code) != codeDigits {
		return 0, false
	}
	current := now.Unix() / stepSeconds
	for at := current - tolerance; at <= current+tolerance; at++ {
		if at > last && subtle.ConstantTimeCompare([]byte(totpCode(key, at)), []byte(code)) == 1 {
			return at, true
		}
	}
	return 0, false
}

// otpauthURL returns the URL that authenticator apps read from a QR code.
func otpauthURL(issuer, email, secret string) string {
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + email}
	query := fmt.Sprintf("secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d", secret, url.PathEscape(issuer), codeDigits, stepSeconds)
	u.RawQuery = query
	return u.String()
}
