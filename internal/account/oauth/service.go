// Package oauth implements delegated login: people log in at an identity provider and get an
// account (rules: account#delegated-login).
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
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// flowLifetime is the time limit for a login at the identity provider.
	flowLifetime = 10 * time.Minute
	// codeLifetime is how long a one-time code is valid.
	codeLifetime = 60 * time.Second
)

// Path is the path of delegated login below the service's public URL. The redirect URI to register
// at a provider is PublicURL + Path + its name + "/callback".
const Path = "/api/v1/auth/oauth/"

// Accounts is the part of the account service that delegated login uses. *account.Service
// implements it.
type Accounts interface {
	// Lock locks a user until the transaction of ctx ends.
	Lock(ctx context.Context, userID int64) error
	// FindOrCreateByVerifiedEmail finds or creates the account with a verified email, and locks its user.
	FindOrCreateByVerifiedEmail(ctx context.Context, name, email string) (userID int64, isNew bool, err error)
	// SetLocaleIfUnset stores the language of the request if the user has not chosen one.
	SetLocaleIfUnset(ctx context.Context, userID int64) error
	// Record adds an audit entry about a user's own account.
	Record(ctx context.Context, userID int64, action string, before, after any) error
	// LogIn locks a user, calls use, and issues the credentials of grant.
	LogIn(ctx context.Context, userID int64, grant account.Grant, use func(context.Context, *account.Grant) error) (account.User, account.Tokens, error)
}

// AvatarImporter imports a user's picture from an identity provider.
type AvatarImporter interface {
	// Import schedules the download of the picture at url for the user. It runs in the transaction
	// of ctx and must have no effect if the transaction is rolled back.
	Import(ctx context.Context, userID int64, url string) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB           *sqldb.DB
	Clock        clock.Clock
	Accounts     Accounts
	Providers    []Provider
	PublicURL    string         // without a trailing slash
	CallbackPage string         // page of the frontend that receives the result
	Avatars      AvatarImporter // nil disables the import of pictures
	Client       *http.Client   // for requests to the providers; nil means NewClient
	// Connections completes logins through the single sign-on of tenants.
	Connections Connections
	// Disabled is the error of logins at providers if they are disabled; nil if they are enabled.
	// Logins through connections still work.
	Disabled error
	Log      *slog.Logger
}

// Service implements delegated login with authorization code, PKCE, state and nonce.
type Service struct {
	deps      Deps
	store     store
	providers map[string]identityProvider
}

// NewService returns a new Service, without contacting the providers. It returns an error if two
// providers have the same name, or if a provider has a reserved name.
func NewService(d Deps) (*Service, error) {
	if d.Client == nil {
		d.Client = NewClient()
	}
	s := &Service{deps: d, store: store{d.DB}, providers: map[string]identityProvider{}}
	for _, p := range d.Providers {
		if p.Name == authz.SSO {
			return nil, fmt.Errorf("delegated login: the name %s is reserved", p.Name)
		}
		if s.providers[p.Name] != nil {
			return nil, fmt.Errorf("delegated login: duplicate provider %s", p.Name)
		}
		s.providers[p.Name] = p.connect(s.callback(p.Name, ""), d.Client, d.Clock)
	}
	return s, nil
}

