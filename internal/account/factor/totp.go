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
	"time"
)

const (
	stepSeconds  = 30
	codeDigits   = 6
	codeModulus  = 1_000_000
	secretLength = 20 // in bytes: 160 bits
	tolerance    = 1  // steps before and after the current one
)

// newTOTPSecret returns a random secret in base32 without padding.
func newTOTPSecret() string {
	secret := make([]byte, secretLength)
	_, _ = rand.Read(secret) // crypto/rand never fails: it crashes the program instead
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret)
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
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
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
