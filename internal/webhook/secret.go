package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// secretPrefix is the prefix of Standard Webhooks secrets. Base64 follows.
	secretPrefix = "whsec_"
	secretBytes  = 32
	// rotationGrace is how long a rotated secret continues to sign.
	rotationGrace = 24 * time.Hour
	// maxSecrets limits the length of the signature header after repeated rotations.
	maxSecrets = 10
)

// secrets are the secrets of an endpoint, newest first (rules: webhooks#secrets). Signing requires
// the secret itself, so it cannot be hashed. The secrets are stored in plain text in a column that
// nothing else reads. No API response contains a secret, except the response that creates it, and
// neither do logs or the audit trail. A person who can read the database can read the contents of
// all events anyway.
type secrets []secret

type secret struct {
	Text  string     `json:"text"`
	Until *time.Time `json:"until,omitempty"` // nil for the current secret
}

// newSecret returns a secret of random bytes.
func newSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // crypto/rand never returns an error; it crashes the process instead
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// rotate adds text as the current secret and removes expired secrets.
func (s secrets) rotate(text string, now time.Time) secrets {
	until := now.Add(rotationGrace)
	next := secrets{{Text: text}}
	for _, old := range s {
		if old.Until == nil {
			old.Until = &until
		}
		if old.Until.After(now) && len(next) < maxSecrets {
			next = append(next, old)
		}
	}
	return next
}

// sign returns the signatures of a message with every secret that is valid at now, in the format of
// the header.
func (s secrets) sign(id string, at int64, body []byte, now time.Time) string {
	var signatures []string
	for _, one := range s {
		if one.Until == nil || one.Until.After(now) {
			signatures = append(signatures, Signature(one.Text, id, at, body))
		}
	}
	return strings.Join(signatures, " ")
}

// Signature returns the signature of a message as defined by Standard Webhooks. at is the time in
// the webhook-timestamp header, in Unix seconds.
func Signature(secret, id string, at int64, body []byte) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix)) // our secrets are valid base64
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + strconv.FormatInt(at, 10) + ".")) // writing to a hash never fails
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// encode returns the secrets in the format of the database.
func (s secrets) encode() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode secrets: %w", err)
	}
	return string(text), nil
}

// readSecrets is the inverse of encode. Its errors do not contain the input.
func readSecrets(text string) (secrets, error) {
	var s secrets
	if json.Unmarshal([]byte(text), &s) != nil {
		return nil, errUnreadable
	}
	return s, nil
}