// Providers returns the names of the configured providers, sorted. The list is empty if logins at
// providers are disabled.
func (s *Service) Providers() []string {
	names := make([]string, 0, len(s.providers))
	if s.deps.Disabled != nil {
		return names
	}
	for name := range s.providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// flow holds the secrets of a login in progress.
type flow struct {
	state, nonce, verifier string
	callback               string // redirect URI; not stored

	connection *uuid.UUID // used instead of a provider; nil for a provider
	isTest     bool
}

// Start starts a login. It returns the URL of the provider's consent page, or the frontend's URL
// with an error if the provider is unreachable. The caller must store key in a cookie: only the
// browser with this key can finish the login. known is the browser's existing key, or "". Keeping
// the existing key allows concurrent logins in two windows. host is the host name by which the
// browser addresses the service.
func (s *Service) Start(ctx context.Context, provider, known, host string) (url, key string, err error) {
	p, ok := s.providers[provider]
	if !ok {
		return "", "", errUnknownProvider
	}
	f := flow{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier(), callback: s.callback(provider, host)}
	if url, err = p.authURL(ctx, f); err != nil {
		return s.FrontendURL(host, s.fail(ctx, provider, err)), "", nil
	}
	key = browserKey(known)
	return url, key, s.store.insertFlow(ctx, provider, f, key, s.deps.Clock.Now())
}

// browserKey returns the existing key of a browser, or a new one.
func browserKey(known string) string {
	if isBrowserKey(known) {
		return known
	}
	return rand.Text()
}

// isBrowserKey reports whether a cookie has the format of a key: 26 characters of base32, as
// returned by rand.Text.
func isBrowserKey(text string) bool {
	return len(text) == 26 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Reply holds the parameters that the provider returns through the browser.
type Reply struct {
	Code, State string
	Error       string // set instead of a code
	Issuer      string // issuer of the reply (RFC 9207); may be empty
}

// Finish ends a login and returns the frontend's URL with a one-time code or an error. It only
// returns an error if the provider is unknown.
func (s *Service) Finish(ctx context.Context, provider string, reply Reply, key, host string) (string, error) {
	p, ok := s.providers[provider]
	if !ok {
		return "", errUnknownProvider
	}
	code, err := s.finish(ctx, provider, p, reply, key, host)
	if err != nil {
		return s.FrontendURL(host, s.fail(ctx, provider, err)), nil
	}
	return s.FrontendURL(host, url.Values{"code": {code}}), nil
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
		return "", fmt.Errorf("%w: the provider returned %q", errProvider, shorten(reply.Error))
	}
	who, err := p.identify(ctx, reply, f)
	if err != nil {
		return "", err
	}
	return s.findOrCreateUser(ctx, provider, who, key)
}

// Exchange exchanges a one-time code for a login. Unknown, used and expired codes return the same
// error (OAUTH_CODE_EXPIRED). A session is only issued to the browser with this key, which started
// the login. Otherwise a link with an attacker's code could log a victim in as the attacker.
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
			grant.Identity, grant.Methods, grant.IsNewUser = &who.identity, []string{authz.OAuth}, who.isNew
			if who.connection != nil {
				return s.completeConnection(ctx, who, grant)
			}
			grant.Provider, err = s.store.providerOf(ctx, who.identity)
			return err
		})
		if account.IsUserDeleted(err) { // the codes were deleted with the account
			err = errCode
		}
		if err == nil && isNew { // the callback's request may lack the language that the frontend sends
			err = s.deps.Accounts.SetLocaleIfUnset(ctx, who.userID)
		}
		return err
	})
	return user, isNew, tokens, err
}

// checkEnabled returns an error if logins at providers are disabled, unless the code belongs to a
// login through a connection.
func (s *Service) checkEnabled(ctx context.Context, code string) error {
	if s.deps.Disabled == nil {
		return nil
	}
	isConnection, err := s.store.isConnectionCode(ctx, code)
	if err == nil && !isConnection {
		err = s.deps.Disabled
	}
	return err
}

// Prune deletes logins that were not completed in time.
func (s *Service) Prune(ctx context.Context) error {
	return s.store.deleteExpired(ctx, s.deps.Clock.Now())
}

// FrontendURL returns the URL of the frontend's callback page with the query.
func (s *Service) FrontendURL(host string, query url.Values) string {
	return MatchLoopbackName(s.deps.CallbackPage, host) + "?" + query.Encode()
}

// callback returns the redirect URI of a provider.
func (s *Service) callback(provider, host string) string {
	return MatchLoopbackName(s.deps.PublicURL+Path+provider+"/callback", host)
}

// fail logs why a login failed and returns the parameters for the frontend.
func (s *Service) fail(ctx context.Context, provider string, err error) url.Values {
	reason, level := errServer, slog.LevelError
	if errors.As(err, &reason) {
		level = slog.LevelInfo
		if reason == errProvider {
			level = slog.LevelWarn
		}
	}
	s.deps.Log.Log(ctx, level, "delegated login failed", "provider", provider, "reason", string(reason), "error", Describe(err))
	return url.Values{"error": {string(reason)}}
}

// equalSecrets compares secrets in constant time.
func equalSecrets(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
