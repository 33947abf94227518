package safehttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/tenantry/tenantry/internal/safehttp"
)

// loopback4 exempts only 127.0.0.1, so that all other private addresses remain forbidden.
var loopback4 = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// inside starts a server on the loopback interface that counts the requests that reach it.
func inside(t *testing.T, h http.HandlerFunc) (srv *httptest.Server, reached *atomic.Int32) {
	t.Helper()
	reached = new(atomic.Int32)
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, reached
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestPrivateAddressesAreBlocked(t *testing.T) {
	t.Parallel()
	srv, reached := inside(t, hello)
	port := strings.TrimPrefix(srv.URL, "http://127.0.0.1")
	names := dnsServer(t)
	// The hosts are spellings of 127.0.0.1 that a resolver or parser may accept, names (the test's
	// resolver returns 127.0.0.1 for every name), and addresses of private networks.
	for _, host := range []string{
		"example.com", "rebind.example.com", "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1",
		"0177.0.0.1", "017700000001", "127.255.255.254", "0.0.0.0", "0", "[::]", "[::1]", "[0:0:0:0:0:0:0:1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
		"[2002:7f00:1::]", "[fe80::1%25lo]", "[::1%25lo]", "127%2e0%2e0%2e1", "①②⑦.0.0.1", "169.254.169.254", "10.0.0.1",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			client := safehttp.New(safehttp.Config{Timeout: 5 * time.Second, Resolver: names})
			got, err := client.Get(t.Context(), "http://"+host+port)
			// The resolver may also reject invalid addresses as unknown names.
			if _, noName := errors.AsType[*net.DNSError](err); !noName && !errors.Is(err, safehttp.ErrForbidden) {
				t.Errorf("got %d %q, %v", got.Status, got.Body, err)
			}
			if n := reached.Load(); n != 0 {
				t.Errorf("the server was reached %d times", n)
			}
		})
	}
}

// The name server works: if the address is allowed, the request succeeds.
func TestNamesAreResolved(t *testing.T) {
	t.Parallel()
	srv, _ := inside(t, hello)
	client := safehttp.New(safehttp.Config{Exempt: loopback4, Resolver: dnsServer(t)})
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	if got, err := client.Get(t.Context(), "http://example.com:"+port); err != nil || string(got.Body) != "hello" {
		t.Errorf("%v, %q", err, got.Body)
	}
}

