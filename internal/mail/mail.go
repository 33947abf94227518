// Package mail sends the service's mail: a message is queued in the transaction
// of the change that it tells about and handed to a Sender in the background.
package mail

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
)

// Message is one mail. To is one bare address. Text is required; HTML is its
// alternative form and may be empty. ID is the same on every attempt to send it;
// the Outbox sets it.
type Message struct {
	ID      string `json:"id,omitempty"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"`
}

// Sender hands a message on. An error that matches ErrRefused is final; after any
// other the message may be sent again, and then may arrive twice.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// ErrRefused is of a message that no attempt can deliver: it is malformed, or
// the server refused it for good.
var ErrRefused = errors.New("mail: refused")

const idRunes = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Validate tells whether the message can be sent at all; above all it must not
// write headers of its own into a mail. Its error matches ErrRefused. Every Sender
// and the Outbox ask it first.
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
