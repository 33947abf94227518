package push_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/push"
	"github.com/tenantry/tenantry/internal/safehttp"
)

var b64 = base64.RawURLEncoding

// browser is a browser that subscribes and can decrypt messages.
type browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

func newBrowser(t testing.TB) browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	auth := make([]byte, 16)
	_, _ = rand.Read(auth)
	return browser{key: key, auth: auth}
}

func (b browser) subscription(endpoint string) push.Subscription {
	return push.Subscription{Endpoint: endpoint, P256dh: b64.EncodeToString(b.key.PublicKey().Bytes()), Auth: b64.EncodeToString(b.auth)}
}

// decrypt decrypts a message as a browser does (RFC 8188, RFC 8291).
func (b browser) decrypt(t testing.TB, body []byte) []byte {
	t.Helper()
	if len(body) < 86 || body[20] != 65 {
		t.Fatalf("no header in %d bytes", len(body))
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:20]), body[21:86], body[86:]
	if len(record) > int(size) || len(body) > 4096 {
		t.Errorf("%d bytes, a record of %d", len(body), size)
	}
	point, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := b.key.ECDH(point)
	if err != nil {
		t.Fatal(err)
	}
	derive := func(secret, salt []byte, info string, length int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, length)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	info := "WebPush: info\x00" + string(b.key.PublicKey().Bytes()) + string(sender)
	ikm := derive(secret, b.auth, info, 32)
	block, err := aes.NewCipher(derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gcm.Open(nil, derive(ikm, salt, "Content-Encoding: nonce\x00", 12), record, nil)
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.TrimRight(string(text), "\x00"))
	if len(text) == 0 || text[len(text)-1] != 2 {
		t.Fatal("no end of the last record")
	}
	return text[:len(text)-1]
}

// service is a push service that stores the last request.
type service struct {
	url    string
	client *safehttp.Client
	status int
	header http.Header
	body   []byte
}

func newService(t testing.TB) *service {
	t.Helper()
	s := &service{status: http.StatusCreated}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.header = r.Header.Clone()
		s.body, _ = io.ReadAll(r.Body)
		if s.status == http.StatusTemporaryRedirect {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(s.status)
	}))
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	s.url = srv.URL
	s.client = safehttp.New(safehttp.Config{RootCAs: roots, Exempt: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	return s
}

func newKeys(t testing.TB) push.Keys {
	t.Helper()
	keys, err := push.NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestSend(t *testing.T) {
	t.Parallel()
	s, b, keys := newService(t), newBrowser(t), newKeys(t)
	sender := push.NewSender(push.Config{Client: s.client, Contact: "ops@example.com"})
	want := push.Message{Title: "Quota", Body: "80 % used – ça va", URL: "https://app.example.com/usage", Tag: "usage"}
	if err := sender.Send(t.Context(), keys, b.subscription(s.url+"/send/abc"), want, 90*time.Minute); err != nil {
		t.Fatal(err)
	}
	var got push.Message
	if err := json.Unmarshal(b.decrypt(t, s.body), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"Content-Encoding": "aes128gcm", "TTL": "5400", "Urgency": "normal"} {
		if got := s.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	checkVAPID(t, s, keys, "mailto:ops@example.com")
}

// checkVAPID checks the sender of the message (RFC 8292).
func checkVAPID(t *testing.T, s *service, keys push.Keys, contact string) {
	t.Helper()
	token, key, ok := strings.Cut(strings.TrimPrefix(s.header.Get("Authorization"), "vapid t="), ", k=")
	if !ok || key != keys.Public {
		t.Fatalf("Authorization: %s", s.header.Get("Authorization"))
	}
	point, err := b64.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		t.Fatal(err)
	}
	signed, signature, _ := cutLast(token)
	sig, err := b64.DecodeString(signature)
	if err != nil || len(sig) != 64 {
		t.Fatalf("%v, %d bytes", err, len(sig))
	}
	sum := sha256.Sum256([]byte(signed))
	if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		t.Error("the signature is wrong")
	}
	_, claims, _ := strings.Cut(signed, ".")
	text, err := b64.DecodeString(claims)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(text, &c); err != nil || c.Aud != s.url || c.Sub != contact {
		t.Errorf("%v: %s", err, text)
	}
	if left := time.Unix(c.Exp, 0).Sub(clock.System().Now()); left <= 0 || left > 24*time.Hour {
		t.Errorf("it expires in %v", left)
	}
}

func cutLast(token string) (before, after string, ok bool) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return token, "", false
	}
	return token[:i], token[i+1:], true
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	s, b, keys := newService(t), newBrowser(t), newKeys(t)
	sender := push.NewSender(push.Config{Client: s.client, Contact: "ops@example.com"})
	heals := errors.New("any other error")
	for status, want := range map[int]error{
		200: nil, 201: nil, 202: nil, 404: push.ErrGone, 410: push.ErrGone,
		400: push.ErrRefused, 401: push.ErrRefused, 403: push.ErrRefused, 413: push.ErrRefused,
		408: heals, 429: heals, 500: heals, 503: heals, 307: safehttp.ErrForbidden,
	} {
		s.status = status
		err := sender.Send(t.Context(), keys, b.subscription(s.url), push.Message{Title: "x"}, 0)
		known := errors.Is(err, push.ErrGone) || errors.Is(err, push.ErrRefused) || errors.Is(err, safehttp.ErrForbidden)
		if wrong := !errors.Is(err, want); wrong && (!errors.Is(want, heals) || err == nil || known) {
			t.Errorf("%d: %v, want %v", status, err, want)
		}
	}
}