// dnsServer returns a resolver that resolves all names to 127.0.0.1.
func dnsServer(t *testing.T) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			reply := dnsmessage.Message{
				Header:    dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true},
				Questions: m.Questions,
			}
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				reply.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
				}}
			}
			if packed, err := reply.Pack(); err == nil {
				_, _ = server.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestForbiddenURLs(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"http://127.0.0.1:9/", "http://localhost:9/", "https://[::1]:9/", "http://[::ffff:10.0.0.1]:9/", // forbidden by address
		"ftp://example.com/", "file:///etc/passwd", "gopher://127.0.0.1/", "//example.com/", "example.com", "", // forbidden by scheme
		"http:///path", "https://:443/", "http:example.com", // no host
		"https://user@example.com/", "https://user:password@example.com/", // user information
		"http://exa mple.com/", "http://[::1/", "http://example.com:port/", "http://example.com/%zz", // not a URL
	} {
		client := safehttp.New(safehttp.Config{Timeout: 2 * time.Second})
		if _, err := client.Get(t.Context(), address); !errors.Is(err, safehttp.ErrForbidden) {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestDoChecksTheURL(t *testing.T) {
	t.Parallel()
	srv, reached := inside(t, hello)
	for _, address := range []string{strings.Replace(srv.URL, "//", "//user:password@", 1), "ftp://127.0.0.1/", "http:///x"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := safehttp.New(safehttp.Config{Exempt: loopback4}).Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, safehttp.ErrForbidden) || reached.Load() != 0 {
			t.Errorf("%s: %v, reached %d times", address, err, reached.Load())
		}
	}
}

func TestErrorsKeepTheURLToThemselves(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:9/secret", "http://[::1/secret", "http://exa mple.com/secret", "x://a/secret"} {
		if _, err := safehttp.New(safehttp.Config{}).Get(t.Context(), address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	secret, reached := inside(t, hello)
	elsewhere := strings.Replace(secret.URL, "127.0.0.1", "127.0.0.2", 1)
	outside, _ := inside(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/once":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, elsewhere, http.StatusFound)
		case "/mapped":
			http.Redirect(w, r, strings.Replace(elsewhere, "127.0.0.2", "[::ffff:127.0.0.2]", 1), http.StatusTemporaryRedirect)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/user":
			http.Redirect(w, r, "http://user@"+r.Host+"/end", http.StatusFound)
		default:
			_, _ = io.WriteString(w, "hello"+r.Referer())
		}
	})
	for path, ok := range map[string]bool{
		"/once": true, "/loop": false, "/inside": false, "/mapped": false, "/file": false, "/user": false,
	} {
		client := safehttp.New(safehttp.Config{Exempt: loopback4, MaxRedirects: 3})
		got, err := client.Get(t.Context(), outside.URL+path)
		if ok && (err != nil || string(got.Body) != "hello") {
			t.Errorf("%s: %v %q", path, err, got.Body)
		}
		if !ok && !errors.Is(err, safehttp.ErrForbidden) {
			t.Errorf("%s: %v %q", path, err, got.Body)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("a redirect led inside %d times", n)
	}
	none := safehttp.New(safehttp.Config{Exempt: loopback4})
	if _, err := none.Get(t.Context(), outside.URL+"/once"); !errors.Is(err, safehttp.ErrForbidden) {
		t.Errorf("a client without redirects: %v", err)
	}
}

func TestHTTPSOnly(t *testing.T) {
	t.Parallel()
	srv, reached := inside(t, hello)
	client := safehttp.New(safehttp.Config{HTTPS: true, Exempt: loopback4, Timeout: 2 * time.Second})
	if got, err := client.Get(t.Context(), srv.URL); err != nil || string(got.Body) != "hello" {
		t.Errorf("an exempt network: %v, %q", err, got.Body)
	}
	// With HTTPS, http URLs outside the exempt networks are rejected before any request is sent.
	for _, address := range []string{"http://8.8.8.8/", strings.Replace(srv.URL, "127.0.0.1", "127.0.0.2", 1)} {
		if _, err := client.Get(t.Context(), address); !errors.Is(err, safehttp.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := reached.Load(); n != 1 {
		t.Errorf("the server was reached %d times", n)
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(hello))
	t.Cleanup(secure.Close)
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	client = safehttp.New(safehttp.Config{HTTPS: true, Exempt: loopback4, RootCAs: roots})
	if got, err := client.Get(t.Context(), secure.URL); err != nil || string(got.Body) != "hello" {
		t.Errorf("over https: %v, %q", err, got.Body)
	}
}

func TestSizeIsBounded(t *testing.T) {
	t.Parallel()
	srv, _ := inside(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if r.URL.RawQuery == "chunked" {
			w.(http.Flusher).Flush() // no Content-Length
		}
		_, _ = io.WriteString(w, strings.Repeat("x", n))
	})
	client := safehttp.New(safehttp.Config{Exempt: loopback4, MaxBody: 100})
	for _, query := range []string{"", "?chunked"} {
		if got, err := client.Get(t.Context(), srv.URL+"/100"+query); err != nil || len(got.Body) != 100 {
			t.Errorf("100 bytes%s: %v, %d", query, err, len(got.Body))
		}
		for _, path := range []string{"/101", "/100000"} {
			if got, err := client.Get(t.Context(), srv.URL+path+query); !errors.Is(err, safehttp.ErrTooLarge) || len(got.Body) != 100 {
				t.Errorf("%s%s: %v, %d", path, query, err, len(got.Body))
			}
		}
	}
}

func TestTimeIsBounded(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/never", "/drip"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			srv, _ := inside(t, func(w http.ResponseWriter, r *http.Request) {
				for r.URL.Path == "/drip" && r.Context().Err() == nil {
					_, _ = io.WriteString(w, "x")
					w.(http.Flusher).Flush()
					time.Sleep(10 * time.Millisecond) // slow, but never silent
				}
				<-r.Context().Done()
			})
			client := safehttp.New(safehttp.Config{Exempt: loopback4, Timeout: 200 * time.Millisecond})
			_, err := client.Get(t.Context(), srv.URL+path)
			if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProxySettingsAreIgnored(t *testing.T) {
	srv, _ := inside(t, hello)
	proxy, asked := inside(t, hello)
	t.Setenv("HTTP_PROXY", proxy.URL)
	client := safehttp.New(safehttp.Config{Exempt: loopback4})
	if _, err := client.Get(t.Context(), srv.URL); err != nil || asked.Load() != 0 {
		t.Errorf("%v, %d requests to the proxy", err, asked.Load())
	}
}
