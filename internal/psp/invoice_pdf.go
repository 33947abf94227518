package psp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// pdfTimeout bounds fetching a document, from the request to its last byte (rules:
// psp#documents).
const pdfTimeout = 30 * time.Second

// pdfRedirects is how many redirects lead from an invoice's link to the document.
const pdfRedirects = 5

// stripeHosts is the domain below which Stripe keeps documents.
const stripeHosts = ".stripe.com"

var (
	errPDFHost = errors.New("the document is not on a host of the provider")
	errPDFKind = errors.New("the answer is not a PDF")
)

// Document is a file at the provider. Whoever gets one closes Body.
type Document struct {
	Body   io.ReadCloser
	Length int64 // in bytes; -1 when the provider does not say
}

// InvoicePDF fetches the document of an invoice from its PDFURL. It follows
// redirects, but only to hosts of the provider. Every failure is ErrUnavailable.
func (c *Client) InvoicePDF(ctx context.Context, link string) (Document, error) {
	ctx, cancel := context.WithTimeout(ctx, pdfTimeout)
	body, length, err := c.fetchPDF(ctx, link)
	if err != nil {
		cancel()
		return Document{}, ErrUnavailable.Wrap(fmt.Errorf("get invoice pdf: %w", err))
	}
	return Document{Body: &timed{body, cancel}, Length: length}, nil
}

func (c *Client) fetchPDF(ctx context.Context, link string) (io.ReadCloser, int64, error) {
	u, err := url.Parse(link)
	if err != nil || !c.servesFiles(u) {
		return nil, 0, errPDFHost
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, 0, errPDFHost
	}
	resp, err := c.files.Do(req)
	if err != nil {
		var named *url.Error
		if errors.As(err, &named) {
			err = named.Err // without the link, which is as good as a password
		}
		return nil, 0, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		err = fmt.Errorf("status %d", resp.StatusCode)
	case kind != "application/pdf":
		err = errPDFKind
	default:
		return http.MaxBytesReader(nil, resp.Body, answerLimit), resp.ContentLength, nil
	}
	_ = resp.Body.Close()
	return nil, 0, err
}

// servesFiles reports whether the provider keeps documents at a URL.
func (c *Client) servesFiles(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if slices.Contains(c.fileHosts, u.Host) {
		return u.Scheme == "https" || u.Scheme == "http"
	}
	return u.Scheme == "https" && u.Port() == "" && strings.HasSuffix(u.Hostname(), stripeHosts)
}

// newFileClient returns a client that sends no key: links carry their own secret.
func (c *Client) newFileClient(next http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: next,
		CheckRedirect: func(r *http.Request, made []*http.Request) error {
			if len(made) > pdfRedirects || !c.servesFiles(r.URL) {
				return errPDFHost
			}
			r.Header.Del("Referer")
			return nil
		},
	}
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
