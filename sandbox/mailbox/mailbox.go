// Package mailbox is the sandbox's mail server. It stores the service's mail for people and tests
// (rules: sandbox#mailbox).
package mailbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/sandbox/clock"
)

// MaxMessages is the maximum number of stored messages. Older messages are deleted.
const MaxMessages = 1000

const schema = `
CREATE TABLE IF NOT EXISTS mailbox_messages (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT,
	id        TEXT NOT NULL UNIQUE,
	recipient TEXT NOT NULL,
	subject   TEXT NOT NULL,
	text      TEXT NOT NULL,
	html      TEXT NOT NULL,
	sent_at   INTEGER NOT NULL -- microseconds since 1970
)`

// Mailbox stores messages in the sandbox's database. It is safe for concurrent use.
type Mailbox struct {
	db    *sql.DB
	clock clock.Clock
}

// New opens the mailbox in db and creates its table if it is missing. c determines the time of the
// messages.
func New(ctx context.Context, db *sql.DB, c clock.Clock) (*Mailbox, error) {
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("mailbox: create table: %w", err)
	}
	return &Mailbox{db: db, clock: c}, nil
}

// Message is a mail. HTML is empty for a plain-text mail.
type Message struct {
	ID      string
	To      string
	Subject string
	Text    string
	HTML    string
	SentAt  time.Time
}

// Deliver stores a message with the current time. It ignores a message whose ID exists already, and
// generates an ID if it is empty.
func (b *Mailbox) Deliver(ctx context.Context, m Message) error {
	if m.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("mailbox: %w", err)
		}
		m.ID = id.String()
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO mailbox_messages (id, recipient, subject, text, html, sent_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		m.ID, m.To, m.Subject, m.Text, m.HTML, b.clock.Now().UnixMicro()); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	if _, err := tx.ExecContext(ctx, `
		DELETE FROM mailbox_messages WHERE seq <= (SELECT seq FROM mailbox_messages ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
		MaxMessages); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	return nil
}

// Messages returns up to limit messages, newest first.
func (b *Mailbox) Messages(ctx context.Context, limit int) ([]Message, error) {
	rows, err := b.db.QueryContext(ctx, `
		SELECT id, recipient, subject, text, html, sent_at FROM mailbox_messages ORDER BY seq DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	defer rows.Close()
	var messages []Message
	for rows.Next() {
		var (
			m      Message
			sentAt int64
		)
		if err := rows.Scan(&m.ID, &m.To, &m.Subject, &m.Text, &m.HTML, &sentAt); err != nil {
			return nil, fmt.Errorf("mailbox: %w", err)
		}
		m.SentAt = time.UnixMicro(sentAt).UTC()
		messages = append(messages, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	return messages, nil
}

// message returns the message with the id, or sql.ErrNoRows.
func (b *Mailbox) message(ctx context.Context, id string) (Message, error) {
	m := Message{ID: id}
	var sentAt int64
	err := b.db.QueryRowContext(ctx, `SELECT recipient, subject, text, html, sent_at FROM mailbox_messages WHERE id = ?`, id).
		Scan(&m.To, &m.Subject, &m.Text, &m.HTML, &sentAt)
	if err != nil {
		return Message{}, fmt.Errorf("mailbox: %w", err)
	}
	m.SentAt = time.UnixMicro(sentAt).UTC()
	return m, nil
}

// Count returns the number of messages.
func (b *Mailbox) Count(ctx context.Context) (n int, err error) {
	if err := b.db.QueryRowContext(ctx, `SELECT count(*) FROM mailbox_messages`).Scan(&n); err != nil {
		return 0, fmt.Errorf("mailbox: %w", err)
	}
	return n, nil
}
