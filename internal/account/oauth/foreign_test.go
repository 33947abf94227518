package oauth_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// Providers by other authors check our interpretation of the standards.

func TestOAuthWithMockOIDC(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		mock, err := mockoidc.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = mock.Shutdown() })
		r := newRig(t, db, clock.System(), func(string) []oauth.Provider {
			return []oauth.Provider{oauth.OIDCProvider("mock", mock.Issuer(), mock.ClientID, mock.ClientSecret)}
		})
		login := func(change func(string) string) url.Values {
			b := r.browser()
			return b.callback(b.get(change(b.start("mock"))).location)
		}
		asIs := func(address string) string { return address }

		mock.QueueUser(&mockoidc.MockUser{Subject: "1", Email: "jane@example.com", EmailVerified: true})
		s := r.exchange(login(asIs).Get("code")).session(t)
		if !*s.IsNewUser || s.User.Email != "jane@example.com" || s.User.Name != "jane" {
			t.Errorf("%+v", s)
		}
		mock.QueueUser(&mockoidc.MockUser{Subject: "1", Email: "renamed@example.com"})
		if again := r.exchange(login(asIs).Get("code")).session(t); *again.IsNewUser || again.User.ID != s.User.ID {
			t.Errorf("%+v", again)
		}
		mock.QueueUser(&mockoidc.MockUser{Subject: "2", Email: "jane@example.com"})
		if told := login(asIs); told.Get("error") != "email_unverified" {
			t.Errorf("unverified: redirected with %v, want email_unverified", told)
		}
		if told := login(func(to string) string { return with(t, to, "nonce", "another") }); told.Get("error") != "provider_error" {
			t.Errorf("another nonce: redirected with %v, want provider_error", told)
		}
		mock.QueueError(&mockoidc.ServerError{Code: 500, Error: mockoidc.InternalServerError})
		b := r.browser()
		to := b.start("mock")
		back := r.url + oauth.Path + "mock/callback?code=1&state=" + query(t, to, "state")
		if told := b.callback(back); told.Get("error") != "provider_error" {
			t.Errorf("failing provider: redirected with %v, want provider_error", told)
		}
	})
}

func query(t *testing.T, address, key string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return url.QueryEscape(u.Query().Get(key))
}

var formAction = regexp.MustCompile(`<form [^>]*action="([^"]+)"`)

// The certified provider for Node.js serves email and name from its UserInfo endpoint, requires
// PKCE and sends its issuer in its responses.
func TestOAuthWithOIDCProvider(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		const secret = "a secret: with%signs+that need care"
		r := newRig(t, db, clock.System(), func(service string) []oauth.Provider {
			issuer := startOIDCProvider(t, service+oauth.Path+"node/callback", secret)
			return []oauth.Provider{oauth.OIDCProvider("node", issuer, "tenantry", secret)}
		})
		login := func(email string) url.Values {
			b := r.browser()
			at := b.start("node")
			for range 12 { // login page, consent page and redirects
				if strings.HasPrefix(at, r.url) {
					return b.callback(at)
				}
				got := b.get(at)
				if form := formAction.FindStringSubmatch(got.text); got.location == "" && form != nil {
					fields := url.Values{"login": {email}, "password": {"any"}}
					for _, field := range hidden.FindAllStringSubmatch(got.text, -1) {
						fields.Set(field[1], field[2])
					}
					got = b.post(html.UnescapeString(form[1]), fields)
				}
				if got.location == "" {
					t.Fatalf("%s returns %d %s", at, got.status, got.text)
				}
				at = got.location
			}
			t.Fatal("the provider leads nowhere")
			return nil
		}
		s := r.exchange(login("ada@example.com").Get("code")).session(t)
		if !*s.IsNewUser || s.User.Email != "ada@example.com" || s.User.Name != "Name of ada@example.com" {
			t.Errorf("%+v", s)
		}
		if again := r.exchange(login("ada@example.com").Get("code")).session(t); *again.IsNewUser || again.User.ID != s.User.ID {
			t.Errorf("%+v", again)
		}
		if told := login("unverified@example.com"); told.Get("error") != "email_unverified" {
			t.Errorf("unverified: redirected with %v, want email_unverified", told)
		}
	})
}

// startOIDCProvider starts the provider with one client and returns its issuer.
func startOIDCProvider(t *testing.T, redirectURI, secret string) string {
	t.Helper()
	dir, err := installOIDCProvider(t.Context())
	if err != nil {
		testkit.Skip(t, "oidc-provider", err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "server.mjs", redirectURI, secret)
	cmd.Dir = dir
	var problems lockedLog
	cmd.Stderr = &problems
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("oidc-provider does not start: %v\n%s", err, &problems)
	}
	return strings.TrimSpace(line)
}

// installOIDCProvider installs the provider from its lock file, once for all test runs, and returns
// its directory.
func installOIDCProvider(ctx context.Context) (string, error) {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	files, sum := map[string][]byte{}, sha256.New()
	for _, name := range []string{"package.json", "package-lock.json", "server.mjs"} {
		content, err := os.ReadFile(filepath.Join("testdata", "oidc-provider", name))
		if err != nil {
			return "", err
		}
		files[name] = content
		sum.Write(content)
	}
	parent := filepath.Join(cache, "tenantry-test")
	dir := filepath.Join(parent, "oidc-provider-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(parent, "installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), content, 0o600); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = fresh
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, out)
	}
	// If several runs install it concurrently, the first one wins.
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return dir, nil
}