func TestPrivateEndpointsAreBlocked(t *testing.T) {
	t.Parallel()
	s, b, keys := newService(t), newBrowser(t), newKeys(t)
	sender := push.NewSender(push.Config{Client: safehttp.New(safehttp.Config{}), Contact: "ops@example.com"})
	for _, endpoint := range []string{s.url, strings.Replace(s.url, "127.0.0.1", "localhost", 1), "https://[::ffff:10.0.0.1]/"} {
		err := sender.Send(t.Context(), keys, b.subscription(endpoint+"/secret"), push.Message{}, 0)
		if !errors.Is(err, safehttp.ErrForbidden) || s.body != nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestMessagesMustFit(t *testing.T) {
	t.Parallel()
	s, b, keys := newService(t), newBrowser(t), newKeys(t)
	sender := push.NewSender(push.Config{Client: s.client, Contact: "ops@example.com"})
	room := push.MaxPayload - len(`{"title":"","body":""}`)
	largest := push.Message{Title: strings.Repeat("x", room)}
	if err := sender.Send(t.Context(), keys, b.subscription(s.url), largest, 0); err != nil || len(b.decrypt(t, s.body)) != push.MaxPayload {
		t.Errorf("the largest: %v", err)
	}
	largest.Body = "x"
	if err := sender.Send(t.Context(), keys, b.subscription(s.url), largest, 0); !errors.Is(err, push.ErrRefused) || !errors.Is(largest.Validate(), push.ErrRefused) {
		t.Errorf("one byte over the limit: %v", err)
	}
}

func TestValidateSubscription(t *testing.T) {
	t.Parallel()
	good := newBrowser(t).subscription("https://push.example.com/send/abc?x=1")
	point, err := b64.DecodeString(good.P256dh)
	if err != nil {
		t.Fatal(err)
	}
	off := append([]byte{}, point...)
	off[64] ^= 1 // off the curve
	compressed := append([]byte{2}, point[1:33]...)
	for name, c := range map[string]struct {
		change func(*push.Subscription)
		want   []error
	}{
		"good":                 {func(*push.Subscription) {}, nil},
		"with padding":         {func(s *push.Subscription) { s.P256dh += "="; s.Auth += "==" }, nil},
		"another port":         {func(s *push.Subscription) { s.Endpoint = "https://push.example.com:8443/x" }, nil},
		"http":                 {func(s *push.Subscription) { s.Endpoint = "http://push.example.com/x" }, []error{push.ErrEndpoint}},
		"no scheme":            {func(s *push.Subscription) { s.Endpoint = "push.example.com/x" }, []error{push.ErrEndpoint}},
		"no host":              {func(s *push.Subscription) { s.Endpoint = "https:///x" }, []error{push.ErrEndpoint}},
		"user information":     {func(s *push.Subscription) { s.Endpoint = "https://u@push.example.com/x" }, []error{push.ErrEndpoint}},
		"fragment":             {func(s *push.Subscription) { s.Endpoint += "#x" }, []error{push.ErrEndpoint}},
		"broken":               {func(s *push.Subscription) { s.Endpoint = "https://[::1/" }, []error{push.ErrEndpoint}},
		"point off the curve":  {func(s *push.Subscription) { s.P256dh = b64.EncodeToString(off) }, []error{push.ErrP256dh}},
		"compressed point":     {func(s *push.Subscription) { s.P256dh = b64.EncodeToString(compressed) }, []error{push.ErrP256dh}},
		"point at infinity":    {func(s *push.Subscription) { s.P256dh = "AA" }, []error{push.ErrP256dh}},
		"short point":          {func(s *push.Subscription) { s.P256dh = b64.EncodeToString(point[:64]) }, []error{push.ErrP256dh}},
		"standard base64":      {func(s *push.Subscription) { s.Auth = "+/+/+/+/+/+/+/+/+/+/+w" }, []error{push.ErrAuth}},
		"15 bytes":             {func(s *push.Subscription) { s.Auth = b64.EncodeToString(make([]byte, 15)) }, []error{push.ErrAuth}},
		"17 bytes":             {func(s *push.Subscription) { s.Auth = b64.EncodeToString(make([]byte, 17)) }, []error{push.ErrAuth}},
		"nothing but a scheme": {func(s *push.Subscription) { *s = push.Subscription{} }, []error{push.ErrEndpoint, push.ErrP256dh, push.ErrAuth}},
	} {
		s := good
		c.change(&s)
		err := s.Validate()
		for _, known := range []error{push.ErrEndpoint, push.ErrP256dh, push.ErrAuth} {
			want := false
			for _, w := range c.want {
				want = want || errors.Is(w, known)
			}
			if errors.Is(err, known) != want {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		// An invalid stored subscription is rejected before anything is sent.
		if len(c.want) > 0 {
			sender := push.NewSender(push.Config{})
			if err := sender.Send(t.Context(), push.Keys{}, s, push.Message{}, 0); !errors.Is(err, push.ErrRefused) {
				t.Errorf("%s: sent: %v", name, err)
			}
		}
	}
}
