package versions

import (
	"context"
	"errors"
)

// New returns the versions of a database that is not open yet, and who follows its
// writing connection. Nothing holds until Open.
func New() (*Versions, *Writer) {
	v := &Versions{tables: map[string]*table{}}
	v.refused.Store(true)
	return v, &Writer{v: v, member: 1}
}

// Open lets what is read from now on hold. The file at path has been opened in WAL mode by
// the writing connection; dsn opens it for reading. Where the index of the log cannot be
// looked at, which the error says, nothing ever holds, and all else works.
func (v *Versions) Open(ctx context.Context, path, dsn string) error {
	s, err := openScout(ctx, v, dsn)
	if err != nil {
		return err
	}
	x, err := openIndex(path)
	if err != nil {
		return errors.Join(err, s.close())
	}
	v.turn.Lock()
	defer v.turn.Unlock()
	v.scout, v.index = s, x
	v.lose(x.state())
	v.refused.Store(false)
	return nil
}

// Unfollow ends what keeps the log in its place. It is called before the other
// connections are closed, and Close after them.
func (v *Versions) Unfollow() error {
	if v.refused.Swap(true) {
		return nil
	}
	return v.scout.close()
}

// Close is called after all connections are closed. To call it again does nothing: the number
// of the descriptor that it closes may be somebody else's by then.
func (v *Versions) Close() {
	v.closing.Do(func() {
		if v.index != nil {
			v.index.close()
		}
	})
}
