// Package safehttp implements an HTTP client for untrusted URLs, such as pictures from identity
// providers and endpoints registered by browsers. Such a URL must not make the service send
// requests into a network that only the service can reach.
//
// The client guarantees:
//   - Only http and https, without user information.
//   - Only public addresses. The client checks the address of each connection, so that neither the
//     spelling of the host nor DNS nor redirects can bypass the check.
//   - Redirects, the size of a response and the duration of an exchange are limited.
//   - No proxy, no cookies, and no Referer.
package safehttp

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"
)

var (
	// ErrForbidden means that requests to a URL or an address are not allowed.
	ErrForbidden = errors.New("safehttp: forbidden")
	// ErrTooLarge means that a response exceeds Config.MaxBody.
	ErrTooLarge = errors.New("safehttp: the response is too large")
)

// Defaults of Config. DefaultMaxBody is in bytes.
const (
	DefaultTimeout = 10 * time.Second
	DefaultMaxBody = 1 << 20
)

// Lane is the job queue's lane for jobs that wait for untrusted servers, so that slow servers do
// not delay other jobs.
const Lane = "web"

// Config holds the limits of a client.
type Config struct {
	// Timeout limits an exchange, including the response body.
	Timeout time.Duration
	// MaxBody is the maximum size of a response body, in bytes.
	MaxBody int64
	// MaxRedirects is the number of redirects to follow. Another redirect returns ErrForbidden.
	MaxRedirects int
	// NoRedirects returns redirect responses instead of following them.
	NoRedirects bool
	// IdlePerHost is the maximum number of idle connections per host; 0 means 2.
	IdlePerHost int
	// HTTPS restricts http to exempt networks.
	HTTPS bool
	// Exempt lists networks that are allowed although they are not public, for tests and for
	// development with a sandbox.
	Exempt []netip.Prefix
	// RootCAs are the trusted authorities; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names; nil means the system's resolver.
	Resolver *net.Resolver
}

// Client sends requests. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	maxBody int64
	config  Config
}

// New returns a new Client.
func New(cfg Config) *Client {
	timeout := cmp.Or(cfg.Timeout, DefaultTimeout)
	transport := newTransport(cfg, timeout, isPublic)
	if cfg.HTTPS {
		transport.RegisterProtocol("http", newTransport(cfg, timeout, func(netip.Addr) bool { return false }))
	}
	return &Client{
		config:  cfg,
		maxBody: cmp.Or(cfg.MaxBody, DefaultMaxBody),
		http: &http.Client{
			Transport: transport,
			Timeout:   timeout,
			CheckRedirect: func(next *http.Request, made []*http.Request) error {
				if cfg.NoRedirects {
					return http.ErrUseLastResponse
				}
				if len(made) > cfg.MaxRedirects {
					return fmt.Errorf("%w: more than %d redirects", ErrForbidden, cfg.MaxRedirects)
				}
				next.Header.Del("Referer") // net/http sets it to the previous URL
				return checkURL(next.URL)
			},
		},
	}
}

// newTransport returns a transport that connects to exempt networks, and to addresses that open
// allows.
func newTransport(cfg Config, timeout time.Duration, open func(netip.Addr) bool) *http.Transport {
	dialer := &net.Dialer{
		Timeout:  timeout,
		Resolver: cfg.Resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return checkAddress(address, open, cfg.Exempt)
		},
	}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.RootCAs},
		TLSHandshakeTimeout:    timeout,
		MaxResponseHeaderBytes: 64 << 10,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           max(16, 16*cfg.IdlePerHost),
		MaxIdleConnsPerHost:    cfg.IdlePerHost,
		IdleConnTimeout:        30 * time.Second,
	}
}

// HasValidPort reports whether the port of a URL, if present, is valid: 1 to 65535. Package url
// accepts any digits.
func HasValidPort(u *url.URL) bool {
	port := u.Port()
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// CheckURL parses a URL. It returns ErrForbidden for a URL that the client never requests. It does
// not check the address of the host, which is checked when a connection is made.
func CheckURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForbidden, stripURL(err))
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: must be http or https", ErrForbidden)
	case u.Hostname() == "":
		return fmt.Errorf("%w: no host", ErrForbidden)
	case !HasValidPort(u):
		return fmt.Errorf("%w: invalid port", ErrForbidden)
	case u.User != nil:
		return fmt.Errorf("%w: user information in the URL", ErrForbidden)
	}
	return nil
}

// Do sends a request. Reading more than MaxBody bytes of the response returns ErrTooLarge. Errors
// do not contain the URL, because it may be a secret.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := checkURL(req.URL); err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, stripURL(err)
	}
	resp.Body = &limitedBody{ReadCloser: resp.Body, left: c.maxBody}
	return resp, nil
}

// Check returns ErrForbidden for a URL that the client would refuse to connect to. Unlike CheckURL,
// it also resolves the host. A later request is checked again, because the addresses of a host can
// change.
func (c *Client) Check(ctx context.Context, address string) error {
	u, err := CheckURL(address)
	if err != nil {
		return err
	}
	open := isPublic
	if c.config.HTTPS && u.Scheme == "http" {
		open = func(netip.Addr) bool { return false }
	}
	addresses, err := cmp.Or(c.config.Resolver, net.DefaultResolver).LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil {
		return err
	}
	for _, addr := range addresses {
		if open(addr) || isInNetworks(addr.Unmap(), c.config.Exempt) {
			return nil
		}
	}
	return fmt.Errorf("%w: the URL must use https and the host must have a public address", ErrForbidden)
}

// Response is a response whose body has been read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get requests a URL and reads the response. It returns responses of any status.
func (c *Client) Get(ctx context.Context, address string) (Response, error) {
	u, err := CheckURL(address)
	if err != nil {
		return Response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return Response{}, fmt.Errorf("%w: %w", ErrForbidden, stripURL(err))
	}
	resp, err := c.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, err
}

// stripURL unwraps an error that would contain the URL.
func stripURL(err error) error {
	if named, ok := errors.AsType[*url.Error](err); ok {
		return named.Err
	}
	return err
}

// limitedBody returns ErrTooLarge if too much is read. http.MaxBytesReader is unsuitable because
// its error refers to a request.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte reveals a body that is too large
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
