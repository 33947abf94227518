package sso

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/tenant/domain"
)

// StartURL returns the URL that starts the login of a person. The URL depends only on the domain of
// the email, so that it does not reveal whether an account exists.
func (s *Service) StartURL(ctx context.Context, email string) (string, error) {
	address, err := mail.NormalizeAddress(email)
	if err != nil {
		return "", errEmail
	}
	id, err := s.store.ofDomain(ctx, domain.OfEmail(address))
	return s.redirectURL(id), err
}

func (s *Service) redirectURL(id uuid.UUID) string {
	return s.deps.PublicURL + Path + id.String() + "/redirect"
}

// testLifetime is how long the URL of a test can be opened.
const testLifetime = 10 * time.Minute

// TestURL returns a URL that tests the connection of a tenant, in any browser. It returns a
// not-found error without a connection.
func (s *Service) TestURL(ctx context.Context, tenantID uuid.UUID) (string, error) {
	c, err := s.store.ofTenant(ctx, tenantID)
	if err != nil {
		return "", err
	}
	expires := strconv.FormatInt(s.deps.Clock.Now().Add(testLifetime).Unix(), 10)
	return s.redirectURL(c.ID) + "?" + url.Values{"test": {expires + "-" + s.testHash(c, expires)}}.Encode(), nil
}

func (s *Service) testHash(c Connection, expires string) string {
	return s.deps.Secrets.Hash("test of connection "+c.ID.String(), expires)
}

// isTest reports whether a token of TestURL is valid.
func (s *Service) isTest(c Connection, token string) bool {
	expires, hash, _ := strings.Cut(token, "-")
	at, err := strconv.ParseInt(expires, 10, 64)
	return err == nil && subtle.ConstantTimeCompare([]byte(hash), []byte(s.testHash(c, expires))) == 1 && s.deps.Clock.Now().Before(time.Unix(at, 0))
}

// callback returns the redirect URI for a browser that addresses the service by a host name.
func (s *Service) callback(host string) string {
	return oauth.MatchLoopbackName(s.deps.PublicURL+Path+"callback", host)
}

// Start starts a login through a connection. If test is the token of TestURL, it starts a test of
// the connection. It returns the URL of the issuer, or the frontend's URL with an error. See
// oauth.Service.Start for known, key and host.
func (s *Service) Start(ctx context.Context, id uuid.UUID, test, known, host string) (to, key string, err error) {
	c, err := s.store.byID(ctx, id)
	if err != nil {
		return "", "", err
	}
	f := oauth.NewFlow(c.ID, test != "")
	if f.IsTest && !s.isTest(c, test) {
		return s.recordFailure(ctx, host, c, oauth.Flow{}, errInvalidState), "", nil
	}
	d, err := s.issuers.get(ctx, c.Issuer)
	if err != nil {
		return s.recordFailure(ctx, host, c, f, providerError("discovery", err)), "", nil
	}
	config := client(c, d, s.callback(host))
	to = config.AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier))
	key, err = s.flows.Begin(ctx, f, known)
	return to, key, err
}

// Finish ends a login and returns the frontend's URL with a one-time code, an error, or the result
// of a test.
func (s *Service) Finish(ctx context.Context, reply oauth.Reply, key, host string) string {
	f, err := s.flows.Take(ctx, reply.State, key)
	if err != nil {
		return s.recordFailure(ctx, host, Connection{}, f, err)
	}
	c, err := s.store.byID(ctx, f.Connection)
	if err != nil {
		if errors.Is(err, errNotFound) {
			err = errInvalidState
		}
		return s.recordFailure(ctx, host, c, f, err)
	}
	who, err := s.identify(ctx, c, reply, f, s.callback(host))
	if err != nil {
		return s.recordFailure(ctx, host, c, f, err)
	}
	if f.IsTest {
		if err := s.checkAdmission(ctx, c.ID, who); err != nil {
			return s.recordFailure(ctx, host, c, f, err)
		}
		s.note(ctx, s.store.setLastTest(ctx, c, "ok", s.deps.Clock.Now()))
		return s.flows.FrontendURL(host, url.Values{"test": {"ok"}})
	}
	code, err := s.admit(ctx, c.ID, who, key)
	if err != nil {
		return s.recordFailure(ctx, host, c, f, err)
	}
	return s.flows.FrontendURL(host, url.Values{"code": {code}})
}

// recordFailure logs why a login failed, stores the reason with the connection, and returns the frontend's
// URL with the reason. c is zero if the connection is unknown.
func (s *Service) recordFailure(ctx context.Context, host string, c Connection, f oauth.Flow, err error) string {
	reason, level := errServer, slog.LevelError
	if errors.As(err, &reason) {
		level = slog.LevelInfo
	}
	s.deps.Log.Log(ctx, level, "single sign-on failed", "connection", c.ID, "reason", string(reason), "error", oauth.Describe(err))
	switch {
	case c.ID == uuid.Nil || !isOfConnection(reason):
	case f.IsTest:
		s.note(ctx, s.store.setLastTest(ctx, c, string(reason), s.deps.Clock.Now()))
	default:
		s.note(ctx, s.store.setLastError(ctx, c, string(reason)))
	}
	return s.flows.FrontendURL(host, url.Values{"error": {string(reason)}})
}

// note logs an error from storing the result of a login. The login continues.
func (s *Service) note(ctx context.Context, err error) {
	if err != nil {
		s.deps.Log.WarnContext(ctx, "failed to store the result of a login", "error", err)
	}
}
