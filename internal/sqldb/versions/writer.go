package versions

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Writer follows the one connection of this process that writes. All methods but Left are
// called by whoever uses the connection.
type Writer struct {
	v       *Versions
	conn    driver.Conn
	version driver.Stmt // asks whether others have written
	others  int64       // its last answer

	member     uint64 // of the open transaction: who changes something now
	dirty      []*cell
	tables     map[string]*table
	columns    map[*table]int // of their keys; nil until they are looked up
	row        []any
	committing bool // it has the turn
	rolledBack bool // since then
	left       uint64
}

// Connected follows a connection of SQLite's driver from now on.
func (w *Writer) Connected(conn driver.Conn) error {
	hooks, ok := conn.(sqlite.HookRegisterer)
	if !ok {
		return errors.New("versions: the driver has no hooks")
	}
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(context.Background(), "PRAGMA data_version")
	if err != nil {
		return err
	}
	if !w.committing {
		w.v.turn.Lock()
	}
	w.clean()
	v := w.v
	*w = Writer{v: v, conn: conn, version: stmt, member: 1, tables: map[string]*table{}}
	if !v.refused.Load() {
		v.lose(v.index.state())
	}
	v.turn.Unlock()
	if w.others, err = w.dataVersion(); err != nil {
		return errors.Join(err, stmt.Close())
	}
	hooks.RegisterPreUpdateHook(w.changes)
	hooks.RegisterCommitHook(w.commits)
	hooks.RegisterRollbackHook(w.rollsBack)
	return nil
}

// Begins is told that a statement is going to run. One that is not plain may change what
// the hooks do not tell: the schema.
func (w *Writer) Begins(plain bool) {
	if !plain {
		w.touch(&w.v.all)
		w.columns = nil
		return
	}
	if w.columns == nil {
		w.columns = map[*table]int{}
		for name, column := range keys {
			if i, ok := w.columnOf(name, column); ok {
				w.columns[w.v.table(name)] = i
			}
		}
	}
}

// Enter says which member of the open transaction, from 1 on, changes something from now
// on. Later ones have larger numbers.
func (w *Writer) Enter(member uint64) { w.member = member }

// Left returns what to add to the number of a member of the transaction that was
// committed last, for Notes.Committed.
func (w *Writer) Left() uint64 { return w.left }

// Closes is told that the connection is going to be closed.
func (w *Writer) Closes() error { return w.version.Close() }

func (w *Writer) touch(c *cell) {
	if c.by == 0 {
		w.dirty = append(w.dirty, c)
	}
	c.by = w.member
}

// changes is told of a row before it changes.
func (w *Writer) changes(d sqlite.SQLitePreUpdateData) {
	t := w.tables[d.TableName]
	if t == nil {
		t = w.v.table(d.TableName)
		w.tables[d.TableName] = t
	}
	w.touch(&t.cell)
	if t.byKey == nil {
		return
	}
	column, ok := w.columns[t]
	if !ok {
		w.touch(&w.v.all)
		return
	}
	for len(w.row) <= column {
		w.row = append(w.row, nil)
	}
	if d.Op != sqlite3.SQLITE_INSERT {
		w.touchKey(t, d.Old(w.row[:column+1]...), w.row[column])
	}
	if d.Op != sqlite3.SQLITE_DELETE {
		w.touchKey(t, d.New(w.row[:column+1]...), w.row[column])
	}
}

func (w *Writer) touchKey(t *table, err error, value any) {
	text, ok := value.(string)
	if err != nil || !ok {
		w.touch(&w.v.all)
		return
	}
	for _, c := range t.of(text) {
		w.touch(c)
	}
}

// commits is told that a transaction is going to commit. Whoever sees the log change
// finds the turn taken, and that nothing holds, until Ended.
func (w *Writer) commits() int32 {
	if !w.committing {
		w.v.turn.Lock()
		w.committing = true
	}
	return 0
}

func (w *Writer) rollsBack() {
	if w.committing {
		w.rolledBack = true
		return
	}
	w.clean()
}

func (w *Writer) clean() {
	for _, c := range w.dirty {
		c.by = 0
	}
	w.dirty, w.member = w.dirty[:0], 1
}

// Ended is told that a statement has ended, with its error. If it was a commit what that
// has changed is settled, whether it succeeded or not.
func (w *Writer) Ended(err error) {
	if !w.committing {
		return
	}
	v := w.v
	w.left = v.now.Load()
	next := w.left + w.member
	var present state
	if !v.refused.Load() {
		present = v.index.state() // before asking about others, who may write from now on
		if others, err := w.dataVersion(); err != nil || others != w.others {
			w.others = others
			next++ // later than what any member has left
			w.touch(&v.all)
		}
	}
	for _, c := range w.dirty {
		c.changed.Store(w.left + c.by)
	}
	if v.all.by != 0 {
		v.all.changed.Store(next)
		v.scout.forget()
	}
	v.now.Store(next)
	v.settled.Store(&present) // at last: from now on what was read before may hold
	if err == nil || w.rolledBack {
		w.clean()
	}
	w.committing, w.rolledBack = false, false
	v.turn.Unlock()
}

// dataVersion asks SQLite for a number that changes when another connection has written.
func (w *Writer) dataVersion() (int64, error) {
	row, err := firstRow(w.version)
	if err != nil {
		return 0, err
	}
	n, ok := row.(int64)
	if !ok {
		return 0, fmt.Errorf("versions: the data version is %v", row)
	}
	return n, nil
}

// columnOf returns which column of a table has a name.
func (w *Writer) columnOf(table, column string) (int, bool) {
	stmt, err := w.conn.(driver.ConnPrepareContext).PrepareContext(context.Background(),
		"SELECT cid FROM pragma_table_info('"+table+"') WHERE name = '"+column+"'")
	if err != nil {
		return 0, false
	}
	defer func() { _ = stmt.Close() }()
	cid, err := firstRow(stmt)
	n, ok := cid.(int64)
	return int(n), ok && err == nil
}

// firstRow returns the only column of the first row.
func firstRow(stmt driver.Stmt) (value driver.Value, err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, 1)
	err = rows.Next(row)
	return row[0], err
}
