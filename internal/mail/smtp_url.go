package mail

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// SMTPServer is the server that mail is sent through.
type SMTPServer struct {
	Host     string
	Port     int
	Security Security
	Username string // empty disables authentication
	Password string
}

// Security is the protection of the connection to the server.
type Security uint8

// NoTLS is allowed only for a server on this machine.
const (
	STARTTLS Security = iota // starts in clear text and must switch to TLS
	TLS                      // encrypted from the first byte
	NoTLS                    // never encrypted
)

// Errors of ParseSMTPURL. They do not include the URL, which contains a password.
var (
	errNotSMTP      = errors.New("not of the form smtp://[user:password@]host[:port] or smtps://…")
	errHalfLogin    = errors.New("must have both a user and a password, or neither")
	errUnknownParam = errors.New("the only supported parameter is tls=none")
	errClearText    = errors.New("tls=none is only allowed with smtp:// and a server on this machine")
)

// ParseSMTPURL parses the URL of a server. smtp:// (default port 587) requires STARTTLS. smtps://
// (default port 465) is encrypted from the start. smtp://…?tls=none is only for a server on this
// machine. The user and the password are percent-encoded. Errors do not include the URL.
func ParseSMTPURL(text string) (SMTPServer, error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || (u.Path != "" && u.Path != "/") || u.Fragment != "" {
		return SMTPServer{}, errNotSMTP
	}
	s := SMTPServer{Host: u.Hostname(), Username: u.User.Username()}
	s.Password, _ = u.User.Password()
	switch u.Scheme {
	case "smtp":
		s.Port = 587
	case "smtps":
		s.Port, s.Security = 465, TLS
	default:
		return SMTPServer{}, errNotSMTP
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return SMTPServer{}, errNotSMTP
		}
	}
	if (s.Username == "") != (s.Password == "") {
		return SMTPServer{}, errHalfLogin
	}
	if err := s.applyQuery(u.RawQuery); err != nil {
		return SMTPServer{}, err
	}
	return s, nil
}

func (s *SMTPServer) applyQuery(query string) error {
	switch {
	case query == "":
		return nil
	case query != "tls=none":
		return errUnknownParam
	case s.Security == TLS || !isLoopback(s.Host):
		return errClearText
	}
	s.Security = NoTLS
	return nil
}

func (s SMTPServer) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || (err == nil && addr.Unmap().IsLoopback())
}
