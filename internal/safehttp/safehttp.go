// Package safehttp is an HTTP client for URLs that outsiders choose: pictures that an
// identity provider names, endpoints that a browser registers. Such a URL must not make
// the service send requests into a network that only the service can reach.
//
// The client guarantees:
//   - Only http and https, without user information.
//   - Only public addresses. The address of each connection is checked when it is made,
//     so it does not matter how the host is written, what its name resolves to or where
//     a redirect leads.
//   - Redirects, the size of an answer and the time of an exchange are limited.
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
	// ErrForbidden says that requests to a URL or an address are not allowed.
	ErrForbidden = errors.New("safehttp: forbidden")
	// ErrTooLarge says that an answer has more than Config.MaxBody bytes.
	ErrTooLarge = errors.New("safehttp: the answer is too large")
)

// Defaults of Config: DefaultMaxBody is in bytes.
const (
	DefaultTimeout = 10 * time.Second
	DefaultMaxBody = 1 << 20
)

// Lane is the lane of the job queue for jobs that wait for servers which outsiders
// name: while those are slow, no other jobs wait.
const Lane = "web"

// Config has the limits of a client.
type Config struct {
	// Timeout limits an exchange from its start to the end of the answer's body.
	Timeout time.Duration
	// MaxBody is the largest answer, in bytes.
	MaxBody int64
	// MaxRedirects is how many redirects are followed; one more is ErrForbidden.
	MaxRedirects int
	// NoRedirects returns an answer that redirects as it is.
	NoRedirects bool
	// IdlePerHost is how many connections to one host wait for the next request; 0 is 2.
	IdlePerHost int
	// HTTPS allows http to exempt networks only.
	HTTPS bool
	// Exempt are networks that may be reached although they are not public: for
	// tests and for development beside a sandbox.
	Exempt []netip.Prefix
	// RootCAs are the authorities to trust; nil trusts the system's.
	RootCAs *x509.CertPool
	// Resolver looks up names; nil is the system's.
	Resolver *net.Resolver
}

// Client makes requests. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	maxBody int64
}

// New returns a client.
func New(cfg Config) *Client {
	timeout := cmp.Or(cfg.Timeout, DefaultTimeout)
	transport := newTransport(cfg, timeout, isPublic)
	if cfg.HTTPS {
		transport.RegisterProtocol("http", newTransport(cfg, timeout, func(netip.Addr) bool { return false }))
	}
	return &Client{
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
				next.Header.Del("Referer") // net/http set it to the previous URL
				return checkURL(next.URL)
			},
		},
	}
}

// newTransport returns a transport that connects to exempt networks, and to the addresses
// that open allows.
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

// HasValidPort reports whether the port of a URL, if it names one, exists: 1 to 65535. Package
// url accepts any digits.
func HasValidPort(u *url.URL) bool {
	port := u.Port()
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

// CheckURL parses a URL and refuses, with ErrForbidden, one that a client never requests.
// It does not check the address of the host: that happens when a connection is made.
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
		return fmt.Errorf("%w: neither http nor https", ErrForbidden)
	case u.Hostname() == "":
		return fmt.Errorf("%w: no host", ErrForbidden)
	case !HasValidPort(u):
		return fmt.Errorf("%w: no such port", ErrForbidden)
	case u.User != nil:
		return fmt.Errorf("%w: user information in the URL", ErrForbidden)
	}
	return nil
}

// Do makes a request. Reading more of the answer's body than allowed fails with
// ErrTooLarge. Errors do not contain the URL, because it may be a secret.
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

// Response is an answer whose body has been read completely.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Get requests a URL and reads the answer, whatever its status.
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

// stripURL unwraps an error that would print the URL.
func stripURL(err error) error {
	if named, ok := errors.AsType[*url.Error](err); ok {
		return named.Err
	}
	return err
}

// limitedBody fails when more is read than allowed. http.MaxBytesReader would do, but its
// error speaks of a request.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more byte shows that there is too much
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}
