package sso

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// person describes the user of a valid ID token.
type person struct {
	subject string
	email   string // normalized
	name    string
}

// transport sends the requests of a library through the guarded client.
type transport struct{ client *safehttp.Client }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.client.Do(r) }

// providerError wraps an error about the issuer. Only the log contains the details.
func providerError(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", errProvider, what, err)
}

// client returns the OAuth client of a connection. The client lacks the secret.
func client(c Connection, d *document, redirectURI string) oauth2.Config {
	return oauth2.Config{
		ClientID: c.ClientID, RedirectURL: redirectURI, Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: d.AuthURL, TokenURL: d.TokenURL, AuthStyle: oauth.AuthStyle(d.AuthMethods)},
	}
}

// identify exchanges the issuer's code and returns the person whom the ID token describes. All
// claims are read from the ID token.
func (s *Service) identify(ctx context.Context, c Connection, reply oauth.Reply, f oauth.Flow, redirectURI string) (person, error) {
	d, err := s.issuers.get(ctx, c.Issuer)
	if err != nil {
		return person{}, providerError("discovery", err)
	}
	switch {
	case reply.Issuer != "" && reply.Issuer != c.Issuer, reply.Issuer == "" && d.AnnouncesSelf:
		return person{}, providerError("callback", errors.New("unexpected issuer"))
	case reply.Error == string(errAccessDenied):
		return person{}, errAccessDenied
	case reply.Error != "" || reply.Code == "":
		return person{}, providerError("callback", errors.New("the issuer did not return a code"))
	}
	config := client(c, d, redirectURI)
	if config.ClientSecret, err = s.deps.Secrets.Open(secretPlace(c.ID), c.Secret); err != nil {
		return person{}, err
	}
	// A redirect would send the client secret to another server.
	noRedirects := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ctx = oidc.ClientContext(ctx, &http.Client{Transport: transport{s.deps.Client}, CheckRedirect: noRedirects})
	token, err := config.Exchange(ctx, reply.Code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return person{}, providerError("token", err)
	}
	raw, _ := token.Extra("id_token").(string)
	verifier := oidc.NewVerifier(c.Issuer, keySet{s.issuers, d}, &oidc.Config{
		ClientID: c.ClientID, SupportedSigningAlgs: []string{oidc.RS256, oidc.ES256}, Now: s.deps.Clock.Now,
	})
	idToken, err := verifier.Verify(ctx, raw)
	if err != nil {
		return person{}, providerError("ID token", err)
	}
	return readClaims(c, idToken, token.AccessToken, f.Nonce)
}

// claims are the claims that a login reads.
type claims struct {
	AuthorizedParty string    `json:"azp"`
	Email           string    `json:"email"`
	EmailVerified   looseBool `json:"email_verified"`
	Name            string    `json:"name"`
}

// looseBool is a boolean that some issuers encode as a string.
type looseBool string

// UnmarshalJSON implements json.Unmarshaler.
func (l *looseBool) UnmarshalJSON(data []byte) error {
	*l = looseBool(strings.ToLower(strings.Trim(string(data), `"`)))
	return nil
}

// isFalse reports whether the claim is present and not true. An absent claim is not false.
func (l looseBool) isFalse() bool { return l != "" && l != "null" && l != "true" && l != "1" }

// readClaims performs the checks that the library leaves to its caller, and returns the person.
func readClaims(c Connection, t *oidc.IDToken, accessToken, nonce string) (person, error) {
	var read claims
	err := t.Claims(&read)
	email, emailErr := mail.NormalizeAddress(read.Email)
	switch {
	case err != nil:
	case subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(nonce)) != 1:
		err = errors.New("the nonce does not match")
	case t.Subject == "":
		err = errors.New("the subject is missing")
	case len(t.Subject) > maxSubject:
		err = errors.New("the subject is too long")
	case strings.ContainsFunc(t.Subject, unicode.IsControl): // not every database can store it
		err = errors.New("the subject contains a control character")
	case read.AuthorizedParty != c.ClientID && (len(t.Audience) > 1 || read.AuthorizedParty != ""):
		err = errors.New("unexpected audience")
	case t.AccessTokenHash != "":
		err = t.VerifyAccessToken(accessToken)
	}
	if err == nil {
		err = emailErr
	}
	if err != nil {
		return person{}, providerError("ID token", err)
	}
	if read.EmailVerified.isFalse() {
		return person{}, errEmailUnverified
	}
	return person{subject: t.Subject, email: email, name: oauth.PersonName(read.Name, email)}, nil
}

// maxSubject is the maximum length of a subject (OpenID Connect Core, section 2), in bytes.
const maxSubject = 255
