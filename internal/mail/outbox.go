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

// JobSend is the kind of the jobs that send a message (see Outbox.HandleSend).
const JobSend = "mail.send"

// Jobs is what the outbox needs from the job queue.
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

// NewOutbox returns an outbox whose messages sender sends.
func NewOutbox(queue Jobs, sender Sender) *Outbox { return &Outbox{jobs: queue, sender: sender} }

// Enqueue queues a message in the transaction of ctx; it is sent once that commits. A
// message that can never be sent is ErrRefused.
func (o *Outbox) Enqueue(ctx context.Context, m Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.ID == "" {
		m.ID = sqldb.NewID().String()
	}
	return o.jobs.Enqueue(ctx, JobSend, m)
}

// LastSent reports whether the mail server took the last message of this process; nil before the
// first message.
func (o *Outbox) LastSent() *bool { return o.lastSent.Load() }

// HandleSend is the handler of JobSend: it sends a message, to a domain in punycode. A
// message that is refused (ErrRefused) is not tried again.
func (o *Outbox) HandleSend(ctx context.Context, job jobs.Job) error {
	var m Message
	if err := job.Decode(&m); err != nil {
		return err
	}
	m.To = envelopeAddress(m.To)
	err := o.sender.Send(ctx, m)
	sent := err == nil || errors.Is(err, ErrRefused) // a server that refuses a message works
	o.lastSent.Store(&sent)
	if errors.Is(err, ErrRefused) {
		return jobs.MarkFatal(err)
	}
	return err
}

// tokens are what links in mails authenticate with: long words of letters, digits, dashes
// and underscores. Ids, which have 36 characters, are shorter.
var tokens = regexp.MustCompile(`[A-Za-z0-9_-]{40,}`)

// RedactTokens is the Redaction of JobSend: whoever reads the payload later cannot follow
// its links.
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
