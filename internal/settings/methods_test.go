package settings_test

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

// The login methods are a list of known names; email codes are off by default. An unknown name stops
// the start.
func TestLoginMethods(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		"":                    {"password", "oauth", "passkey"},
		"password":            {"password"},
		"email_code, passkey": {"email_code", "passkey"},
		"oauth,oauth":         {"oauth"},
		"password,sms":        nil,
		"Password":            nil,
		",":                   nil,
	} {
		flags := settings.HTTPFlags{LoginMethods: value}
		s, err := settings.DevFlags{HTTPFlags: flags}.Settings(env(nil))
		if want == nil {
			_, serveErr := settings.ServeFlags{HTTPFlags: flags}.Settings(env(nil))
			if err == nil || !containsName(err, "TENANTRY_LOGIN_METHODS") || !containsName(serveErr, "TENANTRY_LOGIN_METHODS") {
				t.Errorf("%q: %v", value, err)
			}
			continue
		}
		if got := s.EnabledLoginMethods(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", value, got, err)
		}
		if s.AllowsLogin(settings.EmailCodeLogin) != slices.Contains(want, "email_code") {
			t.Errorf("%q: email codes", value)
		}
	}
}
