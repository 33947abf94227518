package mail_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http/httptest"
	netmail "net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/mail"
)

// catcher is a mail server that stores all mails.
type catcher struct {
	refuse error // response to every recipient
	auth   bool  // requires user:secret

	mu    sync.Mutex
	mails []caught
}

type caught struct {
	user, from, to string
	encrypted      bool
	data           []byte
}

func (c *catcher) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	_, encrypted := conn.TLSConnectionState()
	return &session{catcher: c, caught: caught{encrypted: encrypted}}, nil
}

func (c *catcher) all() []caught {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mails
}

type session struct {
	catcher *catcher
	caught  caught
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != "user" || password != "p@ss:word" {
			return errors.New("wrong password")
		}
		s.caught.user = username
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.catcher.auth && s.caught.user == "" {
		return smtp.ErrAuthRequired
	}
	s.caught.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.caught.to = to
	return s.catcher.refuse
}

func (s *session) Data(r io.Reader) (err error) {
	s.caught.data, err = io.ReadAll(r)
	s.catcher.mu.Lock()
	defer s.catcher.mu.Unlock()
	s.catcher.mails = append(s.catcher.mails, s.caught)
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// listen starts a catcher that offers "starttls", "tls" or "none". It returns its host:port and the
// TLS configuration for clients.
func listen(t *testing.T, c *catcher, security string) (address string, trust *tls.Config) {
	t.Helper()
	https := httptest.NewTLSServer(nil) // only for its certificate
	t.Cleanup(https.Close)
	roots := x509.NewCertPool()
	roots.AddCert(https.Certificate())
	server := smtp.NewServer(c)
	server.Domain = "catcher.test"
	server.AllowInsecureAuth = security == "none"
	server.ErrorLog = discard{}
	if security != "none" {
		server.TLSConfig = &tls.Config{Certificates: https.TLS.Certificates}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if security == "tls" {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close() // the server does not know the listener yet if the test was quick
		<-done
	})
	return listener.Addr().String(), &tls.Config{RootCAs: roots}
}

type discard struct{}

func (discard) Printf(string, ...any) {}
func (discard) Println(...any)        {}

func sender(t *testing.T, url string, trust *tls.Config) *mail.SMTP {
	t.Helper()
	server, err := mail.ParseSMTPURL(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mail.NewSMTP(mail.SMTPConfig{Server: server, From: "Ténantry <no-reply@tenantry.test>", TLS: trust})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var message = mail.Message{
	ID: "0198", To: "ada@example.test", Subject: "Ça va?", Text: "Héllo\n.\nbye", HTML: "<p>Héllo</p>",
}

func TestSMTPDelivers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		security, url string
		auth          bool
	}{
		"STARTTLS":            {"starttls", "smtp://ADDR", false},
		"STARTTLS with login": {"starttls", "smtp://user:p%40ss%3Aword@ADDR", true},
		"TLS":                 {"tls", "smtps://ADDR", false},
		"TLS with login":      {"tls", "smtps://user:p%40ss%3Aword@ADDR", true},
		"in clear":            {"none", "smtp://ADDR?tls=none", false},
		"in clear with login": {"none", "smtp://user:p%40ss%3Aword@ADDR?tls=none", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &catcher{auth: tt.auth}
			address, trust := listen(t, c, tt.security)
			s := sender(t, strings.Replace(tt.url, "ADDR", address, 1), trust)
			if err := s.Send(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			mails := c.all()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			got := mails[0]
			if got.from != "no-reply@tenantry.test" || got.to != "ada@example.test" ||
				got.encrypted != (tt.security != "none") || (got.user != "") != tt.auth {
				t.Errorf("envelope %+v", got)
			}
			want := map[string]string{
				"From": "Ténantry <no-reply@tenantry.test>", "To": "<ada@example.test>", "Subject": "Ça va?",
				"Message-Id": "<0198@tenantry.test>", "Auto-Submitted": "auto-generated",
				"text/plain": "Héllo\r\n.\r\nbye", "text/html": "<p>Héllo</p>",
			}
			if diff := cmp.Diff(want, read(t, got.data)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// read returns the relevant headers, and the parts by type.
func read(t *testing.T, data []byte) map[string]string {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, name := range []string{"From", "To", "Subject", "Message-Id", "Auto-Submitted"} {
		if got[name], err = new(mime.WordDecoder).DecodeHeader(m.Header.Get(name)); err != nil {
			t.Fatal(err)
		}
	}
	got["From"] = strings.ReplaceAll(got["From"], `"`, "")
	_, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type"))
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		got[kind] = strings.TrimRight(string(body), "\r\n")
	}
}

func TestSMTPNeverSendsInClearUnasked(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	address, trust := listen(t, c, "none")
	for _, login := range []string{"", "user:p%40ss%3Aword@"} {
		err := sender(t, "smtp://"+login+address, trust).Send(t.Context(), message)
		if err == nil || errors.Is(err, mail.ErrRefused) || len(c.all()) != 0 {
			t.Errorf("a server without STARTTLS: %v, %d mails", err, len(c.all()))
		}
	}
	address, _ = listen(t, c, "starttls")
	if err := sender(t, "smtp://"+address, nil).Send(t.Context(), message); err == nil || len(c.all()) != 0 {
		t.Errorf("untrusted certificate: error %v, %d mails", err, len(c.all()))
	}
}

func TestSMTPFailures(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		code  int
		final bool
	}{
		"no such mailbox":  {550, true},
		"mailbox is full":  {452, false},
		"come again later": {421, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, trust := listen(t, &catcher{refuse: &smtp.SMTPError{Code: tt.code, Message: name}}, "starttls")
			err := sender(t, "smtp://"+address, trust).Send(t.Context(), message)
			if err == nil || errors.Is(err, mail.ErrRefused) != tt.final {
				t.Errorf("%d: %v", tt.code, err)
			}
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		address, trust := listen(t, &catcher{auth: true}, "starttls")
		err := sender(t, "smtp://user:hush@"+address, trust).Send(t.Context(), message)
		if err == nil || errors.Is(err, mail.ErrRefused) || strings.Contains(err.Error(), "hush") {
			t.Error(err)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		address, _ := listen(t, &catcher{}, "none")
		_, port, _ := net.SplitHostPort(address)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := sender(t, "smtp://localhost:"+port, nil).Send(ctx, message)
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	address, trust := listen(t, c, "starttls")
	s := sender(t, "smtp://"+address, trust)
	for name, m := range map[string]mail.Message{
		"a header in the recipient": {To: "ada@example.test\r\nBcc: eve@example.test", Subject: "s", Text: "t"},
		"two recipients":            {To: "ada@example.test, eve@example.test", Subject: "s", Text: "t"},
		"a recipient with a name":   {To: "Ada <ada@example.test>", Subject: "s", Text: "t"},
		"no recipient":              {Subject: "s", Text: "t"},
		"a header in the subject":   {To: "ada@example.test", Subject: "s\r\nBcc: eve@example.test", Text: "t"},
		"a newline in the subject":  {To: "ada@example.test", Subject: "s\nt", Text: "t"},
		"a header in the id":        {ID: "1>\r\nBcc: eve@example.test", To: "ada@example.test", Subject: "s", Text: "t"},
		"no text":                   {To: "ada@example.test", Subject: "s", HTML: "<p>t</p>"},
	} {
		if err := s.Send(t.Context(), m); !errors.Is(err, mail.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(c.all()) != 0 {
		t.Errorf("%d mails were sent", len(c.all()))
	}
}

// The envelope sender has an international domain in punycode.
func TestSMTPSenderIsPunycode(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	address, _ := listen(t, c, "none")
	server, err := mail.ParseSMTPURL("smtp://" + address + "?tls=none")
	if err != nil {
		t.Fatal(err)
	}
	s, err := mail.NewSMTP(mail.SMTPConfig{Server: server, From: "B\u00fccher <no-reply@b\u00fccher.example>"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if got := c.all()[0].from; got != "no-reply@xn--bcher-kva.example" {
		t.Errorf("sent from %s", got)
	}
}

func TestNewSMTPNeedsASender(t *testing.T) {
	t.Parallel()
	if _, err := mail.NewSMTP(mail.SMTPConfig{From: "nobody"}); err == nil {
		t.Error("NewSMTP accepted a sender without an address")
	}
}

func TestParseSMTPURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]mail.SMTPServer{
		"smtp://mail.example.test":                {Host: "mail.example.test", Port: 587},
		"smtp://user:p%40ss@mail.example.test:25": {Host: "mail.example.test", Port: 25, Username: "user", Password: "p@ss"},
		"smtps://mail.example.test/":              {Host: "mail.example.test", Port: 465, Security: mail.TLS},
		"smtps://[2001:db8::1]:4650":              {Host: "2001:db8::1", Port: 4650, Security: mail.TLS},
		"smtp://localhost:1025?tls=none":          {Host: "localhost", Port: 1025, Security: mail.NoTLS},
		"smtp://127.0.0.2?tls=none":               {Host: "127.0.0.2", Port: 587, Security: mail.NoTLS},
		"smtp://[::1]?tls=none":                   {Host: "::1", Port: 587, Security: mail.NoTLS},
	} {
		got, err := mail.ParseSMTPURL(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{
		"", "mail.example.test", "mail.example.test:25", "http://mail.example.test", "smtp:mail", "smtp://", "smtp://:25",
		"smtp://mail/inbox", "smtp://mail#x", "smtp://mail:0", "smtp://mail:" + strconv.Itoa(1<<16), "smtp://mail:smtp",
		"smtp://hush@mail", "smtp://:hush@mail", "smtp://user:hu#sh@mail", "smtp://user:%zzhush@mail",
		"smtp://mail?tls=none", "smtps://localhost?tls=none", "smtp://localhost?tls=off", "smtp://localhost?hush",
	} {
		if _, err := mail.ParseSMTPURL(text); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Greet connects and logs in as Send does, sends nothing, and returns errors.
func TestGreeting(t *testing.T) {
	t.Parallel()
	c := &catcher{}
	for _, security := range []string{"starttls", "tls"} {
		scheme := map[string]string{"starttls": "smtp", "tls": "smtps"}[security]
		address, trust := listen(t, c, security)
		if err := sender(t, scheme+"://user:p%40ss%3Aword@"+address, trust).Greet(t.Context()); err != nil {
			t.Errorf("%s: %v", security, err)
		}
		err := sender(t, scheme+"://user:hush@"+address, trust).Greet(t.Context())
		if err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s with a wrong password: %v", security, err)
		}
		if err := sender(t, scheme+"://"+address, nil).Greet(t.Context()); err == nil {
			t.Errorf("%s with an untrusted certificate: no error", security)
		}
	}
	if err := sender(t, "smtp://127.0.0.1:1?tls=none", nil).Greet(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("no server: %v", err)
	}
	if sent := c.all(); len(sent) != 0 {
		t.Errorf("%d mails were sent", len(sent))
	}
}
