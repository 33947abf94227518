package sqldb

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb/versions"
)

// Notes are of what is read with the context that Note returns. A value that follows from
// that, and from nothing else that can change, may be kept, and used again for as long as
// the Stamp holds. Rules that depend on the time are judged at each use.
type Notes struct {
	db    *DB
	notes *versions.Notes // nil on PostgreSQL
	of    *transaction    // nil outside of one
}

// Stamp tells whether something would be read from the database again as it was.
type Stamp = versions.Stamp

// Key is the rows of a table with a value in a certain column (see Notes.Stamp).
type Key = versions.Key

type notesKey struct{}

// Keeps reports whether anything that was read can hold: on SQLite alone, where this
// process sees every change. Notes work on both.
func (db *DB) Keeps() bool { return db.versions != nil }

// Note begins to note what is read with the context that it returns. In a transaction
// the stamp holds nothing before the commit, and then, for functions of AfterCommit, what
// the transaction has left.
func (db *DB) Note(ctx context.Context) (context.Context, *Notes) {
	n := &Notes{db: db}
	if db.versions == nil {
		return ctx, n
	}
	if n.of = db.current(ctx); n.of == nil {
		n.notes = db.versions.Note()
		return context.WithValue(ctx, notesKey{}, n), n
	}
	n.notes = db.versions.NoteWithin()
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.of.notes = append(n.of.notes, n.notes)
	return context.WithValue(ctx, notesKey{}, n), n
}

// notesOf returns the notes that ctx carries for this database, or nil.
func (db *DB) notesOf(ctx context.Context) *Notes {
	if n, ok := ctx.Value(notesKey{}).(*Notes); ok && n.db == db {
		return n
	}
	return nil
}

// Uses notes, where ctx carries notes, that a value with a stamp is used.
func (db *DB) Uses(ctx context.Context, s Stamp) {
	if n := db.notesOf(ctx); n != nil {
		n.notes.Include(s)
	}
}

// Stamp returns the stamp of all that was read so far; one that never holds where the
// database does not keep. With keys, a value depends on no other rows of those tables:
// the caller promises that. The columns are listed in package versions; a key of another
// table is left out.
func (n *Notes) Stamp(keys ...Key) Stamp {
	if n.notes == nil {
		return Stamp{}
	}
	return n.notes.Stamp(keys...)
}

// Renew returns a stamp of what s is of, as the transaction in which notes were begun has left
// it. s must have held within the transaction (see Stamp.HoldsWithin), and what the transaction
// has changed of it the caller must know.
func (n *Notes) Renew(s Stamp) Stamp {
	if n.notes == nil {
		return Stamp{}
	}
	return n.notes.Renew(s)
}
