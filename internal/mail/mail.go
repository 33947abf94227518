// Package mail sends the service's mail. A message is queued in the transaction of the change that
// it is about, and passed to a Sender in the background (rules: mail#outbox).
package mail

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"
	"strings"
)

// Message is a mail. To is a single address without a name. Text is required. HTML has the same
// content and can be empty. ID is the same for all attempts to send the message, and is set by the
// Outbox.
type Message struct {
	ID      string `json:"id,omitempty"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"`

	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file in a message.
type Attachment struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Content     []byte `json:"content"`
}

// Sender sends messages.
type Sender interface {
	// Send sends a message. An error that matches ErrRefused is permanent. After any other error,
	// the message can be sent again, and can then arrive twice.
	Send(ctx context.Context, m Message) error
}

// ErrRefused means that a message can never be delivered: it is malformed, or the server rejected
// it permanently.
var ErrRefused = errors.New("mail: rejected")

const idRunes = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Validate returns an error that matches ErrRefused if the message cannot be sent. In particular,
// it prevents header injection. All Senders and the Outbox call it first.
func (m Message) Validate() error {
	address, err := netmail.ParseAddress(m.To)
	switch {
	case err != nil || address.Name != "" || address.Address != m.To:
		return fmt.Errorf("%w: the recipient must be one bare address", ErrRefused)
	case strings.ContainsAny(m.Subject, "\r\n\x00"):
		return fmt.Errorf("%w: the subject has a line break", ErrRefused)
	case strings.ContainsFunc(m.ID, func(r rune) bool { return !strings.ContainsRune(idRunes, r) }):
		return fmt.Errorf("%w: the ID must only contain letters, digits and hyphens", ErrRefused)
	case slices.ContainsFunc(m.Attachments, func(a Attachment) bool { return strings.ContainsAny(a.Name+a.ContentType, "\r\n\x00\"") }):
		return fmt.Errorf("%w: the name of an attachment has a line break or a quote", ErrRefused)
	case m.Text == "":
		return fmt.Errorf("%w: the text is empty", ErrRefused)
	}
	return nil
}
