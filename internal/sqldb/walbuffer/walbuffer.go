// Package walbuffer gathers what a commit adds to SQLite's write-ahead log and writes it in
// one piece. SQLite writes each page in two: the header of its frame, and the page. With some
// tens of pages to a commit these system calls take longer than the rest of the writing.
//
// Invariant: nobody can tell the difference, except that an error of a write, such as a full
// disk, is the error of the sync that follows it. Frames are gathered only within a COMMIT,
// while the connection has the lock of writers, and are written before anything else is done
// with the file, at the latest by the sync of that commit. Others read a frame only when
// the index of the log names it, and SQLite puts it there after that sync: so a connection
// whose commits are not synced must not use this. What a transaction writes before its COMMIT,
// since its changes do not fit into the cache, is not gathered: were it undone, it could be
// written later, over what another process has written since.
package walbuffer

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/google/uuid"
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// most is how much is gathered, in bytes: a larger commit is written in several pieces. It is
// the most that SQLite's own files write at once on Unix.
const most = 1<<17 - 1

// Log is the log of a database, as its one writing connection uses it. Its methods are called
// by whoever uses the connection.
type Log struct {
	name      string
	cName     uintptr // the name; like all that SQLite gets it is not in Go's memory
	files     uintptr // a sqlite3.Tsqlite3_vfs
	buffer    uintptr // has room for most, while the file is open
	gathering bool
	gathered  int   // bytes in buffer
	at        int64 // where they belong
	end       int64 // of what was written since the log has begun anew
}

// The functions of a file that are called or replaced.
type (
	opener    = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	writer    = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	truncater = func(tls *libc.TLS, file uintptr, size int64) int32
	syncer    = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizer     = func(tls *libc.TLS, file, size uintptr) int32
	closer    = func(tls *libc.TLS, file uintptr) int32
)

// known are the logs by the addresses of their files' functions, and those whose files are
// open by the addresses of these.
var known = struct {
	sync.RWMutex
	logs, open map[uintptr]*Log
}{logs: map[uintptr]*Log{}, open: map[uintptr]*Log{}}

// SQLite's own functions of a log's file, which do the work, and those that are made from
// them. They are the same for all logs, and set when the first file is opened.
var (
	theirs *sqlite3.Tsqlite3_io_methods
	system uintptr // where theirs are
	ours   uintptr
)

// New makes SQLite know the log of a database that is not open yet. SQLite knows it from then on,
// which takes some hundred bytes: a connection may be closed long after its pool.
func New() (*Log, error) {
	tls := libc.NewTLS()
	defer tls.Close()
	found := sqlite3.Xsqlite3_vfs_find(tls, 0)
	if found == 0 {
		return nil, errors.New("walbuffer: SQLite has no files of its own")
	}
	l := &Log{name: "walbuffer-" + uuid.NewString()}
	var err error
	if l.cName, err = libc.CString(l.name); err != nil {
		return nil, err
	}
	if l.files = allocate[sqlite3.Tsqlite3_vfs](tls); l.files == 0 {
		return nil, errors.New("walbuffer: out of memory")
	}
	files := at[sqlite3.Tsqlite3_vfs](l.files)
	*files = *at[sqlite3.Tsqlite3_vfs](found)
	files.FpNext, files.FzName, files.FpAppData = 0, l.cName, found
	replace[opener](&files.FxOpen, opens)
	known.Lock()
	known.logs[l.files] = l
	known.Unlock()
	if sqlite3.Xsqlite3_vfs_register(tls, l.files, 0) != sqlite3.SQLITE_OK {
		return nil, errors.New("walbuffer: SQLite refused the files")
	}
	return l, nil
}

// VFS is SQLite's parameter vfs for the connection.
func (l *Log) VFS() string { return l.name }

// Gather gathers what is written from now on. It is called before a COMMIT.
func (l *Log) Gather() { l.gathering = true }

// Done is called after the COMMIT, whether it has succeeded or not. What is still gathered is
// of one that has failed, and is dropped.
func (l *Log) Done() { l.gathering, l.gathered = false, 0 }

// Size is how long the log is, in bytes, as far as the connection has written it; 0 where its
// file is SQLite's own.
func (l *Log) Size() int64 { return l.end }

