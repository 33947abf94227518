package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A disabled method returns LOGIN_METHOD_DISABLED, before validation. Email codes are off by default.
func TestDisabledLoginMethods(t *testing.T) {
	t.Parallel()
	routes := map[string][][2]string{
		settings.PasswordLogin: {{"POST", "/login"}, {"POST", "/forgot-password"}, {"POST", "/reset-password"}},
		settings.OAuthLogin: {
			{"GET", "/oauth/sandbox/redirect"}, {"GET", "/oauth/unknown/redirect"}, {"GET", "/oauth/sandbox/callback"}, {"POST", "/oauth/exchange"},
		},
		settings.PasskeyLogin:   {{"POST", "/passkey/options"}, {"POST", "/passkey"}},
		settings.EmailCodeLogin: {{"POST", "/email-code"}, {"POST", "/email-code/login"}},
	}
	for name, enabled := range map[string][]string{
		"default": nil, "password": {settings.PasswordLogin}, "oauth": {settings.OAuthLogin}, "codes": {settings.EmailCodeLogin, settings.PasskeyLogin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				set := settings.Settings{LoginMethods: enabled}
				listed := []any{}
				for _, method := range set.EnabledLoginMethods() {
					listed = append(listed, method)
				}
				shown := s.Call("GET", "/api/v1/settings", "", nil).Want(200).WantAt("data.login_methods", listed)
				providers := s.Call("GET", "/api/v1/auth/oauth/providers", "", nil).Want(200)
				if set.AllowsLogin(settings.OAuthLogin) {
					providers.WantAt("providers", []any{"sandbox"})
				} else {
					providers.WantAt("providers", []any{})
					shown.WantAt("data.oauth_providers", []any{})
				}
				for method, list := range routes {
					for _, route := range list {
						a := s.Call(route[0], "/api/v1/auth"+route[1], "", map[bool]any{true: apptest.Object{"code": 7}}[route[0] == "POST"]).As(route[1])
						if isOff := a.At("code") == "LOGIN_METHOD_DISABLED"; isOff == set.AllowsLogin(method) || isOff && a.Status != 403 {
							t.Errorf("%s with %v: %d %s", route[1], set.EnabledLoginMethods(), a.Status, a.Text)
						}
					}
				}
			}, func(s *settings.Settings) { s.LoginMethods = enabled })
		})
	}
}
