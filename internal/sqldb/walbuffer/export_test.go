package walbuffer

import (
	"sync"
	"sync/atomic"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	refusing atomic.Bool
	original = sync.OnceValue(func() sqlite3.Tsqlite3_io_methods { return *theirs })
)

// Refuse has the writes of logs fail as on a full disk, until it is called with false. A log
// must have been opened, and nobody else may use one.
func Refuse(yes bool) {
	failing := original()
	refusing.Store(yes)
	theirs = &failing
	replace[writer](&theirs.FxWrite, writesOrNot)
}

func writesOrNot(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	if refusing.Load() {
		return sqlite3.SQLITE_FULL
	}
	before := original()
	return function[writer](before.FxWrite)(tls, file, from, n, offset)
}
