package factor

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"
)

// The test vectors of RFC 6238, appendix B, for SHA-1, with the last six of their eight digits.
func TestStandardCodes(t *testing.T) {
	t.Parallel()
	key := []byte("12345678901234567890")
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if got := totpCode(key, at/stepSeconds); got != code {
			t.Errorf("at %d: %s, want %s", at, got, code)
		}
	}
}

// A secret of another system is read without regard to case, spaces, hyphens and padding.
func TestParseSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "gezd gnbv gy3t qojq": "GEZDGNBVGY3TQOJQ",
		"GEZD-GNBV-GY3T-QOJQ-GE======": "GEZDGNBVGY3TQOJQGE", strings.Repeat("A", 102) + "A": strings.Repeat("A", 103),
		"": "", "GEZDGNBVGY3TQOI": "", "GEZDGNBVGY3TQOJ1": "", "GEZDGNBVGY3TQOJQG": "", "no secret at all": "", strings.Repeat("A", 104): "",
	} {
		got, err := ParseSecret(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the error contains the secret: %v", err)
		}
	}
}

// A code is accepted in its own step, one step before and one step after. After a step is accepted,
// that step and earlier steps are rejected.
func TestStepsAreAcceptedOnce(t *testing.T) {
	t.Parallel()
	secret := newTOTPSecret()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	if err != nil || len(key) != 20 || len(secret) != 32 {
		t.Fatalf("the secret %s has %d bytes, %v", secret, len(key), err)
	}
	now := time.Unix(1_800_000_015, 0)
	step := now.Unix() / stepSeconds
	for offset, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		if got, ok := matchTOTP(secret, totpCode(key, step+offset), 0, now); ok != want || ok && got != step+offset {
			t.Errorf("%+d steps: %v", offset, ok)
		}
		if _, ok := matchTOTP(secret, totpCode(key, step+offset), step, now); ok != (offset == 1) {
			t.Errorf("%+d steps after the current one was used: %v", offset, ok)
		}
	}
	for _, code := range []string{"", "12345", "1234567", totpCode(key, step) + " ", strings.Repeat("0", 1000)} {
		if _, ok := matchTOTP(secret, code, 0, now); ok {
			t.Errorf("accepted %q", code)
		}
	}
}

func TestRecoveryCodesAreReadLeniently(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"abcde-fghj0": "ABCDEFGHJ0", " aBcDe fghjO ": "ABCDEFGHJ0", "ILilO-00000": "1111000000"} {
		if got, ok := normalRecoveryCode(text); !ok || got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "ABCDE-FGHJ", "ABCDE-FGHJKM", "ABCDE-FGHJU", "ABCDE-FGHJ!"} {
		if got, ok := normalRecoveryCode(text); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
	for range 100 {
		code := newRecoveryCode()
		if normal, ok := normalRecoveryCode(code); !ok || len(code) != 11 || code[5] != '-' || normal != strings.ReplaceAll(code, "-", "") {
			t.Fatalf("new code %q", code)
		}
	}
}

func TestURLNamesTheAppAndTheUser(t *testing.T) {
	t.Parallel()
	const want = "otpauth://totp/Acme%20&%20Sons:ada+x@example.com?secret=ABC&issuer=Acme%20&%20Sons&algorithm=SHA1&digits=6&period=30"
	if got := otpauthURL("Acme & Sons", "ada+x@example.com", "ABC"); strings.ReplaceAll(got, "%26", "&") != want {
		t.Error(got)
	}
	svg, err := qrSVG(want)
	if err != nil || !strings.HasPrefix(svg, "<svg ") || !strings.HasSuffix(svg, "</svg>") || strings.Contains(svg, "script") || strings.Contains(svg, "href") {
		t.Errorf("%v in %s", err, svg)
	}
}
