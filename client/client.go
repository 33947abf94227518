// Package client calls Tenantry's API.
//
//	c, err := client.New("https://billing.example.com", client.WithAPIKey(os.Getenv("TENANTRY_KEY")))
//	if err != nil {
//		return err
//	}
//	for invoice, err := range c.ListInvoicesAll(ctx, tenant, nil) {
//		…
//	}
//
// A [Client] has a method for each operation of the API, with the name that the reference uses.
// Each paginated list has a second method ("…All") that iterates over all pages. Arguments and
// results are types of package api. An error response is returned as an [*Error]. Its code
// identifies the error:
//
//	if errors.Is(err, client.ErrQuotaExceeded) { … }
//
// Requests are retried after temporary errors if that is safe (see [WithAttempts]). All methods are
// safe for concurrent use.
//
// VerifyToken verifies the tokens of users in your backend without a request to the service, and
// CachedEntitlements works during outages. Package usage records usage in the background. Package
// webhook receives webhooks.
//
// # Sign-up
//
// Register creates an account and its organization. The returned tokens let a client act as the new
// user.
//
//	public, err := client.New("https://billing.example.com")
//	…
//	login, err := public.Register(ctx, api.RegisterRequest{
//		Name: "Ada Lovelace", Email: "ada@example.com", TenantName: new("Analytical Engines"),
//		Password: &password, PasswordConfirmation: &password,
//	})
//	…
//	user, err := client.New("https://billing.example.com",
//		client.WithTokens(client.Tokens{Access: *login.AccessToken, Refresh: *login.RefreshToken}))
//
// # Onboarding
//
// StartOnboarding creates an account and opens the payment page of a plan. Redirect the customer to
// the page, and call ShowOnboarding as the new user when they return.
//
//	started, err := public.StartOnboarding(ctx, api.StartOnboardingRequest{
//		Name: "Ada Lovelace", Email: "ada@example.com", Password: password, PasswordConfirmation: password,
//		PlanSlug: "team", Currency: "EUR", Quantity: new(int64(5)),
//	})
//	…
//	http.Redirect(w, r, started.CheckoutURL, http.StatusSeeOther)
//	…
//	status, err := user.ShowOnboarding(ctx) // status.HasSubscription
//
// # Invitation
//
// A member invites a person by email. The email contains a link with a token, which accepts the
// invitation: use RegisterWithInvitation to create an account, or AcceptInvitation if the person
// already has one.
//
//	_, err := owner.InviteMember(ctx, tenant, api.InvitationInput{Email: "bob@example.com", Role: "member"})
//	…
//	joined, err := public.RegisterWithInvitation(ctx, token, api.RegisterWithInvitationRequest{
//		Name: "Bob", Email: "bob@example.com", Password: password, PasswordConfirmation: password,
//	})
//
// The examples of this package show the complete code.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

// Client is a client of the API. Create one with [New].
type Client struct {
	*api.Client

	base        *url.URL
	http        *http.Client
	credentials credentials
	userAgent   string
	locale      string
	attempts    int
	pause       func(attempt int) time.Duration // delay before the next attempt

	issuer, audience string // expected in tokens
	keys             *keySet
	entitlements     *entitlementCache
}

// Option configures a [Client].
type Option func(*Client) error

// New returns a client of the service at baseURL, which is a scheme, a host and, behind a proxy, a
// path. It does not include /api/v1. Without credentials, the client can call only public
// operations. New sends no request.
func New(baseURL string, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("tenantry: base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("tenantry: base URL %q is not an absolute http or https URL", baseURL)
	case base.RawQuery != "" || base.Fragment != "" || base.User != nil:
		return nil, errors.New("tenantry: the base URL must not have a user, query or fragment")
	case strings.HasSuffix(base.Path, "/api/v1"):
		return nil, errors.New("tenantry: the base URL must not include /api/v1")
	}
	c := &Client{base: base, http: defaultHTTP(), credentials: noCredentials{}, userAgent: userAgent, attempts: defaultAttempts, pause: backOff}
	c.Client = &api.Client{Send: c.send}
	c.issuer, c.keys, c.entitlements = base.String(), &keySet{}, newEntitlementCache()
	for _, option := range options {
		if err := option(c); err != nil {
			return nil, err
		}
	}
	c.audience = cmp.Or(c.audience, c.issuer)
	return c, nil
}

// userAgent identifies this package to the service.
const userAgent = "tenantry-go"

// defaultHTTP returns a client with a timeout for response headers and enough idle connections for
// many concurrent callers.
func defaultHTTP() *http.Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the default transport was replaced
		return &http.Client{}
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.MaxIdleConnsPerHost = 32
	return &http.Client{Transport: transport}
}

// WithHTTPClient uses another http.Client to send requests.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) error {
		if h == nil {
			return errors.New("tenantry: the HTTP client is nil")
		}
		c.http = h
		return nil
	}
}

// WithUserAgent adds the name of the calling program, such as "shop/1.4", to the User-Agent header.
func WithUserAgent(name string) Option {
	return func(c *Client) error {
		c.userAgent = name + " " + userAgent
		return nil
	}
}

// WithLocale sets the language of messages: en, fr, es or it.
func WithLocale(tag string) Option {
	return func(c *Client) error {
		c.locale = tag
		return nil
	}
}

// WithAttempts sets the maximum number of attempts per request. The default is 4; 1 disables
// retries.
//
// A request is retried
//
//   - after 429 with Retry-After: the service has not processed the request;
//   - if no connection could be established;
//   - after 502, 503, 504 and broken connections, if the method is GET, HEAD, PUT or DELETE, or if
//     it records usage and all events have idempotency keys.
//
// The delay before a retry is Retry-After, or else a random delay that grows from 0.1 to 5 seconds.
// If the context would end during the delay, the error is returned immediately.
func WithAttempts(n int) Option {
	return func(c *Client) error {
		if n < 1 {
			return fmt.Errorf("tenantry: %d attempts, want at least 1", n)
		}
		c.attempts = n
		return nil
	}
}
