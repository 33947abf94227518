package account

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

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// oauthFlowLifetime is how long a person has at the identity provider.
	oauthFlowLifetime = 10 * time.Minute
	// oauthCodeLifetime is how long the frontend has to fetch the outcome (spec:
	// Other constants).
	oauthCodeLifetime = 60 * time.Second
)

// OAuthPath is where delegated login lies, below the service's public URL. The
// redirect URI to register at a provider is PublicURL + OAuthPath + its name +
// "/callback".
const OAuthPath = "/api/v1/auth/oauth/"

// AvatarImporter takes a person's picture over from an identity provider.
type AvatarImporter interface {
	// Import has the picture at url fetched for the user, in the background: it
	// is called in a transaction, and what it does must be undone with that.
	Import(ctx context.Context, userID int64, url string) error
}

// OAuthDeps is what delegated login needs.
type OAuthDeps struct {
	Accounts  *Service
	Providers []OAuthProvider
	// PublicURL and FrontendURL have no slash at the end.
	PublicURL   string
	FrontendURL string
	Avatars     AvatarImporter // nil: pictures are left alone
	Client      *http.Client   // to the providers; nil: NewOAuthClient
	Log         *slog.Logger
}

// OAuth is delegated login: authorization code with PKCE, state and nonce (spec:
// Authentication and account endpoints, rules 2 and 3).
type OAuth struct {
	deps      OAuthDeps
	providers map[string]identityProvider
}

// NewOAuth returns delegated login. It fails on two providers of one name. No
// provider is asked for anything before somebody logs in there.
func NewOAuth(d OAuthDeps) (*OAuth, error) {
	if d.Client == nil {
		d.Client = NewOAuthClient()
	}
	o := &OAuth{deps: d, providers: map[string]identityProvider{}}
	for _, p := range d.Providers {
		if o.providers[p.Name] != nil {
			return nil, fmt.Errorf("delegated login: there are two providers called %s", p.Name)
		}
		callback := d.PublicURL + OAuthPath + p.Name + "/callback"
		o.providers[p.Name] = p.connect(callback, d.Client, d.Accounts.deps.Clock)
	}
	return o, nil
}

// Providers lists the names of the configured providers, sorted.
func (o *OAuth) Providers() []string {
	names := make([]string, 0, len(o.providers))
	for name := range o.providers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// oauthFlow are the secrets of one login under way.
type oauthFlow struct{ state, nonce, verifier string }

// Start begins a login. url leads to the provider's consent page, or, when the
// provider cannot be reached, back to the frontend with an error. key is to be
// kept in a cookie of the browser: only the browser that has it can finish the
// login. known is the key that the browser has already, so that logins in two of
// its windows don't disturb each other; "" is none.
func (o *OAuth) Start(ctx context.Context, provider, known string) (url, key string, err error) {
	p, ok := o.providers[provider]
	if !ok {
		return "", "", errUnknownProvider
	}
	flow := oauthFlow{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	if url, err = p.authURL(ctx, flow); err != nil {
		return o.back(o.fail(ctx, provider, err)), "", nil
	}
	if key = known; !isBrowserKey(known) {
		key = rand.Text()
	}
	now := o.deps.Accounts.deps.Clock.Now()
	err = o.store().q(ctx).InsertOAuthFlow(ctx, accountsql.InsertOAuthFlowParams{
		StateHash: hashToken(flow.state), BrowserHash: hashToken(key), Provider: provider,
		Verifier: flow.verifier, Nonce: flow.nonce, ExpiresAt: now.Add(oauthFlowLifetime), CreatedAt: now,
	})
	return url, key, err
}

// isBrowserKey tells whether a cookie has the form of a key: 26 characters of
// base32, as rand.Text makes them.
func isBrowserKey(text string) bool {
	return len(text) == 26 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// OAuthReply is what the provider sends the browser back with.
type OAuthReply struct {
	Code, State string
	Error       string // instead of a code
	Issuer      string // who says so (RFC 9207); "" is not said
}

// Finish ends a login and returns where the browser goes: to the frontend, with
// a one-time code or an error. The only error is an unknown provider.
func (o *OAuth) Finish(ctx context.Context, provider string, reply OAuthReply, key string) (string, error) {
	p, ok := o.providers[provider]
	if !ok {
		return "", errUnknownProvider
	}
	code, err := o.finish(ctx, provider, p, reply, key)
	if err != nil {
		return o.back(o.fail(ctx, provider, err)), nil
	}
	return o.back(url.Values{"code": {code}}), nil
}

func (o *OAuth) finish(ctx context.Context, provider string, p identityProvider, reply OAuthReply, key string) (string, error) {
	flow, err := o.store().q(ctx).TakeOAuthFlow(ctx, accountsql.TakeOAuthFlowParams{
		StateHash: hashToken(reply.State), BrowserHash: hashToken(key), Provider: provider, Now: o.deps.Accounts.deps.Clock.Now(),
	})
	switch {
	case errors.Is(err, sqldb.ErrNoRows):
		return "", errInvalidState
	case err != nil:
		return "", err
	case reply.Error == string(errAccessDenied):
		return "", errAccessDenied
	case reply.Error != "" || reply.Code == "":
		return "", fmt.Errorf("%w: the provider answered %q", errProvider, shorten(reply.Error))
	}
	who, err := p.identify(ctx, reply, oauthFlow{nonce: flow.Nonce, verifier: flow.Verifier})
	if err != nil {
		return "", err
	}
	return o.admit(ctx, provider, who)
}

// Exchange trades a one-time code for a login (spec: rule 3). Unknown, used and
// expired codes are one refusal (OAUTH_CODE_EXPIRED).
func (o *OAuth) Exchange(ctx context.Context, code string, grant Grant) (user User, isNew bool, tokens Tokens, err error) {
	parsed, err := uuid.Parse(code)
	if err != nil {
		return User{}, false, Tokens{}, errOAuthCode
	}
	s := o.deps.Accounts
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		row, err := s.store.q(ctx).TakeOAuthCode(ctx, accountsql.TakeOAuthCodeParams{CodeHash: hashToken(parsed.String()), Now: now})
		if errors.Is(err, sqldb.ErrNoRows) {
			return errOAuthCode
		}
		if err != nil {
			return err
		}
		isNew = row.IsNewUser
		if user, err = s.store.user(ctx, row.UserID); err != nil {
			return err
		}
		tokens, err = s.issue(ctx, row.UserID, grant, now)
		return err
	})
	return user, isNew, tokens, err
}

// Prune deletes logins that were not finished in time.
func (o *OAuth) Prune(ctx context.Context) error {
	now := o.deps.Accounts.deps.Clock.Now()
	if err := o.store().q(ctx).DeleteExpiredOAuthFlows(ctx, now); err != nil {
		return err
	}
	return o.store().q(ctx).DeleteExpiredOAuthCodes(ctx, now)
}

func (o *OAuth) store() store { return o.deps.Accounts.store }

// back is the frontend's callback page.
func (o *OAuth) back(query url.Values) string {
	return o.deps.FrontendURL + "/oauth/callback?" + query.Encode()
}

// fail logs why a login failed and says as much of it as the frontend may know.
func (o *OAuth) fail(ctx context.Context, provider string, err error) url.Values {
	reason, level := errServer, slog.LevelError
	if errors.As(err, &reason) {
		level = slog.LevelInfo
		if reason == errProvider {
			level = slog.LevelWarn
		}
	}
	o.deps.Log.Log(ctx, level, "delegated login failed", "provider", provider, "reason", string(reason), "error", describeOAuth(err))
	return url.Values{"error": {string(reason)}}
}

// same compares secrets in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
