package mail

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync/atomic"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// JobSend is the kind of job that sends a message (see Outbox.HandleSend).
const JobSend = "mail.send"

// Jobs is the part of the job queue that the outbox uses.
type Jobs interface {
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// Outbox queues mail.
type Outbox struct {
	jobs   Jobs
	sender Sender
	// lastSent is true if the mail server accepted the last message, false if it did not, and nil
	// before the first message of this process.
	lastSent atomic.Pointer[bool]
}

// NewOutbox returns an outbox that sends messages with sender.
func NewOutbox(queue Jobs, sender Sender) *Outbox { return &Outbox{jobs: queue, sender: sender} }

// Enqueue queues a message in the transaction of ctx. It is sent after the commit. Enqueue returns
// ErrRefused if the message can never be sent.
func (o *Outbox) Enqueue(ctx context.Context, m Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.ID == "" {
		m.ID = sqldb.NewID().String()
	}
	return o.jobs.Enqueue(ctx, JobSend, m)
}

// LastSent reports whether the mail server accepted the last message of this process. It is nil
// before the first message.
func (o *Outbox) LastSent() *bool { return o.lastSent.Load() }

// HandleSend handles JobSend: it sends a message, with an international domain in punycode. It does
// not retry a message that was rejected permanently (ErrRefused).
func (o *Outbox) HandleSend(ctx context.Context, job jobs.Job) error {
	var m Message
	if err := job.Decode(&m); err != nil {
		return err
	}
	m.To = envelopeAddress(m.To)
	err := o.sender.Send(ctx, m)
	sent := err == nil || errors.Is(err, ErrRefused) // the server works even if it rejects the message
	o.lastSent.Store(&sent)
	if errors.Is(err, ErrRefused) {
		return jobs.MarkFatal(err)
	}
	return err
}

// tokens matches the tokens in mail links: long words of letters, digits, dashes and underscores.
// IDs have only 36 characters and do not match. It also matches the codes of logins: eight digits.
var tokens = regexp.MustCompile(`[A-Za-z0-9_-]{40,}|\b[0-9]{8}\b`)

// RedactTokens is the Redaction of JobSend. It removes tokens from links, and codes, so that they
// cannot be used by readers of the payload.
func RedactTokens(payload []byte) (without []byte, found bool) {
	var m Message
	if json.Unmarshal(payload, &m) != nil {
		return []byte("{}"), true
	}
	for _, text := range []*string{&m.Subject, &m.Text, &m.HTML} {
		if tokens.MatchString(*text) {
			*text, found = tokens.ReplaceAllString(*text, "[removed]"), true
		}
	}
	without, err := json.Marshal(m)
	if err != nil {
		return []byte("{}"), true
	}
	return without, found
}
