package mail

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// sendTimeout limits the time to connect, and then the time of the whole exchange.
const sendTimeout = 15 * time.Second

// SMTPConfig configures an SMTP.
type SMTPConfig struct {
	Server SMTPServer
	From   string      // an address, optionally with a name
	TLS    *tls.Config // nil trusts the system's certificate authorities
}

// SMTP sends mail through a server, with a new connection for each message. It is safe for
// concurrent use.
type SMTP struct {
	server  SMTPServer
	from    *netmail.Address
	options []gomail.Option
}

// NewSMTP returns a sender without connecting. It fails if From is not an address.
func NewSMTP(c SMTPConfig) (*SMTP, error) {
	from, err := netmail.ParseAddress(c.From)
	if err != nil {
		return nil, fmt.Errorf("mail: sender: %w", err)
	}
	from.Address = envelopeAddress(from.Address)
	s := &SMTP{server: c.Server, from: from}
	s.options = append(s.options,
		gomail.WithPort(c.Server.Port),
		gomail.WithTimeout(sendTimeout),
		// These commands are omitted, because an error after the server has accepted the message would
		// look like a failure to send it.
		gomail.WithoutRset(),
		gomail.WithoutNoop(),
	)
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.TLS != nil {
		tlsConfig = c.TLS.Clone()
	}
	tlsConfig.ServerName = c.Server.Host
	login := gomail.SMTPAuthAutoDiscover
	switch c.Server.Security {
	case STARTTLS:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.TLSMandatory), gomail.WithTLSConfig(tlsConfig))
	case TLS:
		s.options = append(s.options, gomail.WithSSL(), gomail.WithTLSConfig(tlsConfig))
	case NoTLS:
		s.options = append(s.options, gomail.WithTLSPolicy(gomail.NoTLS))
		login = gomail.SMTPAuthPlainNoEnc // only to this machine
	}
	if c.Server.Username != "" {
		s.options = append(s.options, gomail.WithSMTPAuth(login),
			gomail.WithUsername(c.Server.Username), gomail.WithPassword(c.Server.Password))
	}
	return s, nil
}

// Send implements Sender. The end of ctx aborts connecting, but not an exchange in progress,
// because after an interruption it would be unknown whether the server accepted the message.
func (s *SMTP) Send(ctx context.Context, m Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	client, err := gomail.NewClient(s.server.Host, s.options...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("mail: connecting to %s: %w", s.server.address(), err)
	}
	defer client.CloseWithSMTPClient(conn) //nolint:errcheck // the message was accepted or refused before
	if err := client.SendWithSMTPClient(conn, s.compose(m)); err != nil {
		if isFinal(err) {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}

// Greet connects to the server and logs in, as Send does, without sending anything.
func (s *SMTP) Greet(ctx context.Context) error {
	client, err := gomail.NewClient(s.server.Host, s.options...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("mail: connecting to %s: %w", s.server.address(), err)
	}
	if err := client.CloseWithSMTPClient(conn); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}

func (s *SMTP) compose(m Message) *gomail.Msg {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	msg.FromMailAddress(s.from)
	msg.ToMailAddress(&netmail.Address{Address: m.To})
	msg.Subject(m.Subject)
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // suppresses out-of-office replies
	if m.ID != "" {
		_, domain, _ := strings.Cut(s.from.Address, "@")
		msg.SetMessageIDWithValue(m.ID + "@" + domain)
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	for _, a := range m.Attachments {
		// The bytes are in memory, so that reading them cannot fail.
		_ = msg.AttachReader(a.Name, bytes.NewReader(a.Content), gomail.WithFileContentType(gomail.ContentType(a.ContentType)))
	}
	return msg
}

// isFinal reports whether the server rejected the recipient or the message permanently. Other
// errors can be temporary or fixable, such as a rejected sender.
func isFinal(err error) bool {
	sent, ok := errors.AsType[*gomail.SendError](err)
	if !ok || sent.ErrorCode() < 500 {
		return false
	}
	switch sent.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPData, gomail.ErrSMTPDataClose:
		return true
	}
	return false
}
