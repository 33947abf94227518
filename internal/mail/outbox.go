package mail

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// jobKind is the kind of the jobs that send a message.
const jobKind = "mail.send"

// Jobs is what the outbox needs of the job queue.
type Jobs interface {
	Handle(kind string, h jobs.Handler)
	Enqueue(ctx context.Context, kind string, payload any, opts ...jobs.Option) error
}

// Outbox queues mail.
type Outbox struct{ jobs Jobs }

// NewOutbox makes an outbox and registers at the queue that its messages are
// handed to sender.
func NewOutbox(queue Jobs, sender Sender) *Outbox {
	queue.Handle(jobKind, func(ctx context.Context, job jobs.Job) error {
		var m Message
		if err := job.Decode(&m); err != nil {
			return err
		}
		err := sender.Send(ctx, m)
		if errors.Is(err, ErrRefused) {
			return jobs.Fatal(err)
		}
		return err
	})
	return &Outbox{jobs: queue}
}

// Enqueue queues a message in the transaction of ctx: it is sent if and when that
// commits. A message that could never be sent is refused here (ErrRefused).
func (o *Outbox) Enqueue(ctx context.Context, m Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.ID == "" {
		m.ID = sqldb.NewID().String()
	}
	return o.jobs.Enqueue(ctx, jobKind, m)
}
