package domain

import (
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Example.COM.": "example.com", " example.com ": "example.com", "mail.example.co.uk": "mail.example.co.uk",
		"bücher.example": "xn--bcher-kva.example", "acme.test": "acme.test", "a-b.example.org": "a-b.example.org",
	} {
		if got, ok := normalize(text); !ok || got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"", ".", "com", "co.uk", "github.io", "gmail.com", "GMAIL.com", "mail.gmail.com", "outlook.fr", "192.0.2.1", "[192.0.2.1]", "2001:db8::1",
		"[2001:db8::1]", "localhost", "a\u200bb.example.com", "a..example.com", "-a.example.com", "a_b.example.com", "ada@example.com", "https://example.com",
		"example.com/path", "exa mple.com", "*.example.com", "1.2.3.4.5", "example.com..", strings.Repeat("a", 64) + ".example.com",
	} {
		if got, ok := normalize(text); ok {
			t.Errorf("%q is accepted as %q", text, got)
		}
	}
}
