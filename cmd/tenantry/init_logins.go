package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tenantry/tenantry/internal/settings"
)

// The prefixes of the variables of identity providers.
const (
	oauthPrefix = "TENANTRY_OAUTH_"
	oidcPrefix  = "TENANTRY_OIDC_"
)

// askLogins adds the identity providers of the environment to the settings. Without any, it asks for
// them, and repeats the question until the answers are valid.
func (c *initCmd) askLogins(ctx context.Context, f *envFile, p *process) error {
	isGiven := false
	for _, entry := range p.environ() {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, oauthPrefix) && !strings.HasPrefix(name, oidcPrefix) {
			continue
		}
		if path, err := filepath.Abs(value); err == nil && strings.HasSuffix(name, "_FILE") {
			value = path // serve can start in another folder
		}
		f.set(name, value)
		isGiven = true
	}
	if isGiven || c.NoInput {
		_, err := settings.LoginProviders(f.environ())
		return err
	}
	for {
		answer, err := prompt(ctx, p, "Sign in with google, microsoft, github, or a name for an OpenID Connect issuer? (separate several with commas)", "none", false)
		if err != nil {
			return fmt.Errorf("sign-in: %w", err)
		}
		found, err := askProviders(ctx, f, p, answer)
		if err != nil {
			return fmt.Errorf("sign-in: %w", err)
		}
		if _, err = settings.LoginProviders(found.environ()); err == nil {
			for _, name := range found.names {
				f.set(name, found.values[name])
			}
			return nil
		}
		_, _ = fmt.Fprintf(p.err, "%v\n", err)
	}
}

// askProviders asks for the settings of the named identity providers.
func askProviders(ctx context.Context, f *envFile, p *process, answer string) (envFile, error) {
	found := envFile{values: map[string]string{}}
	if strings.EqualFold(answer, "none") {
		return found, nil
	}
	for name := range strings.FieldsFuncSeq(strings.ToLower(answer), func(r rune) bool { return r == ',' || r == ' ' }) {
		variable := strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		_, _ = fmt.Fprintf(p.err, "Redirect URI to register with %s: %s/api/v1/auth/oauth/%s/callback\n", name, strings.TrimRight(f.values["TENANTRY_PUBLIC_URL"], "/"), name)
		asked := []question{
			{name: "_CLIENT_ID", prompt: "Client ID of " + name},
			{name: "_CLIENT_SECRET", prompt: "Client secret of " + name, isSecret: true},
		}
		prefix := oauthPrefix + variable
		if name != settings.Google && name != settings.Microsoft && name != settings.GitHub {
			prefix = oidcPrefix + variable
			asked = append([]question{{name: "_ISSUER", prompt: "Issuer of " + name + ", such as https://login.example.com"}}, asked...)
		}
		for _, q := range asked {
			value, err := prompt(ctx, p, q.prompt, "", q.isSecret)
			if err != nil {
				return found, fmt.Errorf("%s%s: %w", prefix, q.name, err)
			}
			found.set(prefix+q.name, value)
		}
	}
	return found, nil
}
