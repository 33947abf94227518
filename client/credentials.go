package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

// credentials authenticate requests.
type credentials interface {
	// token returns the value of the Authorization header, or "" for anonymous requests.
	token(ctx context.Context, c *Client) (string, error)
	// renew replaces a refused token. It reports whether a new token is available.
	renew(ctx context.Context, c *Client, refused string) (bool, error)
}

type noCredentials struct{}

func (noCredentials) token(context.Context, *Client) (string, error)       { return "", nil }
func (noCredentials) renew(context.Context, *Client, string) (bool, error) { return false, nil }

type apiKey string

func (k apiKey) token(context.Context, *Client) (string, error)     { return string(k), nil }
func (apiKey) renew(context.Context, *Client, string) (bool, error) { return false, nil }

// WithAPIKey authenticates with an API key of a tenant or of the platform (docs/api-keys.md).
func WithAPIKey(key string) Option {
	return func(c *Client) error {
		if key == "" {
			return errors.New("tenantry: the API key is empty")
		}
		c.credentials = apiKey(key)
		return nil
	}
}

// WithLogin logs in with email and password, at the first request and whenever the session has
// expired. It is intended for tools and tests; programs should use API keys.
func WithLogin(email, password string) Option {
	return func(c *Client) error {
		if email == "" || password == "" {
			return errors.New("tenantry: login requires email and password")
		}
		c.credentials = &login{store: &memory{}, email: email, password: password}
		return nil
	}
}

// WithTokens continues a session with the tokens from a login, a registration or the exchange of a
// delegated login. The tokens are kept only in memory; see [WithTokenStore].
func WithTokens(t Tokens) Option {
	return func(c *Client) error {
		if t.Access == "" && t.Refresh == "" {
			return errors.New("tenantry: the tokens are empty")
		}
		c.credentials = &login{store: &memory{tokens: t}}
		return nil
	}
}

// WithTokenStore continues the session whose tokens are in a store, and stores each new pair.
func WithTokenStore(s TokenStore) Option {
	return func(c *Client) error {
		if s == nil {
			return errors.New("tenantry: the token store is nil")
		}
		c.credentials = &login{store: s}
		return nil
	}
}

// Tokens is the token pair of a session. The access token is valid for some minutes. The refresh
// token can be used once, to get the next pair.
type Tokens struct{ Access, Refresh string }

// TokenStore stores the tokens of one session. Reuse of a refresh token ends the session, so
// several processes must not share a session.
type TokenStore interface {
	// Load returns the tokens that were saved last.
	Load(ctx context.Context) (Tokens, error)
	// Save replaces the tokens. Its context outlives the request that needed new tokens.
	Save(ctx context.Context, t Tokens) error
}

type memory struct{ tokens Tokens }

func (m *memory) Load(context.Context) (Tokens, error)   { return m.tokens, nil }
func (m *memory) Save(_ context.Context, t Tokens) error { m.tokens = t; return nil }

// login is a session whose tokens are renewed by one goroutine at a time.
type login struct {
	store           TokenStore
	email, password string // empty if the client cannot log in again

	mu      sync.Mutex
	tokens  Tokens
	unsaved bool     // whether the store has older tokens
	flight  *renewal // the renewal in progress, or nil
}

// renewal is one renewal of the tokens. Any number of goroutines can wait for it.
type renewal struct {
	done chan struct{}
	err  error
}

// renewalTime is the timeout of a renewal.
const renewalTime = 30 * time.Second

func (l *login) token(ctx context.Context, c *Client) (string, error) {
	l.mu.Lock()
	token, clean := l.tokens.Access, !l.unsaved
	l.mu.Unlock()
	if token != "" && clean {
		return token, nil
	}
	if err := l.replace(ctx, c, ""); err != nil {
		return "", err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tokens.Access, nil
}

func (l *login) renew(ctx context.Context, c *Client, refused string) (bool, error) {
	err := l.replace(ctx, c, refused)
	return err == nil, err
}

// replace ensures that the refused token is replaced. If a renewal is in progress, it waits for
// that renewal. The renewal continues when ctx ends: its response must not be lost, because the
// refresh token can be used only once.
func (l *login) replace(ctx context.Context, c *Client, refused string) error {
	l.mu.Lock()
	if l.tokens.Access != "" && l.tokens.Access != refused && !l.unsaved {
		l.mu.Unlock()
		return nil
	}
	flight := l.flight
	if flight == nil {
		flight = &renewal{done: make(chan struct{})}
		l.flight = flight
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), renewalTime)
			defer cancel()
			flight.err = l.storeNext(ctx, c, refused)
			l.mu.Lock()
			l.flight = nil
			l.mu.Unlock()
			close(flight.done)
		}()
	}
	l.mu.Unlock()
	select {
	case <-flight.done:
		return flight.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// storeNext stores the next tokens. Only one goroutine at a time runs it.
func (l *login) storeNext(ctx context.Context, c *Client, refused string) error {
	l.mu.Lock()
	tokens, unsaved := l.tokens, l.unsaved
	l.mu.Unlock()
	if !unsaved || tokens.Access == refused {
		stored, err := l.store.Load(ctx)
		if err != nil {
			return fmt.Errorf("tenantry: load the tokens: %w", err)
		}
		if !unsaved {
			tokens = stored
		}
		if tokens.Access == "" || tokens.Access == refused {
			if tokens, err = l.ask(ctx, c, tokens.Refresh); err != nil {
				return err
			}
			unsaved = true
		}
	}
	l.mu.Lock()
	l.tokens, l.unsaved = tokens, unsaved
	l.mu.Unlock()
	if !unsaved {
		return nil
	}
	if err := l.store.Save(ctx, tokens); err != nil {
		return fmt.Errorf("tenantry: save the tokens: %w", err) // the next request tries again
	}
	l.mu.Lock()
	l.unsaved = false
	l.mu.Unlock()
	return nil
}

// ask requests a new pair with the refresh token. If that is missing or has expired, it logs in
// with the password.
func (l *login) ask(ctx context.Context, c *Client, refresh string) (Tokens, error) {
	calls := &Client{base: c.base, http: c.http, credentials: noCredentials{}, userAgent: c.userAgent, locale: c.locale, attempts: c.attempts, pause: c.pause}
	calls.Client = &api.Client{Send: calls.send}
	if refresh != "" {
		answer, err := calls.RefreshTokens(ctx, api.RefreshTokensRequest{RefreshToken: refresh})
		if err == nil {
			return pair(answer)
		}
		if l.email == "" || StatusOf(err) != http.StatusUnauthorized {
			return Tokens{}, err
		}
	}
	if l.email == "" {
		return Tokens{}, errors.New("tenantry: the refresh token is missing")
	}
	answer, err := calls.Login(ctx, api.LoginRequest{Email: l.email, Password: l.password})
	if err != nil {
		return Tokens{}, err
	}
	return pair(answer)
}

// pair returns the tokens of a response.
func pair(answer *api.Login) (Tokens, error) {
	if answer.AccessToken == nil || answer.RefreshToken == nil {
		return Tokens{}, errors.New("tenantry: the response does not contain tokens")
	}
	return Tokens{Access: *answer.AccessToken, Refresh: *answer.RefreshToken}, nil
}
