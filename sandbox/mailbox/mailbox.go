// Package mailbox is the sandbox's mail server. It stores the service's mail for people and tests
// (rules: sandbox#mailbox).
package mailbox

import (
	"context"
	"database/sql"
	"encoding/json"
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
	sent_at   INTEGER NOT NULL, -- microseconds since 1970
	attachments TEXT NOT NULL DEFAULT '[]'
)`

// addAttachments adds the column to a table of an earlier version.
const addAttachments = `ALTER TABLE mailbox_messages ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]'`

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
	var has bool
	row := db.QueryRowContext(ctx, `SELECT count(*) > 0 FROM pragma_table_info('mailbox_messages') WHERE name = 'attachments'`)
	if err := row.Scan(&has); err != nil {
		return nil, fmt.Errorf("mailbox: read table: %w", err)
	}
	if !has {
		if _, err := db.ExecContext(ctx, addAttachments); err != nil {
			return nil, fmt.Errorf("mailbox: %w", err)
		}
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

	Attachments []Attachment
}

// Attachment describes a file in a message. The mailbox does not store its content.
type Attachment struct {
	Name        string `json:"name"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"` // in bytes
}

// notNil returns the attachments as a list that is never null in JSON.
func notNil(all []Attachment) []Attachment { return append([]Attachment{}, all...) }

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
	attachments, err := json.Marshal(notNil(m.Attachments))
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("mailbox: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO mailbox_messages (id, recipient, subject, text, html, sent_at, attachments) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		m.ID, m.To, m.Subject, m.Text, m.HTML, b.clock.Now().UnixMicro(), string(attachments)); err != nil {
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
		SELECT id, recipient, subject, text, html, sent_at, attachments FROM mailbox_messages ORDER BY seq DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	defer rows.Close()
	var messages []Message
	for rows.Next() {
		var (
			m      Message
			sentAt int64
			files  []byte
		)
		if err := rows.Scan(&m.ID, &m.To, &m.Subject, &m.Text, &m.HTML, &sentAt, &files); err != nil {
			return nil, fmt.Errorf("mailbox: %w", err)
		}
		if err := json.Unmarshal(files, &m.Attachments); err != nil {
			return nil, fmt.Errorf("mailbox: %w", err)
		}
		if len(m.Attachments) == 0 {
			m.Attachments = nil
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
