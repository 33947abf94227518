package oauth

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestOAuthCookieIsSecureUnderHTTPS(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{"https://api.example.com": true, "http://127.0.0.1:8080": false} {
		h := &HTTP{svc: &Service{deps: Deps{PublicURL: url}}}
		cookie := h.cookie("KEY")
		if strings.Contains(cookie, "; Secure") != want || strings.HasPrefix(cookie, "__Host-tenantry_oauth=KEY; Path=/;") != want {
			t.Errorf("%s: %s", url, cookie)
		}
		read := h.key("plain", "host")
		if (read == "host") != want {
			t.Errorf("%s: read %s", url, read)
		}
	}
}

func TestPersonName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want string }{
		"plain":        {"Ada Lovelace", "Ada Lovelace"},
		"padded":       {" \t Ada\u0000 ", "Ada"},
		"none":         {"", "ada"},
		"only control": {"\n\x7f", "ada"},
		"unseen":       {"A\u200bd\u202ea\ue000", "Ada"},
		"not UTF-8":    {"Ad\xffa", "Ada"},
		"too long":     {strings.Repeat("é", 254) + " long", strings.Repeat("é", 254)},
	} {
		if got := PersonName(c.given, "ada@example.com"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestBrowserKeys(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ": true, "23456723456723456723456723": true,
		"": false, "ABC": false, "abcdefghijklmnopqrstuvwxyz": false, "ABCDEFGHIJKLMNOPQRSTUVWXY1": false, strings.Repeat("A", 27): false,
	} {
		if isBrowserKey(key) != want {
			t.Errorf("%q", key)
		}
	}
}

func TestLenientBool(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`true`: true, `"true"`: true, `1`: true, `"1"`: true,
		`false`: false, `"false"`: false, `0`: false, `null`: false, `"yes"`: false, `[true]`: false, `{}`: false, `2`: false,
	} {
		var got lenientBool
		if err := got.UnmarshalJSON([]byte(text)); err != nil || bool(got) != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
}

func TestAnswersAreLimited(t *testing.T) {
	t.Parallel()
	for size, fails := range map[int]bool{0: false, maxProviderBody: false, maxProviderBody + 1: true, 3 * maxProviderBody: true} {
		client := &http.Client{Transport: limitedAnswers{answers(size)}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://provider.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if (err != nil) != fails || len(body) > maxProviderBody+1 {
			t.Errorf("response of %d bytes: read %d: %v", size, len(body), err)
		}
	}
}

// answers is a transport whose responses have the given number of bytes.
type answers int

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(strings.Repeat("x", int(a))))}, nil
}
