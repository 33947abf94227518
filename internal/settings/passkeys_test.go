package settings_test

import (
	"errors"
	"net/url"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

// The relying party of passkeys is the host of the frontend, or a registrable parent domain.
func TestRelyingParty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ frontend, id, want string }{
		{"https://app.example.com", "", "app.example.com"},
		{"https://app.example.com:8443/x", "", "app.example.com"},
		{"https://app.example.com", "example.com", "example.com"},
		{"https://app.example.com", "Example.com", "example.com"},
		{"https://app.example.com", "app.example.com", "app.example.com"},
		{"https://app.example.com", "com", ""},
		{"https://app.example.com", "ample.com", ""},
		{"https://app.example.com", "other.com", ""},
		{"https://app.example.com", "www.app.example.com", ""},
		{"https://app.example.co.uk", "co.uk", ""},
		{"https://app.example.co.uk", "example.co.uk", "example.co.uk"},
		{"http://127.0.0.1:8080", "", "localhost"},
		{"http://[::1]:8080", "", "localhost"},
		{"http://localhost:8080", "", "localhost"},
		{"http://127.0.0.1:8080", "127.0.0.1", ""},
	} {
		u, err := url.Parse(c.frontend)
		if err != nil {
			t.Fatal(err)
		}
		id, err := settings.Settings{FrontendURL: u, PasskeyRPID: c.id}.RelyingParty()
		if id != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s with %q: %q, %v", c.frontend, c.id, id, err)
		}
		_, err = settings.ServeFlags{HTTPFlags: settings.HTTPFlags{FrontendURL: c.frontend, PasskeyRPID: c.id}}.Settings(env(nil))
		if names := err != nil && containsName(err, "TENANTRY_PASSKEY_RP_ID"); names != (c.want == "") {
			t.Errorf("serve with %s and %q: %v", c.frontend, c.id, err)
		}
	}
}

func containsName(err error, name string) bool {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return false
	}
	for _, one := range joined.Unwrap() {
		if wrong := (*settings.Error)(nil); errors.As(one, &wrong) && wrong.Name == name {
			return true
		}
	}
	return false
}
