package versions

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Writer follows the one connection of this process that writes. All methods but Left are
// called by whoever uses the connection.
type Writer struct {
	v    *Versions
	conn driver.Conn

	member     uint64 // of the open transaction: who changes something now
	dirty      []*cell
	tables     map[string]*table
	columns    map[*table]int // of their keys; nil until they are looked up
	row        []any
	committing bool  // it has the turn
	before     state // of the index, before what is committed
	rolledBack bool  // since then
	left       uint64
}

// Connected follows a connection of SQLite's driver from now on.
func (w *Writer) Connected(conn driver.Conn) error {
	hooks, ok := conn.(sqlite.HookRegisterer)
	if !ok {
		return errors.New("versions: the driver has no hooks")
	}
	if !w.committing {
		w.v.turn.Lock()
	}
	w.clean()
	v := w.v
	*w = Writer{v: v, conn: conn, member: 1, tables: map[string]*table{}}
	if !v.refused.Load() {
		v.lose(v.index.state())
	}
	v.turn.Unlock()
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
// finds the turn taken, and that nothing holds, until Ended. Nobody else can write now.
func (w *Writer) commits() int32 {
	if !w.committing {
		w.v.turn.Lock()
		w.committing = true
	}
	if !w.v.refused.Load() {
		w.before = w.v.index.state()
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
		present = v.index.state()
		if !w.alone(present, err) {
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

// alone reports whether nobody else has written between the moment that the numbers are known for
// and present, which follows a commit with an error. It may say no where nobody has.
//
// Invariants: the index counts each commit that writes to the log, and the one of this connection
// did so if a row was to be changed: SQLite makes a page writable for that, and writes a frame for
// every commit after it. So a second commit since then is somebody else's.
func (w *Writer) alone(present state, err error) bool {
	known := w.v.settled.Load()
	switch {
	case known == nil || *known != w.before:
		return false
	case err != nil || len(w.dirty) == 0:
		return present == w.before
	default:
		return present.commits == w.before.commits+1
	}
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
