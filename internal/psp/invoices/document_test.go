package invoices_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/invoices"
	"github.com/tenantry/tenantry/internal/safehttp"
)

const limit = 16 << 20

// serve starts a server with the test's responses.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// provider returns a client that treats the host of an address as a host of the provider.
func provider(t *testing.T, address string, reachable ...string) *invoices.Documents {
	t.Helper()
	host, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	cfg := invoices.DocumentConfig{Hosts: []string{host.Host}}
	for _, network := range reachable {
		cfg.Reachable = append(cfg.Reachable, netip.MustParsePrefix(network))
	}
	return invoices.NewDocuments(cfg)
}

// pdf writes a document of a given size.
func pdf(w http.ResponseWriter, size int) {
	w.Header().Set("Content-Type", "application/pdf; charset=binary")
	_, _ = io.WriteString(w, "%PDF-1.7"+strings.Repeat(" ", size-len("%PDF-1.7")))
}

// The link leads to storage on another host, as the provider's links do.
func TestDocument(t *testing.T) {
	t.Parallel()
	storage := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Referer") != "" {
			t.Error("request contains the key or the link")
		}
		switch r.URL.Path {
		case "/far":
			http.Redirect(w, r, "/far2", http.StatusSeeOther)
		case "/far2":
			http.Redirect(w, r, "/far3", http.StatusTemporaryRedirect)
		case "/far3":
			http.Redirect(w, r, "/far4", http.StatusFound)
		case "/far4":
			http.Redirect(w, r, "/file", http.StatusMovedPermanently)
		case "/untyped":
			w.Header().Set("Content-Type", "binary/octet-stream")
			_, _ = io.WriteString(w, "%PDF-1.7")
		default:
			pdf(w, 8)
		}
	})
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; path {
		case "/file":
			pdf(w, 8)
		case "/moved":
			http.Redirect(w, r, "/file", http.StatusFound)
		default:
			http.Redirect(w, r, storage+path, http.StatusFound)
		}
	})
	client := provider(t, address, "127.0.0.0/8")
	for _, path := range []string{"/file", "/moved", "/away", "/far", "/untyped"} {
		file, err := client.Fetch(t.Context(), address+path)
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

func TestOnlyFromTheProvider(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/round" {
			http.Redirect(w, r, "/round", http.StatusFound)
			return
		}
		pdf(w, 8)
	})
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/inside": // an address that is neither public nor exempt
			http.Redirect(w, r, strings.Replace(elsewhere, "127.0.0.1", "127.0.0.2", 1), http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://8.8.8.8/file", http.StatusFound)
		case "/user":
			http.Redirect(w, r, strings.Replace(elsewhere, "http://", "http://u:p@", 1), http.StatusFound)
		case "/file-url":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/round":
			http.Redirect(w, r, elsewhere+"/round", http.StatusFound)
		case "/nowhere":
			w.WriteHeader(http.StatusFound)
		case "/page":
			_, _ = io.WriteString(w, "<p>%PDF-</p>")
		case "/empty":
			w.Header().Set("Content-Type", "application/pdf")
		case "/large":
			w.Header().Set("Content-Length", strconv.Itoa(limit+1))
			_, _ = io.WriteString(w, "%PDF-1.7")
		default:
			http.Error(w, "%PDF-", http.StatusNotFound)
		}
	})
	links := []string{
		"", "nonsense", "file:///etc/passwd", elsewhere + "/file", strings.Replace(address, "http://", "http://u:p@", 1) + "/file",
		"http://files.stripe.com/x", "https://stripe.com.evil.example/x", "https://evilstripe.com/x",
		"https://files.stripe.com:8443/x", "https://u@files.stripe.com/x",
	}
	for _, path := range []string{
		"/inside", "/plain", "/user", "/file-url", "/round", "/nowhere", "/page", "/empty", "/large", "/none",
	} {
		links = append(links, address+path)
	}
	client := provider(t, address, "127.0.0.1/32")
	for _, link := range links {
		file, err := client.Fetch(t.Context(), link)
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

func TestSizeOfDocuments(t *testing.T) {
	t.Parallel()
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.URL.Query().Get("size"))
		if err != nil {
			t.Error(err)
		}
		w.(http.Flusher).Flush() // without a length
		pdf(w, size)
	})
	client := provider(t, address)
	for size, whole := range map[int]bool{limit: true, limit + 1: false} {
		file, err := client.Fetch(t.Context(), address+"?size="+strconv.Itoa(size))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, file.Body)
		if (err == nil) != whole || n > limit {
			t.Errorf("%d bytes: %d read, %v", size, n, err)
		}
		_ = file.Body.Close()
	}
}

// A name in the provider's domain that resolves to a private network, as after a change of its DNS
// record, is rejected when the connection is made.
func TestTheProvidersNameMustLeadToAPublicAddress(t *testing.T) {
	t.Parallel()
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe() // a stream, in which each message is preceded by its length
		go answerLoopback(server)
		return client, nil
	}}
	client := invoices.NewDocuments(invoices.DocumentConfig{Resolver: resolver})
	_, err := client.Fetch(t.Context(), "https://files.stripe.com/invoice.pdf")
	if !errors.Is(err, safehttp.ErrForbidden) || !errors.Is(err, psp.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// answerLoopback answers each DNS query on a stream with 127.0.0.1.
func answerLoopback(c net.Conn) {
	defer func() { _ = c.Close() }()
	for {
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		var p dnsmessage.Message
		if p.Unpack(question) != nil || len(p.Questions) != 1 {
			return
		}
		q := p.Questions[0]
		p.Response, p.RecursionAvailable, p.Additionals = true, true, nil
		if q.Type == dnsmessage.TypeA {
			p.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
				Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
			}}
		}
		answer, err := p.Pack()
		if err != nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}
