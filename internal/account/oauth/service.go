// Package oauth is delegated login: people log in at an identity provider and get
// an account here (rules: account#delegated-login).
package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// flowLifetime is how long a person may take at the identity provider.
	flowLifetime = 10 * time.Minute
	// codeLifetime is how long the frontend has to exchange a one-time code.
	codeLifetime = 60 * time.Second
)

// Path is where delegated login lies, below the service's public URL. The redirect
// URI to register at a provider is PublicURL + Path + its name + "/callback".
const Path = "/api/v1/auth/oauth/"

// Accounts are the accounts that people get; *account.Service implements it.
type Accounts interface {
	// Lock locks a user until the transaction of ctx ends.
	Lock(ctx context.Context, userID int64) error
	// FindOrCreateVerified finds or makes the account of a verified email, and locks its user.
	FindOrCreateVerified(ctx context.Context, name, email string) (userID int64, isNew bool, err error)
	// KeepLocale keeps the language that the request asks for, for a user who has none.
	KeepLocale(ctx context.Context, userID int64) error
	// Record adds an entry about a user's own account to the audit trail.
	Record(ctx context.Context, userID int64, action string, before, after any) error
	// LogIn locks a user, calls use, and issues what grant asks for.
	LogIn(ctx context.Context, userID int64, grant account.Grant, use func(context.Context, *account.Grant) error) (account.User, account.Tokens, error)
}

// AvatarImporter takes over a person's picture from an identity provider.
type AvatarImporter interface {
	// Import has the picture at url fetched for the user, in the background. It is
	// called in a transaction and must have no effect if that is rolled back.
	Import(ctx context.Context, userID int64, url string) error
}

// Deps is what delegated login needs.
type Deps struct {
	DB           *sqldb.DB
	Clock        clock.Clock
	Accounts     Accounts
	Providers    []Provider
	PublicURL    string         // without a slash at the end
	CallbackPage string         // of the frontend, where logins end
	Avatars      AvatarImporter // nil imports no pictures
	Client       *http.Client   // for requests to the providers; nil is NewClient
	Log          *slog.Logger
}

// Service is delegated login: authorization code with PKCE, state and nonce.
type Service struct {
	deps      Deps
	store     store
	providers map[string]identityProvider
}

// NewService returns delegated login. It fails when two providers have the same
// name. It sends no provider a request before somebody logs in there.
func NewService(d Deps) (*Service, error) {
	if d.Client == nil {
		d.Client = NewClient()
	}
	s := &Service{deps: d, store: store{d.DB}, providers: map[string]identityProvider{}}
	for _, p := range d.Providers {
		if s.providers[p.Name] != nil {
			return nil, fmt.Errorf("delegated login: there are two providers called %s", p.Name)
		}
		s.providers[p.Name] = p.connect(s.callback(p.Name, ""), d.Client, d.Clock)
	}
	return s, nil
}

