// Package idp is the sandbox's identity provider. It is an OpenID Connect provider whose consent
// page lets the user log in as any person (rules: sandbox#identity-provider).
package idp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/theme"
)

const (
	codeLifetime  = 60 * time.Second
	tokenLifetime = 10 * time.Minute
)

// Path is the provider's path below the sandbox's public URL.
const Path = "/sandbox/idp"

// Config configures the URLs and the client of a Provider.
type Config struct {
	DB    *sql.DB
	Clock clock.Clock
	// PublicURL is the URL at which browsers reach the sandbox. PublicURL + Path is the issuer.
	PublicURL string
	Brand     theme.Brand // the branding of the consent page
	// BackURL is the URL at which the service reaches the provider. The default is PublicURL.
	BackURL      string
	ClientID     string
	ClientSecret string
	// RedirectURIs are the allowed redirect URIs. They are compared literally.
	RedirectURIs []string
}

// Provider is an OpenID Connect provider with one client.
type Provider struct {
	cfg         Config
	name        string // of an issuer of a tenant; empty for the provider of all tenants
	key         jose.JSONWebKey
	page, about *template.Template
}

// The client of the issuers of tenants.
const (
	tenantClient = "tenantry"
	tenantSecret = "sandbox-secret"
	// tenantCallback is the path of the redirect URIs that these issuers accept.
	tenantCallback = "/api/v1/auth/sso/callback"
)

// ofTenant returns the issuer with a name, which has its own signing key.
func (p *Provider) ofTenant(ctx context.Context, name string) (*Provider, error) {
	named := *p
	named.name, named.cfg.ClientID, named.cfg.ClientSecret, named.cfg.RedirectURIs = name, tenantClient, tenantSecret, nil
	var err error
	named.key, err = named.openKey(ctx)
	return &named, err
}

// path returns the path of the provider below the sandbox's public URL.
func (p *Provider) path() string {
	if p.name == "" {
		return Path
	}
	return Path + "/" + url.PathEscape(p.name)
}

const schema = `
CREATE TABLE IF NOT EXISTS idp_issuer_keys (
	issuer  TEXT PRIMARY KEY, -- its name
	id      TEXT NOT NULL,
	private BLOB NOT NULL -- PKCS #8
);
DROP TABLE IF EXISTS idp_grants;
CREATE TABLE IF NOT EXISTS idp_consents (
	secret_hash    TEXT PRIMARY KEY, -- of a code or an access token
	issuer         TEXT NOT NULL, -- its name
	kind           TEXT NOT NULL,
	redirect_uri   TEXT NOT NULL,
	nonce          TEXT NOT NULL,
	challenge      TEXT NOT NULL,
	subject        TEXT NOT NULL, -- empty if the email identifies the person
	email          TEXT NOT NULL,
	name           TEXT NOT NULL,
	email_verified INTEGER NOT NULL,
	expires_at     INTEGER NOT NULL -- microseconds since 1970
)`

// New opens the provider in cfg.DB. It creates missing tables and the signing key.
func New(ctx context.Context, cfg Config) (*Provider, error) {
	if cfg.BackURL == "" {
		cfg.BackURL = cfg.PublicURL
	}
	if _, err := cfg.DB.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("idp: create tables: %w", err)
	}
	p := &Provider{cfg: cfg, page: theme.Card(pageText, nil), about: theme.Shell(aboutText, nil)}
	var err error
	if p.key, err = p.openKey(ctx); err != nil {
		return nil, fmt.Errorf("idp: key: %w", err)
	}
	return p, nil
}

// Issuer returns the issuer of the provider's tokens.
func (p *Provider) Issuer() string { return p.cfg.PublicURL + p.path() }

// openKey loads the signing key, or creates it on the first start. Tokens stay valid after a
// restart.
func (p *Provider) openKey(ctx context.Context) (jose.JSONWebKey, error) {
	fresh, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(fresh)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	if _, err := p.cfg.DB.ExecContext(ctx, `
		INSERT INTO idp_issuer_keys (issuer, id, private) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		p.name, rand.Text(), encoded); err != nil {
		return jose.JSONWebKey{}, err
	}
	key := jose.JSONWebKey{Algorithm: string(jose.ES256), Use: "sig"}
	if err := p.cfg.DB.QueryRowContext(ctx, `SELECT id, private FROM idp_issuer_keys WHERE issuer = ?`, p.name).Scan(&key.KeyID, &encoded); err != nil {
		return jose.JSONWebKey{}, err
	}
	key.Key, err = x509.ParsePKCS8PrivateKey(encoded)
	return key, err
}

// The kinds of grants.
const (
	kindCode  = "code"
	kindToken = "token"
)

// grant is a person's consent.
type grant struct {
	redirectURI, nonce, challenge string
	sub, email, name              string
	emailVerified                 bool
}

// subject identifies a person: by the entered subject, or else by email address.
func (g grant) subject() string {
	if g.sub != "" {
		return g.sub
	}
	return hash("person " + strings.ToLower(g.email))[:22]
}

// store stores a grant under a new secret and returns the secret.
func (p *Provider) store(ctx context.Context, kind string, g grant, life time.Duration) (string, error) {
	now := p.cfg.Clock.Now()
	if _, err := p.cfg.DB.ExecContext(ctx, `DELETE FROM idp_consents WHERE expires_at <= ?`, now.UnixMicro()); err != nil {
		return "", err
	}
	secret := rand.Text()
	_, err := p.cfg.DB.ExecContext(ctx, `
		INSERT INTO idp_consents (secret_hash, issuer, kind, redirect_uri, nonce, challenge, subject, email, name, email_verified, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		hash(secret), p.name, kind, g.redirectURI, g.nonce, g.challenge, g.sub, g.email, g.name, g.emailVerified, now.Add(life).UnixMicro())
	return secret, err
}

// errNoGrant means that a code or token is unknown, used or expired.
var errNoGrant = errors.New("the grant does not exist")

// takeCode returns the grant of a code and invalidates the code. It returns errNoGrant if the code
// is invalid.
func (p *Provider) takeCode(ctx context.Context, code string) (grant, error) {
	return scan(p.cfg.DB.QueryRowContext(ctx, `
		DELETE FROM idp_consents WHERE secret_hash = ? AND issuer = ? AND kind = ? AND expires_at > ?
		RETURNING redirect_uri, nonce, challenge, subject, email, name, email_verified`,
		hash(code), p.name, kindCode, p.cfg.Clock.Now().UnixMicro()))
}

// findByToken returns the grant of an access token. It returns errNoGrant if the token is invalid.
func (p *Provider) findByToken(ctx context.Context, token string) (grant, error) {
	return scan(p.cfg.DB.QueryRowContext(ctx, `
		SELECT redirect_uri, nonce, challenge, subject, email, name, email_verified
		FROM idp_consents WHERE secret_hash = ? AND issuer = ? AND kind = ? AND expires_at > ?`,
		hash(token), p.name, kindToken, p.cfg.Clock.Now().UnixMicro()))
}

func scan(row *sql.Row) (g grant, err error) {
	err = row.Scan(&g.redirectURI, &g.nonce, &g.challenge, &g.sub, &g.email, &g.name, &g.emailVerified)
	if errors.Is(err, sql.ErrNoRows) {
		return grant{}, errNoGrant
	}
	return g, err
}

// hash returns the SHA-256 in base64url. PKCE derives the challenge from the verifier in the same
// way (RFC 7636, section 4.2).
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// halfHash returns the at_hash claim for an access token: the left half of its SHA-256 (OpenID
// Connect Core, section 3.1.3.6).
func halfHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}
