package mail_test

import (
	"errors"
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/mail"
)

func TestNormalizeAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ada@example.test":               "ada@example.test",
		"Ada.Lovelace+x@Example.TEST":    "ada.lovelace+x@example.test",
		"o'brien@sub.example.test":       "o'brien@sub.example.test",
		"ada@bücher.example":             "ada@xn--bcher-kva.example",
		"ada@BÜCHER.example":             "ada@xn--bcher-kva.example",
		"ada@xn--bcher-kva.example":      "ada@xn--bcher-kva.example",
		strings.Repeat("a", 64) + "@b.c": strings.Repeat("a", 64) + "@b.c",
	} {
		got, err := mail.NormalizeAddress(text)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
		if again, err := mail.NormalizeAddress(got); err != nil || again != got {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
		if m := (mail.Message{To: got, Text: "t"}); m.Validate() != nil {
			t.Errorf("no mail can be sent to %q", got)
		}
	}
	for _, text := range []string{
		"", "@", "ada", "ada@", "@example.test", "ada@example", "ada@@example.test", "ada@ex@ample.test", "ada lovelace@example.test",
		".ada@example.test", "ada.@example.test", "a..da@example.test", "ädä@example.test", `"ada"@example.test`, "ada@[192.0.2.1]", "ada@192.0.2.1",
		"ada@-example.test", "ada@example-.test", "ada@example..test", "ada@.test", "ada@example.test.", "ada@exa_mple.test", "ada@exa mple.test",
		"ada@b\xfccher.example", "ada@example.test\r\nBcc: eve@example.test", "Ada <ada@example.test>", "ada@example.test, eve@example.test",
		strings.Repeat("a", 65) + "@b.c", "a@" + strings.Repeat("b", 64) + ".c", "a@" + strings.Repeat("b.", 127) + "c", strings.Repeat("a", 5000),
	} {
		if got, err := mail.NormalizeAddress(text); !errors.Is(err, mail.ErrAddress) {
			t.Errorf("%q is parsed as %q, %v", text, got, err)
		}
	}
}

func FuzzNormalizeAddress(f *testing.F) {
	f.Add("ada@example.test")
	f.Add("Ada@bücher.example")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := mail.NormalizeAddress(text)
		if err != nil {
			return
		}
		if again, err := mail.NormalizeAddress(got); err != nil || again != got {
			t.Fatalf("%q → %q → %q, %v", text, got, again, err)
		}
		if parsed, err := netmail.ParseAddress(got); err != nil || parsed.Address != got {
			t.Fatalf("%q → %q, want a bare address: %v", text, got, err)
		}
	})
}