// allocate returns memory for a T that is not Go's, 0 if there is none.
func allocate[T any](tls *libc.TLS) uintptr {
	var none T
	return libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(none)))
}

// at is what is at an address of SQLite's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function is the function of a pointer in SQLite's tables.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{pointer})) }

// replace puts a function, of package level, into a table.
func replace[F any](pointer *uintptr, f F) { *(*F)(unsafe.Pointer(pointer)) = f }

// opens is for each file that is opened. One that is no log is SQLite's own.
func opens(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	known.RLock()
	l := known.logs[vfs]
	known.RUnlock()
	original := at[sqlite3.Tsqlite3_vfs](vfs).FpAppData
	code := function[opener](at[sqlite3.Tsqlite3_vfs](original).FxOpen)(tls, original, name, file, flags, outFlags)
	table := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if code != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 || *table == 0 {
		return code
	}
	known.Lock()
	defer known.Unlock()
	if system == 0 {
		makeOurs(tls, *table)
	}
	if *table != system || ours == 0 || l.buffer != 0 {
		return code // it stays SQLite's own, as a second one that is open does
	}
	if l.buffer = allocate[[most]byte](tls); l.buffer != 0 {
		known.open[file] = l
		*table = ours
	}
	return code
}

// makeOurs makes the functions of a log's file from SQLite's own.
func makeOurs(tls *libc.TLS, original uintptr) {
	system, theirs, ours = original, at[sqlite3.Tsqlite3_io_methods](original), allocate[sqlite3.Tsqlite3_io_methods](tls)
	if ours == 0 {
		return
	}
	table := at[sqlite3.Tsqlite3_io_methods](ours)
	*table = *theirs
	replace[closer](&table.FxClose, closes)
	replace[writer](&table.FxRead, reads)
	replace[writer](&table.FxWrite, writes)
	replace[truncater](&table.FxTruncate, truncates)
	replace[syncer](&table.FxSync, syncs)
	replace[sizer](&table.FxFileSize, sizes)
}

// of returns the log of a file.
func of(file uintptr) *Log {
	known.RLock()
	defer known.RUnlock()
	return known.open[file]
}

// flush writes what is gathered.
func (l *Log) flush(tls *libc.TLS, file uintptr) int32 {
	if l.gathered == 0 {
		return sqlite3.SQLITE_OK
	}
	n := int32(l.gathered)
	l.gathered = 0
	return function[writer](theirs.FxWrite)(tls, file, l.buffer, n, l.at)
}

func writes(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	l := of(file)
	if offset == 0 { // its header
		l.end = 0
	}
	l.end = max(l.end, offset+int64(n))
	if !l.gathering || offset != l.at+int64(l.gathered) || l.gathered+int(n) > most {
		if code := l.flush(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	if !l.gathering {
		return function[writer](theirs.FxWrite)(tls, file, from, n, offset)
	}
	if l.gathered == 0 {
		l.at = offset
	}
	copy(at[[most]byte](l.buffer)[l.gathered:], unsafe.Slice(at[byte](from), n))
	l.gathered += int(n)
	return sqlite3.SQLITE_OK
}

func reads(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32 {
	if code := of(file).flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return function[writer](theirs.FxRead)(tls, file, to, n, offset)
}

func truncates(tls *libc.TLS, file uintptr, size int64) int32 {
	if code := of(file).flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return function[truncater](theirs.FxTruncate)(tls, file, size)
}

func syncs(tls *libc.TLS, file uintptr, flags int32) int32 {
	if code := of(file).flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return function[syncer](theirs.FxSync)(tls, file, flags)
}

func sizes(tls *libc.TLS, file, size uintptr) int32 {
	if code := of(file).flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return function[sizer](theirs.FxFileSize)(tls, file, size)
}

// closes ends the use of a file. Nothing is gathered then: that would be within a COMMIT.
func closes(tls *libc.TLS, file uintptr) int32 {
	known.Lock()
	l := known.open[file]
	delete(known.open, file)
	known.Unlock()
	libc.Xfree(tls, l.buffer)
	l.buffer, l.end = 0, 0
	return function[closer](theirs.FxClose)(tls, file)
}
