package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/SherClockHolmes/webpush-go"
)

// Keys is the service's P-256 key pair in base64url. Browser subscriptions are bound to the public
// key, so replacing the pair invalidates all of them.
type Keys struct{ Public, Private string }

// NewKeys generates a key pair.
func NewKeys() (Keys, error) {
	private, public, err := webpush.GenerateVAPIDKeys()
	return Keys{Public: public, Private: private}, err
}

// Errors of Subscription.Validate.
var (
	ErrEndpoint = errors.New("push: the endpoint is not an https URL")
	ErrP256dh   = errors.New("push: p256dh is not a point on P-256")
	ErrAuth     = errors.New("push: auth is not 16 bytes long")
)

// authLength is the length of a browser's authentication secret in bytes (RFC 8291, section 3.2).
const authLength = 16

// Subscription is a browser's push endpoint with its encryption keys in base64url.
type Subscription struct{ Endpoint, P256dh, Auth string }

// Validate checks the format of a subscription. The error matches ErrEndpoint, ErrP256dh and
// ErrAuth for each malformed part.
func (s Subscription) Validate() error {
	var broken []error
	if u, err := url.Parse(s.Endpoint); err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		broken = append(broken, ErrEndpoint)
	}
	if point, err := decode(s.P256dh); err != nil {
		broken = append(broken, fmt.Errorf("%w: %w", ErrP256dh, err))
	} else if _, err := ecdh.P256().NewPublicKey(point); err != nil {
		broken = append(broken, fmt.Errorf("%w: %w", ErrP256dh, err))
	}
	if secret, err := decode(s.Auth); err != nil || len(secret) != authLength {
		broken = append(broken, ErrAuth)
	}
	return errors.Join(broken...)
}

// decode decodes base64url, with or without padding.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}
