//go:build linux

package main

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/mail"
	"strings"
	"sync"

	"github.com/emersion/go-smtp"
)

// mailServer is an SMTP server that stores its mail. It can be stopped and restarted.
type mailServer struct {
	address string

	mu     sync.Mutex
	server *smtp.Server // nil while it is stopped
	// got counts the received messages by recipient and subject, and then by message id.
	got map[letter]map[string]int
}

// letter identifies a mail by its recipient and subject.
type letter struct{ to, subject string }

// startMail starts a mail server on an unused address.
func startMail(ctx context.Context) (*mailServer, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	m := &mailServer{address: address.String(), got: map[letter]map[string]int{}}
	err = m.back(ctx)
	return m, err
}

// back starts the server. After leave, it uses the same address.
func (m *mailServer) back(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", m.address)
	if err != nil {
		return err
	}
	server := smtp.NewServer(m)
	server.Domain, server.ErrorLog = "chaos.test", silent
	m.mu.Lock()
	m.server = server
	m.mu.Unlock()
	go func() { _ = server.Serve(listener) }()
	return nil
}

// leave stops the server and closes all its connections.
func (m *mailServer) leave() error {
	m.mu.Lock()
	server := m.server
	m.server = nil
	m.mu.Unlock()
	if server == nil {
		return nil
	}
	return server.Close()
}

// mails returns the number of distinct message ids per recipient and subject.
func (m *mailServer) mails(context.Context) (map[letter]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[letter]int{}
	for l, ids := range m.got {
		found[l] = len(ids)
	}
	return found, nil
}

// countRepeated returns the number of repeated messages with the same id. The sender may repeat a
// message if it does not know whether the message arrived (rules: mail#outbox).
func (m *mailServer) countRepeated() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for ids := range maps.Values(m.got) {
		for times := range maps.Values(ids) {
			n += times - 1
		}
	}
	return n
}

// NewSession implements smtp.Backend.
func (m *mailServer) NewSession(*smtp.Conn) (smtp.Session, error) {
	return &mailSession{server: m}, nil
}

type mailSession struct {
	server *mailServer
	to     string
}

// Mail implements smtp.Session.
func (s *mailSession) Mail(string, *smtp.MailOptions) error { return nil }

// Rcpt implements smtp.Session.
func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = strings.ToLower(to)
	return nil
}

// Data implements smtp.Session.
func (s *mailSession) Data(r io.Reader) error {
	message, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, message.Body); err != nil {
		return err
	}
	l := letter{s.to, message.Header.Get("Subject")}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.got[l] == nil {
		s.server.got[l] = map[string]int{}
	}
	s.server.got[l][message.Header.Get("Message-Id")]++
	return nil
}

// Reset implements smtp.Session.
func (s *mailSession) Reset() {}

// Logout implements smtp.Session.
func (s *mailSession) Logout() error { return nil }

// silent is a logger that discards expected messages.
var silent = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
