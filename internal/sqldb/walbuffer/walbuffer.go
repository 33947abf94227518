// Package walbuffer gathers what a commit adds to SQLite's write-ahead log and writes it in
// one piece. SQLite writes each page in two: the header of its frame, and the page. With some
// tens of pages to a commit these system calls take longer than the rest of the writing.
//
// Invariants: nobody can tell the difference, except that an error of a write, such as a full
// disk, is the error of the sync that follows it. What is gathered is written before anything
// else is done with the file, so whoever uses the same handle reads what it wrote. Others
// read a frame only when the index of the log names it, and SQLite puts it there after the sync
// of the commit: so a connection that commits without a sync must not use this.
package walbuffer

import (
	"errors"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// VFS is the name under which Register makes the files known: SQLite's parameter vfs.
const VFS = "tenantry"

// most is how much is gathered, in bytes: a larger commit is written in several pieces. It is
// the most that SQLite's own files write at once on Unix.
const most = 1<<17 - 1

// These are SQLite's own, which do the work, and the ones made from them. They are at
// package level because SQLite keeps their addresses.
var (
	system  *sqlite3.Tsqlite3_vfs
	ours    sqlite3.Tsqlite3_vfs
	name    = [len(VFS) + 1]byte([]byte(VFS + "\x00"))
	methods struct {
		sync.Mutex
		system uintptr // where those of a log's file are; 0 until the first is opened
		ours   sqlite3.Tsqlite3_io_methods
	}
	theirs *sqlite3.Tsqlite3_io_methods // at methods.system; set before a log is used
)

// The functions of a file that are called or replaced.
type (
	opener    = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	writer    = func(tls *libc.TLS, file, from uintptr, n int32, at int64) int32
	truncater = func(tls *libc.TLS, file uintptr, size int64) int32
	syncer    = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizer     = func(tls *libc.TLS, file, size uintptr) int32
	closer    = func(tls *libc.TLS, file uintptr) int32
)

// Register makes VFS known to SQLite. To call it again does nothing.
var Register = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	found := sqlite3.Xsqlite3_vfs_find(tls, 0)
	if found == 0 {
		return errors.New("walbuffer: SQLite has no files of its own")
	}
	system = at[sqlite3.Tsqlite3_vfs](found)
	ours = *system
	ours.FpNext, ours.FzName = 0, uintptr(unsafe.Pointer(&name))
	replace[opener](&ours.FxOpen, open)
	if sqlite3.Xsqlite3_vfs_register(tls, uintptr(unsafe.Pointer(&ours)), 0) != sqlite3.SQLITE_OK {
		return errors.New("walbuffer: SQLite refused the files")
	}
	return nil
})

// at is what is at an address of SQLite's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// function is the function of a pointer in SQLite's tables.
func function[F any](pointer uintptr) F { return *(*F)(unsafe.Pointer(&struct{ uintptr }{pointer})) }

// replace puts a function, of package level, into a table.
func replace[F any](pointer *uintptr, f F) { *(*F)(unsafe.Pointer(pointer)) = f }

// gathered is what is yet to be written to a file.
type gathered struct {
	bytes []byte
	at    int64
}

// files are those that are open.
var files = struct {
	sync.RWMutex
	open map[uintptr]*gathered
}{open: map[uintptr]*gathered{}}

func of(file uintptr) *gathered {
	files.RLock()
	defer files.RUnlock()
	return files.open[file]
}

// open opens a file. One that is no log is SQLite's own.
func open(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	code := function[opener](system.FxOpen)(tls, vfs, name, file, flags, outFlags)
	table := &at[sqlite3.Tsqlite3_file](file).FpMethods
	if code != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 || *table == 0 {
		return code
	}
	methods.Lock()
	defer methods.Unlock()
	if methods.system == 0 {
		methods.system, theirs = *table, at[sqlite3.Tsqlite3_io_methods](*table)
		methods.ours = *theirs
		replace[closer](&methods.ours.FxClose, closes)
		replace[writer](&methods.ours.FxRead, reads)
		replace[writer](&methods.ours.FxWrite, writes)
		replace[truncater](&methods.ours.FxTruncate, truncates)
		replace[syncer](&methods.ours.FxSync, syncs)
		replace[sizer](&methods.ours.FxFileSize, sizes)
	}
	if *table == methods.system { // all files of one kind have one table
		files.Lock()
		files.open[file] = &gathered{}
		files.Unlock()
		*table = uintptr(unsafe.Pointer(&methods.ours))
	}
	return code
}

// flush writes what is gathered.
func (g *gathered) flush(tls *libc.TLS, file uintptr) int32 {
	if len(g.bytes) == 0 {
		return sqlite3.SQLITE_OK
	}
	code := function[writer](theirs.FxWrite)(tls, file, uintptr(unsafe.Pointer(unsafe.SliceData(g.bytes))), int32(len(g.bytes)), g.at)
	g.bytes = g.bytes[:0]
	return code
}

func writes(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	g := of(file)
	if offset != g.at+int64(len(g.bytes)) || len(g.bytes)+int(n) > most {
		if code := g.flush(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	if len(g.bytes) == 0 {
		g.at = offset
	}
	g.bytes = append(g.bytes, unsafe.Slice(at[byte](from), n)...)
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

func closes(tls *libc.TLS, file uintptr) int32 {
	code := of(file).flush(tls, file)
	files.Lock()
	delete(files.open, file)
	files.Unlock()
	if closed := function[closer](theirs.FxClose)(tls, file); closed != sqlite3.SQLITE_OK {
		return closed
	}
	return code
}
