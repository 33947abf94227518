package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsUnavailable reports whether err means that the database is unreachable, starting, stopping,
// failing over or out of connections. Retrying the statement can succeed. A commit with such an
// error may or may not have happened.
func IsUnavailable(err error) bool {
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return isOutage(refusal)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return false // from an HTTP call
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	for _, lost := range []error{errUnavailable, driver.ErrBadConn, sql.ErrConnDone, net.ErrClosed, io.ErrUnexpectedEOF} {
		if errors.Is(err, lost) {
			return true
		}
	}
	_, ok := errors.AsType[*net.OpError](err)
	return ok || pgconn.SafeToRetry(err)
}

// lostWorker matches the errors of Citus for a lost connection to a worker.
var lostWorker = regexp.MustCompile(`server closed the connection unexpectedly|connection marked as essential|could not commit transaction for shard`)

// isOutage reports whether PostgreSQL rejected a statement because the server is unavailable or
// read-only. Appendix A of its manual lists the codes.
func isOutage(refusal *pgconn.PgError) bool {
	switch refusal.Code {
	case "57P01", "57P02", "57P03", // shutting down, crashed, starting
		"53300", // too many connections
		"25006", // read-only: a standby
		"40001": // serialization failure: a transaction was canceled in favor of another one
		return true
	case "XX000": // Citus reports a lost worker as an internal error
		return lostWorker.MatchString(refusal.Message)
	default:
		return strings.HasPrefix(refusal.Code, "08") // connection exceptions
	}
}

// IsFull reports whether err means that the disk is full.
func IsFull(err error) bool {
	return hasCode(err, "53100", sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
}

// spaceProbe is how many bytes must fit on the disk before a full disk counts as having room again.
const spaceProbe = 1 << 20

// IsDiskFull reports whether a write to the SQLite file failed because the disk was full and there
// is still no room.
func (db *DB) IsDiskFull() bool {
	if !db.full.Load() {
		return false
	}
	if hasSpace(filepath.Dir(db.path)) {
		db.full.Store(false)
		db.log.Info("database disk has free space again")
		return false
	}
	return true
}

// noteFull records a write that failed because the disk is full.
func (db *DB) noteFull(err error) {
	if err != nil && IsFull(err) && !db.full.Swap(true) {
		db.log.Error("database disk full: writes fail", "error", err)
	}
}

// hasSpace reports whether a file of spaceProbe bytes fits into the folder.
func hasSpace(folder string) bool {
	f, err := os.CreateTemp(folder, ".room-*")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, spaceProbe))
	return errors.Join(err, f.Sync(), f.Close()) == nil
}
