// Package invoices reads invoice documents and credit notes at the provider, and creates credit notes
// and refunds.
package invoices

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
	// timeout limits a download, from the request to the last byte.
	timeout = 30 * time.Second
	// maxSize is the maximum size of a document, in bytes.
	maxSize = 16 << 20
	// maxRedirects is the maximum number of redirects from an invoice's link to the document.
	maxRedirects = 5
	// hosts is the domain of the provider's links.
	hosts = ".stripe.com"
)

var (
	errHost = errors.New("the URL is not on a host of the provider")
	errKind = errors.New("the response is not a PDF")
)

// DocumentConfig adds allowed hosts and networks to the provider's own hosts and public addresses. It is
// used in tests and for a provider other than Stripe. The zero value works for Stripe.
type DocumentConfig struct {
	Hosts     []string       // with ports, by http or https
	Reachable []netip.Prefix // networks that redirects can lead to, also by http
	Resolver  *net.Resolver  // nil uses the system's resolver
}

// Documents downloads invoice documents, to which the provider links (rules: psp#documents). It sends
// no key, because the links contain their own secret. It is safe for concurrent use.
type Documents struct {
	hosts []string
	// first calls the hosts of the configuration, which can be in a private network. further calls
	// all other hosts, including the provider's. It checks the address when it connects, so a name
	// in the provider's domain that resolves to a private address is rejected, even if it changed
	// since a previous lookup.
	first   *http.Client
	further *safehttp.Client
}

// NewDocuments returns Documents.
func NewDocuments(cfg DocumentConfig) *Documents {
	return &Documents{
		hosts: cfg.Hosts,
		first: &http.Client{
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		further: safehttp.New(safehttp.Config{
			Timeout: timeout, MaxBody: maxSize, MaxRedirects: maxRedirects, HTTPS: true, Exempt: cfg.Reachable, Resolver: cfg.Resolver,
		}),
	}
}

// Document is a file at the provider. The caller must close Body.
type Document struct {
	Body   io.ReadCloser
	Length int64 // in bytes; -1 if the provider does not send it
}

// Fetch downloads the document of an invoice from its PDFURL. Every error is a psp.ErrUnavailable.
//
// The link must be the provider's. It redirects to storage hosts whose names are not documented, so
// redirects to any public address are followed, but only over https.
func (c *Documents) Fetch(ctx context.Context, link string) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	var file io.ReadCloser
	resp, err := c.follow(ctx, link)
	if err == nil {
		file, err = documentBody(resp)
	}
	if err != nil {
		cancel()
		if named, ok := errors.AsType[*url.Error](err); ok {
			err = named.Err // the link contains a secret, so it must not be logged
		}
		return Document{}, psp.ErrUnavailable.Wrap(fmt.Errorf("get invoice pdf: %w", err))
	}
	return Document{Body: &timedBody{file, cancel}, Length: resp.ContentLength}, nil
}

// follow returns the response at the end of a link.
func (c *Documents) follow(ctx context.Context, link string) (*http.Response, error) {
	u, err := url.Parse(link)
	if err != nil || !c.isProviders(u) {
		return nil, errHost
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, errHost
	}
	if !slices.Contains(c.hosts, u.Host) {
		return c.further.Do(req) // including its redirects
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

// magic is the start of every PDF. The content type is not reliable, because storage returns the
// type that was set on upload.
const magic = "%PDF-"

// documentBody returns the body of a response if it is a document. Otherwise it closes the body.
func documentBody(resp *http.Response) (io.ReadCloser, error) {
	var err error
	begin := make([]byte, len(magic))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("status %d", resp.StatusCode)
	case resp.ContentLength > maxSize:
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
	rest := http.MaxBytesReader(nil, resp.Body, maxSize-int64(len(magic)))
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(magic), rest), rest}, nil
}

// isProviders reports whether a link is one of the provider's.
func (c *Documents) isProviders(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if slices.Contains(c.hosts, u.Host) {
		return u.Scheme == "https" || u.Scheme == "http"
	}
	return u.Scheme == "https" && u.Port() == "" && strings.HasSuffix(u.Hostname(), hosts)
}

// timedBody cancels the timeout of a body when it is closed.
type timedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (t *timedBody) Close() error {
	defer t.cancel()
	return t.ReadCloser.Close()
}
