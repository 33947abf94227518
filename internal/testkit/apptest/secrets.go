package apptest

import (
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// secrets collects every password, token and code in the requests and responses of a test. When the
// test ends, the service's log must not contain any of them. The log level is the most verbose one,
// so the traffic of all tests checks for leaks.
type secrets struct {
	mu    sync.Mutex
	known map[string]bool
}

// carriers are the keys of JSON values that are secret.
var carriers = []string{"password", "token", "code", "secret", "card_number"}

func (s *secrets) note(secret string) {
	if len(secret) < 8 { // too short to distinguish from other text in the log
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[secret] = true
}

func (s *secrets) noteJSON(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			text, ok := value.(string)
			if ok && (isSecretKey(key) || key == "code" && uuid.Validate(text) == nil) {
				s.note(text)
			}
			s.noteJSON(value)
		}
	case []any:
		for _, value := range v {
			s.noteJSON(value)
		}
	}
}

// noteLocation records the secrets in the query of a redirect.
func (s *secrets) noteLocation(location string) {
	if u, err := url.Parse(location); err == nil {
		for _, key := range []string{"code", "state", "nonce", "code_challenge"} {
			s.note(u.Query().Get(key))
		}
	}
}

func isSecretKey(key string) bool {
	key = strings.ToLower(key)
	// The codes of errors, meters and features are not secret. The one-time code of a delegated
	// login has a different form.
	if key == "code" || strings.HasSuffix(key, "_code") {
		return false
	}
	for _, c := range carriers {
		if strings.Contains(key, c) {
			return true
		}
	}
	return false
}

func (s *secrets) checkAbsent(t testing.TB, log string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for secret := range s.known {
		if strings.Contains(log, secret) {
			t.Errorf("the log has the secret %q", secret)
		}
	}
}
