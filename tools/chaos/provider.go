//go:build linux

package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// The account at the Stripe replacement.
const (
	providerKey    = "sk_test_chaos"
	providerSecret = "whsec_chaos"
	providerHost   = "api.stripe.com"
)

// provider replaces Stripe. It is the program's own Stripe sandbox. The service reaches it under
// Stripe's host name through a proxy that can fail.
type provider struct {
	standIn *instance
	proxy   *http.Server
	// address is the address of the proxy. certificate is the file with the certificate that the
	// service has to trust.
	address, certificate string

	away atomic.Bool
	slow atomic.Int64 // delay of each response, in nanoseconds
}

// startProvider starts the provider. It sends its events to webhook.
func startProvider(ctx context.Context, binary, dir, webhook string) (*provider, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &provider{standIn: &instance{
		binary: binary, address: address, ready: "/sandbox/dashboard", log: filepath.Join(dir, "stripe.log"),
		args: []string{
			"sandbox", "stripe", "--addr", address.String(), "--data", filepath.Join(dir, "stripe"),
			"--key", providerKey, "--webhook", webhook, "--webhook-secret", providerSecret,
		},
	}}
	identity, err := p.newIdentity(dir)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p.address = listener.Addr().String()
	tunnels := newTunnels(identity)
	inside := &http.Server{Handler: p.handler(), ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	go func() { _ = inside.Serve(tunnels) }()
	p.proxy = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.connect(tunnels, w, r)
	}), ReadHeaderTimeout: time.Minute, ErrorLog: silent}
	go func() { _ = p.proxy.Serve(listener) }()
	return p, p.standIn.start(ctx)
}

func (p *provider) stop() {
	p.standIn.stop()
	_ = p.proxy.Close()
}

// newIdentity creates a certificate for Stripe's host name.
func (p *provider) newIdentity(dir string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := clock.System().Now()
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: providerHost}, DNSNames: []string{providerHost},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	p.certificate = filepath.Join(dir, "stripe.pem")
	err = os.WriteFile(p.certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// connect creates a tunnel to the provider for any host, so that no request leaves the machine.
func (p *provider) connect(t *tunnels, w http.ResponseWriter, r *http.Request) {
	if p.away.Load() || r.Method != http.MethodConnect || !strings.HasPrefix(r.Host, providerHost+":") {
		http.Error(w, "not reached", http.StatusBadGateway)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	t.add(conn, buffered.Reader)
}

// handler handles the requests in tunnels.
func (p *provider) handler() http.Handler {
	next := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", p.standIn.address.String(), ""
		},
		ErrorLog: silent,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.away.Load() {
			panic(http.ErrAbortHandler) // closes the connection
		}
		select {
		case <-time.After(time.Duration(p.slow.Load())):
		case <-r.Context().Done():
			return
		}
		next.ServeHTTP(w, r)
	})
}

// setChaos configures the provider's fault injection (rules: sandbox#chaos). nil disables it.
func (p *provider) setChaos(ctx context.Context, settings map[string]any) error {
	if settings == nil {
		settings = map[string]any{}
	}
	body, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return p.ask(ctx, http.MethodPut, "/sandbox/stripe/chaos", "application/json", string(body), nil)
}

// ask sends a request directly to the provider, not through the proxy, and decodes the response
// into v.
func (p *provider) ask(ctx context.Context, method, path, kind, body string, v any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.standIn.address.String()+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+providerKey)
	r.Header.Set("Content-Type", kind)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the stand-in for Stripe: %s %s: %s: %s", method, path, resp.Status, text)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(text, v)
}

// create creates an object and returns its id. form alternates names and values.
func (p *provider) create(ctx context.Context, path string, form ...string) (string, error) {
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	var made struct{ ID string }
	err := p.ask(ctx, http.MethodPost, path, "application/x-www-form-urlencoded", values.Encode(), &made)
	return made.ID, err
}

// object contains the checked fields of the provider's objects.
type object struct {
	ID            string
	Customer      string
	Status        string
	BillingReason string            `json:"billing_reason"`
	Metadata      map[string]string `json:"metadata"`
	AmountPaid    int64             `json:"amount_paid"`
	Total         int64
	Value         float64 `json:"aggregated_value"`
}

// list returns all objects of a list.
func (p *provider) list(ctx context.Context, path string, query url.Values) (all []object, err error) {
	query.Set("limit", "100")
	for {
		var page struct {
			Data    []object
			HasMore bool `json:"has_more"`
		}
		if err := p.ask(ctx, http.MethodGet, path+"?"+query.Encode(), "", "", &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if !page.HasMore || len(page.Data) == 0 {
			return all, nil
		}
		query.Set("starting_after", page.Data[len(page.Data)-1].ID)
	}
}

// tunnels is a net.Listener for the connections in a proxy's tunnels.
type tunnels struct {
	config *tls.Config
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newTunnels(identity tls.Certificate) *tunnels {
	return &tunnels{
		config: &tls.Config{Certificates: []tls.Certificate{identity}, MinVersion: tls.VersionTLS12},
		conns:  make(chan net.Conn), closed: make(chan struct{}),
	}
}

func (t *tunnels) add(conn net.Conn, r *bufio.Reader) {
	select {
	case t.conns <- tls.Server(tunnel{conn, r}, t.config):
	case <-t.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.conns:
		return c, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// Addr implements net.Listener.
func (t *tunnels) Addr() net.Addr { return &net.TCPAddr{} }

// tunnel is a connection whose first bytes may already be buffered.
type tunnel struct {
	net.Conn

	r *bufio.Reader
}

func (t tunnel) Read(b []byte) (int, error) { return t.r.Read(b) }
