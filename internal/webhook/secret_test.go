package webhook

import (
	"strings"
	"testing"
	"time"
)

// The example of the Standard Webhooks specification.
func TestSignature(t *testing.T) {
	t.Parallel()
	got := Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A rotated secret continues to sign for a day. The number of signatures is limited, and the
// current secret is first.
func TestRotatedSecrets(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := secrets{{Text: newSecret()}}
	first := s[0].Text
	s = s.rotate(newSecret(), now)
	signed := func(at time.Time) int { return len(strings.Fields(s.sign("id", 1, nil, at))) }
	if len(s) != 2 || s[1].Text != first || s[0].Until != nil || signed(now.Add(rotationGrace-time.Second)) != 2 || signed(now.Add(rotationGrace)) != 1 {
		t.Errorf("%+v", s)
	}
	s = s.rotate(newSecret(), now.Add(time.Hour))
	if len(s) != 3 || !s[2].Until.Equal(now.Add(rotationGrace)) || !s[1].Until.Equal(now.Add(time.Hour+rotationGrace)) {
		t.Errorf("%+v", s)
	}
	if later := s.rotate(newSecret(), now.Add(rotationGrace+time.Minute)); len(later) != 3 {
		t.Errorf("expired secrets are kept: %+v", later)
	}
	for range 20 {
		s = s.rotate(newSecret(), now.Add(2*time.Hour))
	}
	if len(s) != maxSecrets || signed(now.Add(2*time.Hour)) != maxSecrets {
		t.Errorf("%d secrets", len(s))
	}
	text, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := readSecrets(text); err != nil || len(back) != len(s) || back[0].Text != s[0].Text {
		t.Errorf("%v %v", back, err)
	}
	if _, err := readSecrets(first); err == nil || strings.Contains(err.Error(), first) {
		t.Errorf("%v", err)
	}
}
