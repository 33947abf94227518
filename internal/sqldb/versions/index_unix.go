//go:build unix

package versions

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// index is the header of the write-ahead log's index, which all processes that have the
// database open share in memory. Each commit changes it; a reader of SQLite's own takes
// the same look before it trusts its cache.
type index struct {
	memory []byte
	file   int
	id     fileID
	users  int // of open; guarded by indexes
}

// state is what tells one commit from another: the number of commits so far, and the checksum
// of the whole header with the checksum of the last frame, the log's salt and its length.
type state struct {
	commits uint32
	sum     uint64
}

// Where both are in the header: see walformat.html#the_wal_index_file_format.
const (
	commitsAt  = 8
	sumAt      = 40
	headerSize = 48
)

type fileID struct{ device, inode uint64 }

// indexes are those that this process looks at. A file is opened once, and closed after
// the last database on it: closing any descriptor of a file ends the locks that SQLite
// has on it.
var indexes = struct {
	sync.Mutex
	open map[fileID]*index
}{open: map[fileID]*index{}}

// openIndex opens the index of a database's log, which a connection keeps in its place.
func openIndex(path string) (*index, error) {
	indexes.Lock()
	defer indexes.Unlock()
	path += "-shm"
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		return nil, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	id := fileID{uint64(stat.Dev), stat.Ino} //nolint:unconvert // differs by system
	if x := indexes.open[id]; x != nil {
		x.users++
		return x, nil
	}
	file, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	memory, err := syscall.Mmap(file, 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		// The descriptor stays open: SQLite has locks on the file.
		return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
	}
	x := &index{memory: memory, file: file, id: id, users: 1}
	indexes.open[id] = x
	return x, nil
}

// state returns the present state. One that is read while it is written is like neither
// the one before nor the one after, or is the one before.
func (x *index) state() state {
	header := unsafe.Pointer(unsafe.SliceData(x.memory[:headerSize])) //nolint:gosec // others write it
	s := state{
		commits: atomic.LoadUint32((*uint32)(unsafe.Add(header, commitsAt))),
		sum:     atomic.LoadUint64((*uint64)(unsafe.Add(header, sumAt))),
	}
	runtime.KeepAlive(x)
	return s
}

// close is called after all connections are closed. The memory goes with its last reader.
func (x *index) close() {
	indexes.Lock()
	defer indexes.Unlock()
	if x.users--; x.users > 0 {
		return
	}
	delete(indexes.open, x.id)
	_ = syscall.Close(x.file)
	runtime.AddCleanup(x, func(memory []byte) { _ = syscall.Munmap(memory) }, x.memory)
}