// Providers lists the names of the configured providers, sorted.
func (s *Service) Providers() []string {
	names := make([]string, 0, len(s.providers))
	for name := range s.providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// flow is the secrets of one login under way.
type flow struct {
	state, nonce, verifier string
	callback               string // where the provider leads back to; it is not stored
}

// Start begins a login. url leads to the provider's consent page, or, when the
// provider cannot be reached, back to the frontend with an error. key is to be
// kept in a cookie of the browser: only the browser that has it can finish the
// login. known is the key that the browser has already, or ""; keeping it lets
// logins in two windows of one browser go on side by side. host is what the browser calls the
// service.
func (s *Service) Start(ctx context.Context, provider, known, host string) (url, key string, err error) {
	p, ok := s.providers[provider]
	if !ok {
		return "", "", errUnknownProvider
	}
	f := flow{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(), callback: s.callback(provider, host)}
	if url, err = p.authURL(ctx, f); err != nil {
		return s.frontend(host, s.fail(ctx, provider, err)), "", nil
	}
	if key = known; !isBrowserKey(known) {
		key = rand.Text()
	}
	return url, key, s.store.insertFlow(ctx, provider, f, key, s.deps.Clock.Now())
}

// isBrowserKey reports whether a cookie has the form of a key: 26 characters of
// base32, as rand.Text makes them.
func isBrowserKey(text string) bool {
	return len(text) == 26 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Reply is what the provider sends the browser back with.
type Reply struct {
	Code, State string
	Error       string // instead of a code
	Issuer      string // who sent the reply (RFC 9207); "" where the provider leaves it out
}

// Finish ends a login and returns where the browser goes: to the frontend, with a
// one-time code or an error. It fails only for an unknown provider.
func (s *Service) Finish(ctx context.Context, provider string, reply Reply, key, host string) (string, error) {
	p, ok := s.providers[provider]
	if !ok {
		return "", errUnknownProvider
	}
	code, err := s.finish(ctx, provider, p, reply, key, host)
	if err != nil {
		return s.frontend(host, s.fail(ctx, provider, err)), nil
	}
	return s.frontend(host, url.Values{"code": {code}}), nil
}

func (s *Service) finish(ctx context.Context, provider string, p identityProvider, reply Reply, key, host string) (string, error) {
	f, err := s.store.takeFlow(ctx, provider, reply.State, key, s.deps.Clock.Now())
	f.callback = s.callback(provider, host)
	switch {
	case err != nil:
		return "", err
	case reply.Error == string(errAccessDenied):
		return "", errAccessDenied
	case reply.Error != "" || reply.Code == "":
		return "", fmt.Errorf("%w: the provider answered %q", errProvider, shorten(reply.Error))
	}
	who, err := p.identify(ctx, reply, f)
	if err != nil {
		return "", err
	}
	return s.findOrCreateUser(ctx, provider, who, key)
}

// Exchange trades a one-time code for a login. Unknown, used and expired codes are
// one refusal (OAUTH_CODE_EXPIRED). A session is only for the browser in which the login
// began, whose key this is: nobody gets logged in as somebody else by a code that a link
// brought.
func (s *Service) Exchange(ctx context.Context, code, key string, grant account.Grant) (user account.User, isNew bool, tokens account.Tokens, err error) {
	parsed, err := uuid.Parse(code)
	if err != nil {
		return account.User{}, false, account.Tokens{}, errCode
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		who, err := s.store.code(ctx, parsed.String(), s.deps.Clock.Now())
		if err != nil {
			return err
		}
		if grant.Session && !equalSecrets(who.browserHash, account.HashSecret(key)) {
			return errCode
		}
		isNew = who.isNew
		user, tokens, err = s.deps.Accounts.LogIn(ctx, who.userID, grant, func(ctx context.Context, grant *account.Grant) error {
			if err := s.store.takeCode(ctx, parsed.String()); err != nil {
				return err
			}
			grant.Identity = &who.identity
			grant.Provider, err = s.store.markUsed(ctx, who.identity, s.deps.Clock.Now())
			return err
		})
		if account.IsGone(err) { // with their codes
			err = errCode
		}
		if err == nil && isNew { // the browser may not have said what the frontend says
			err = s.deps.Accounts.KeepLocale(ctx, who.userID)
		}
		return err
	})
	return user, isNew, tokens, err
}

// Prune deletes logins that were not finished in time.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteExpired(ctx, s.deps.Clock.Now())
}

// frontend returns the URL of the frontend's callback page.
func (s *Service) frontend(host string, query url.Values) string {
	return matchLoopbackName(s.deps.CallbackPage, host) + "?" + query.Encode()
}

// callback returns where a provider leads a browser back to.
func (s *Service) callback(provider, host string) string {
	return matchLoopbackName(s.deps.PublicURL+Path+provider+"/callback", host)
}

// fail logs why a login failed and returns what the frontend is told of it.
func (s *Service) fail(ctx context.Context, provider string, err error) url.Values {
	reason, level := errServer, slog.LevelError
	if errors.As(err, &reason) {
		level = slog.LevelInfo
		if reason == errProvider {
			level = slog.LevelWarn
		}
	}
	s.deps.Log.Log(ctx, level, "delegated login failed", "provider", provider, "reason", string(reason), "error", describe(err))
	return url.Values{"error": {string(reason)}}
}

// equalSecrets compares secrets in constant time.
func equalSecrets(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
