package psp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/psp"
)

// files is a server of documents; its host is one of the provider's.
func files(t *testing.T, h http.HandlerFunc) (*psp.Client, string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	host, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	api := newFake(t, func(http.ResponseWriter, *http.Request, int) {})
	return api.client(t, func(c *psp.Config) { c.FileHosts = []string{host.Host} }), server.URL
}

func TestInvoicePDF(t *testing.T) {
	t.Parallel()
	client, address := files(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			t.Error("the key or the link goes along")
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/file", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/pdf; charset=binary")
		_, _ = io.WriteString(w, "%PDF-1.7")
	})
	for _, path := range []string{"/file", "/moved"} {
		file, err := client.InvoicePDF(t.Context(), address+path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		text, err := io.ReadAll(file.Body)
		if err != nil || string(text) != "%PDF-1.7" || file.Length != int64(len(text)) {
			t.Errorf("%s: %q of %d, %v", path, text, file.Length, err)
		}
		if err := file.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestInvoicePDFOnlyFromTheProvider(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-secret")
	}))
	t.Cleanup(elsewhere.Close)
	client, address := files(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
		default:
			http.Error(w, "no", http.StatusNotFound)
		}
	})
	withUser := strings.Replace(address, "http://", "http://u:p@", 1)
	for _, link := range []string{
		"", "nonsense", "file:///etc/passwd", elsewhere.URL, address + "/away", address + "/round", address + "/page", address + "/none",
		withUser + "/file", "http://files.stripe.com/x", "https://stripe.com.evil.example/x", "https://evilstripe.com/x",
		"https://files.stripe.com:8443/x", "https://u@files.stripe.com/x",
	} {
		file, err := client.InvoicePDF(t.Context(), link)
		if !errors.Is(err, psp.ErrUnavailable) {
			t.Errorf("%q: %v", link, err)
		}
		if err == nil {
			_ = file.Body.Close()
		} else if link != "" && strings.Contains(err.Error(), link) {
			t.Errorf("the error has the link: %v", err)
		}
	}
}
