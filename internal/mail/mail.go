// Package mail sends the service's mail. A message is queued in the transaction of the
// change that it is about, and handed to a Sender in the background (rules:
// mail#outbox).
package mail

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
)

// Message is one mail. To is one address without a name. Text is required; HTML has the
// same content and may be empty. ID is the same at every attempt to send the message;
// the Outbox sets it.
type Message struct {
	ID      string `json:"id,omitempty"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"`
}

// Sender sends messages.
type Sender interface {
	// Send sends a message. An error that matches ErrRefused is final. After any
	// other error the message may be sent again, and then may arrive twice.
	Send(ctx context.Context, m Message) error
}

// ErrRefused says that a message can never be delivered: it is malformed, or the server
// refused it permanently.
var ErrRefused = errors.New("mail: refused")

const idRunes = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Validate returns an error that matches ErrRefused if the message cannot be sent. Above
// all it keeps a message from adding headers to a mail. Every Sender and the Outbox call
// it first.
func (m Message) Validate() error {
	address, err := netmail.ParseAddress(m.To)
	switch {
	case err != nil || address.Name != "" || address.Address != m.To:
		return fmt.Errorf("%w: the recipient is not one bare address", ErrRefused)
	case strings.ContainsAny(m.Subject, "\r\n\x00"):
		return fmt.Errorf("%w: the subject has a line break", ErrRefused)
	case strings.ContainsFunc(m.ID, func(r rune) bool { return !strings.ContainsRune(idRunes, r) }):
		return fmt.Errorf("%w: the id has more than letters, digits and hyphens", ErrRefused)
	case m.Text == "":
		return fmt.Errorf("%w: no text", ErrRefused)
	}
	return nil
}
