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
// A [Client] has a method for each operation of the API, named after it in the reference, and for
// each list with pages a second one ("…All") that goes through all pages. Arguments and answers
// are types of the package api. A refusal is an [*Error], and has the code that programs look at:
//
//	if errors.Is(err, client.ErrQuotaExceeded) { … }
//
// Requests are made again after errors that pass, where nothing can happen twice (see
// [WithAttempts]). All methods can be called from several goroutines.
//
// The package usage records usage in the background, and the package webhook receives webhooks.
//
// # Sign-up
//
// Register makes an account with its organization. Its tokens let a client act as the new user.
//
//	public, err := client.New("https://billing.example.com")
//	…
//	login, err := public.Register(ctx, api.RegisterRequest{
//		Name: "Ada Lovelace", Email: "ada@example.com", TenantName: new("Analytical Engines"),
//		Password: password, PasswordConfirmation: password,
//	})
//	…
//	user, err := client.New("https://billing.example.com",
//		client.WithTokens(client.Tokens{Access: *login.AccessToken, Refresh: *login.RefreshToken}))
//
// # Onboarding
//
// StartOnboarding signs up and opens the payment page of a plan. Send the customer to the page, and
// call ShowOnboarding as the new user when they return.
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
// A member invites by email. The mail has a link with a token, which accepts the invitation: with
// RegisterWithInvitation for a new account, with AcceptInvitation for one that exists.
//
//	_, err := owner.InviteMember(ctx, tenant, api.InvitationInput{Email: "bob@example.com", Role: "member"})
//	…
//	joined, err := public.RegisterWithInvitation(ctx, token, api.RegisterWithInvitationRequest{
//		Name: "Bob", Email: "bob@example.com", Password: password, PasswordConfirmation: password,
//	})
//
// The examples of the package show these in full.
package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenantry/tenantry/client/api"
)

// Client calls the API.
type Client struct {
	*api.Client

	base        *url.URL
	http        *http.Client
	credentials credentials
	userAgent   string
	locale      string
	attempts    int
	pause       func(attempt int) time.Duration // before the next attempt
}

// Option changes what [New] makes.
type Option func(*Client) error

// New returns a client of the service at a base URL: scheme and host, and a path where a proxy
// adds one, without /api/v1. Without an option that says who calls, it reaches what is public.
// It makes no request.
func New(baseURL string, options ...Option) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(baseURL, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("tenantry: base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("tenantry: base URL %q is not an absolute http or https address", baseURL)
	case base.RawQuery != "" || base.Fragment != "" || base.User != nil:
		return nil, errors.New("tenantry: a base URL has no user, query or fragment")
	case strings.HasSuffix(base.Path, "/api/v1"):
		return nil, errors.New("tenantry: a base URL ends before /api/v1")
	}
	c := &Client{base: base, http: defaultHTTP(), credentials: nobody{}, userAgent: userAgent, attempts: defaultAttempts, pause: backOff}
	c.Client = &api.Client{Send: c.send}
	for _, option := range options {
		if err := option(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// userAgent names this package to the service.
const userAgent = "tenantry-go"

// defaultHTTP is a client with a limit to how long an answer may take to begin, and enough idle
// connections for callers in many goroutines.
func defaultHTTP() *http.Client {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // somebody has replaced it
		return &http.Client{}
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = time.Minute
	transport.MaxIdleConnsPerHost = 32
	return &http.Client{Transport: transport}
}

// WithHTTPClient has requests made by another client of net/http.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) error {
		if h == nil {
			return errors.New("tenantry: the HTTP client is nil")
		}
		c.http = h
		return nil
	}
}

// WithUserAgent names the calling program before this package in User-Agent, such as "shop/1.4".
func WithUserAgent(name string) Option {
	return func(c *Client) error {
		c.userAgent = name + " " + userAgent
		return nil
	}
}

// WithLocale asks for messages in a language: en, fr, es or it.
func WithLocale(tag string) Option {
	return func(c *Client) error {
		c.locale = tag
		return nil
	}
}

// WithAttempts sets how often a request is made at most, 4 by default; 1 turns repetitions off.
//
// A request is made again
//
//   - after 429 with Retry-After: the service has done nothing;
//   - when no connection could be made;
//   - after 502, 503, 504 and broken connections, if the method is GET, HEAD, PUT or DELETE, or if
//     it records usage whose events all have idempotency keys.
//
// Before that passes the time of Retry-After, else a random time that grows from 0.1 to 5
// seconds. Where the context would end before, the error is returned at once.
func WithAttempts(n int) Option {
	return func(c *Client) error {
		if n < 1 {
			return fmt.Errorf("tenantry: %d attempts, want at least 1", n)
		}
		c.attempts = n
		return nil
	}
}
