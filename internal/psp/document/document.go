// Package document fetches the documents of invoices, to which the payment provider
// gives links (rules: psp#documents).
package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const (
	// timeout bounds fetching a document, from the request to its last byte.
	timeout = 30 * time.Second
	// largest is the size of a document, in bytes.
	largest = 16 << 20
	// redirects is how many of them lead from an invoice's link to the document.
	redirects = 5
	// hosts is the domain below which links of the provider begin.
	hosts = ".stripe.com"
)

var (
	errHost = errors.New("the link does not begin at a host of the provider")
	errKind = errors.New("the answer is not a PDF")
)

// Config says where links may begin and lead to besides the provider's own hosts and
// public addresses: in tests and for a provider that is not Stripe's own. The zero
// value is right for Stripe.
type Config struct {
	Hosts     []string       // with their ports, by http and https
	Reachable []netip.Prefix // networks that redirects may lead into, by http too
	Resolver  *net.Resolver  // nil is the system's
}

// Client fetches documents. It sends no key: links carry their own secret. It is safe
// for concurrent use.
type Client struct {
	hosts []string
	// first asks the hosts of the configuration, which may be in a private network.
	// further asks everybody else, the provider too: a name in its domain that leads to a
	// private address, now or only when it is asked for again, is refused as the
	// connection is made.
	first   *http.Client
	further *safehttp.Client
}

// New returns a client.
func New(cfg Config) *Client {
	return &Client{
		hosts: cfg.Hosts,
		first: &http.Client{
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		further: safehttp.New(safehttp.Config{
			Timeout: timeout, MaxBody: largest, MaxRedirects: redirects, HTTPS: true, Exempt: cfg.Reachable, Resolver: cfg.Resolver,
		}),
	}
}

// Document is a file at the provider. Whoever gets one closes Body.
type Document struct {
	Body   io.ReadCloser
	Length int64 // in bytes; -1 when the provider does not say
}

// Fetch fetches the document of an invoice from its PDFURL. Every failure is
// psp.ErrUnavailable.
//
// The link must be the provider's. It leads to storage of others, under names that
// nobody promises, so redirects are followed to every public address, by https.
func (c *Client) Fetch(ctx context.Context, link string) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	var file io.ReadCloser
	resp, err := c.follow(ctx, link)
	if err == nil {
		file, err = body(resp)
	}
	if err != nil {
		cancel()
		if named, ok := errors.AsType[*url.Error](err); ok {
			err = named.Err // without the link, which is as good as a password
		}
		return Document{}, psp.ErrUnavailable.Wrap(fmt.Errorf("get invoice pdf: %w", err))
	}
	return Document{Body: &timed{file, cancel}, Length: resp.ContentLength}, nil
}

// follow returns the answer at the end of a link.
func (c *Client) follow(ctx context.Context, link string) (*http.Response, error) {
	u, err := url.Parse(link)
	if err != nil || !c.isProviders(u) {
		return nil, errHost
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errHost
	}
	if !slices.Contains(c.hosts, u.Host) {
		return c.further.Do(req) // and on to where it leads
	}
	resp, err := c.first.Do(req)
	if err != nil {
		return nil, err
	}
	if !isRedirect(resp.StatusCode) {
		return resp, nil
	}
	_ = resp.Body.Close()
	next, err := resp.Location()
	if err != nil {
		return nil, err
	}
	req, err = http.NewRequestWithContext(ctx, http.MethodGet, next.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	return c.further.Do(req)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

// magic is what every PDF begins with. What storage says about the type of a file is no
// better than what was said when it was put there.
const magic = "%PDF-"

// body returns the body of an answer that is a document; of any other it is closed.
func body(resp *http.Response) (io.ReadCloser, error) {
	var err error
	begin := make([]byte, len(magic))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("status %d", resp.StatusCode)
	case resp.ContentLength > largest:
		err = safehttp.ErrTooLarge
	default:
		_, err = io.ReadFull(resp.Body, begin)
		if err == nil && string(begin) != magic || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errKind
		}
	}
	if err != nil {
		return nil, errors.Join(err, resp.Body.Close())
	}
	rest := http.MaxBytesReader(nil, resp.Body, largest-int64(len(magic)))
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(magic), rest), rest}, nil
}

// isProviders reports whether a link begins at the provider.
func (c *Client) isProviders(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if slices.Contains(c.hosts, u.Host) {
		return u.Scheme == "https" || u.Scheme == "http"
	}
	return u.Scheme == "https" && u.Port() == "" && strings.HasSuffix(u.Hostname(), hosts)
}

// timed ends the time limit of a body when it is closed.
type timed struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (t *timed) Close() error {
	defer t.cancel()
	return t.ReadCloser.Close()
}
