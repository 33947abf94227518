package settings

import (
	"slices"
	"strings"
)

// The methods of a login.
const (
	PasswordLogin  = "password"
	OAuthLogin     = "oauth"
	PasskeyLogin   = "passkey"
	EmailCodeLogin = "email_code"
)

// loginMethods are the methods that can be enabled.
func loginMethods() []string {
	return []string{PasswordLogin, OAuthLogin, PasskeyLogin, EmailCodeLogin}
}

// EnabledLoginMethods returns the methods by which users can log in.
func (s Settings) EnabledLoginMethods() []string {
	if s.LoginMethods == nil {
		return []string{PasswordLogin, OAuthLogin, PasskeyLogin}
	}
	return s.LoginMethods
}

// AllowsLogin reports whether users can log in by a method.
func (s Settings) AllowsLogin(method string) bool {
	return slices.Contains(s.EnabledLoginMethods(), method)
}

// loginMethods reads the enabled login methods. It returns nil for the default.
func (p *parser) loginMethods(name, value string) []string {
	var methods []string
	for _, method := range list(value) {
		switch {
		case !slices.Contains(loginMethods(), method):
			p.fail(name, "unknown login method %q; methods: %s", method, strings.Join(loginMethods(), ", "))
		case !slices.Contains(methods, method):
			methods = append(methods, method)
		}
	}
	if len(methods) == 0 && value != "" {
		p.fail(name, "must contain at least one of %s", strings.Join(loginMethods(), ", "))
	}
	return methods
}
