package listen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// signature is the result of a signature check.
type signature string

const (
	valid     signature = "valid"
	invalid   signature = "invalid"
	unchecked signature = "not checked"
)

// Message is the printed form of a message.
type Message struct {
	ReceivedAt string          `json:"received_at"`
	ID         string          `json:"id"`
	Type       string          `json:"type"`
	TenantID   *string         `json:"tenant_id"` // null for events without a tenant
	Signature  signature       `json:"signature"`
	Reason     string          `json:"reason,omitempty"` // why the signature is invalid
	Seen       int             `json:"seen"`             // how often this ID was received, including this time
	Answer     int             `json:"answer"`           // the response status
	Error      string          `json:"error,omitempty"`  // why the program did not respond
	Body       json.RawMessage `json:"body"`             // a string if the body is not JSON
}

// read parses a message and counts its ID.
func (l *Listener) read(header http.Header, body []byte) Message {
	m := Message{
		ReceivedAt: l.config.Clock.Now().UTC().Format("2006-01-02T15:04:05Z"), ID: header.Get(standardwebhooks.HeaderWebhookID), Body: body,
	}
	var event struct {
		Type     string  `json:"type"`
		TenantID *string `json:"tenant_id"`
	}
	if json.Unmarshal(body, &event) == nil {
		m.Type, m.TenantID = event.Type, event.TenantID
	}
	if !json.Valid(body) {
		m.Body, _ = json.Marshal(string(body)) // encoding a string never fails
	}
	m.Signature, m.Reason = l.verify(header, body)
	m.Seen = l.count(m)
	return m
}

// count returns how often the ID of the message was received. Messages with an invalid signature
// are not counted, because the service did not send them.
func (l *Listener) count(m Message) int {
	if m.Signature == invalid || m.ID == "" {
		return 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[m.ID]++
	return l.known[m.ID]
}

// print writes a message: a JSON object on one line, or a summary line followed by the body.
func (l *Listener) print(m Message, body []byte) {
	var text bytes.Buffer
	if l.config.JSON {
		_ = json.NewEncoder(&text).Encode(m) // every field can be encoded
	} else {
		text.WriteString(m.line())
		if json.Indent(&text, body, "  ", "  ") != nil {
			text.WriteString(makePrintable(string(body)))
		}
		text.WriteString("\n\n")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.config.Out.Write(text.Bytes())
}

// line returns the summary line of a message.
func (m Message) line() string {
	tenant := "no tenant"
	if m.TenantID != nil {
		tenant = "tenant " + makePrintable(*m.TenantID)
	}
	parts := []string{m.ReceivedAt, makePrintable(m.Type), "id " + makePrintable(m.ID), tenant, "signature " + string(m.Signature)}
	if m.Reason != "" {
		parts[len(parts)-1] += " (" + m.Reason + ")"
	}
	if m.Seen > 1 {
		parts = append(parts, fmt.Sprintf("a repetition, seen %d times", m.Seen))
	}
	answer := "answered " + strconv.Itoa(m.Answer)
	if m.Error != "" {
		answer += " (" + makePrintable(m.Error) + ")"
	}
	return strings.Join(append(parts, answer), "  ") + "\n  "
}

// makePrintable makes text safe for a terminal, since anyone can send a message.
func makePrintable(text string) string {
	if text == "" {
		return "-"
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return strconv.Quote(text)
		}
	}
	return text
}
