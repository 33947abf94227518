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
	// secretPrefix is how the secrets of Standard Webhooks begin; base64 follows.
	secretPrefix = "whsec_"
	secretBytes  = 32
	// overlap is how long a secret signs beside the one that took its place.
	overlap = 24 * time.Hour
	// maxSecrets bounds the header where somebody rotates again and again.
	maxSecrets = 10
)

// secrets are those of an endpoint, the newest first (rules: webhooks#secrets). Whoever
// signs has to know a secret, so it cannot be stored as a hash: they are kept as they are,
// in one column of the database that nothing else reads, that no answer shows after the
// one that makes it, and that neither logs nor the trail of changes get to see. Whoever can
// read the database can read everything that the events say, too.
type secrets []secret

type secret struct {
	Text  string     `json:"text"`
	Until *time.Time `json:"until,omitempty"` // nil for the present one
}

// newSecret returns a secret of random bytes.
func newSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // crypto/rand never fails: it ends the process instead
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// rotate returns the secrets with a new present one, without those that are over.
func (s secrets) rotate(text string, now time.Time) secrets {
	until := now.Add(overlap)
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

// sign returns the signatures of a message with every secret that is valid at a time, as
// the header has them.
func (s secrets) sign(id string, at int64, body []byte, now time.Time) string {
	var signatures []string
	for _, one := range s {
		if one.Until == nil || one.Until.After(now) {
			signatures = append(signatures, Signature(one.Text, id, at, body))
		}
	}
	return strings.Join(signatures, " ")
}

// Signature returns the signature of a message, as Standard Webhooks has it: at is the time
// in the header, in seconds.
func Signature(secret, id string, at int64, body []byte) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix)) // ours decode
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + strconv.FormatInt(at, 10) + ".")) // a hash takes everything
	_, _ = mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// encode returns the secrets as the database has them.
func (s secrets) encode() (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode secrets: %w", err)
	}
	return string(text), nil
}

// readSecrets is the opposite of stored. Its errors do not say what was read.
func readSecrets(text string) (secrets, error) {
	var s secrets
	if json.Unmarshal([]byte(text), &s) != nil {
		return nil, errUnreadable
	}
	return s, nil
}
