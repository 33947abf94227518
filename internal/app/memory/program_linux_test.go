package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const smaps = `00400000-0213b000 r-xp 00000000 fe:00 10896085    /opt/my app/tenantry
Size:              29932 kB
Rss:               20688 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
0213b000-048eb000 r--p 01d3b000 fe:00 10896085    /opt/my app/tenantry
Anonymous:             4 kB
048eb000-04ab6000 rw-p 044eb000 fe:00 10896085    /opt/my app/tenantry
Anonymous:             0 kB
7f436c393000-7f436c4e9000 r-xp 00026000 fe:00 326269    /usr/lib/libc.so.6
Anonymous:             0 kB
7f431ac2f000-7f431ad8f000 r--p 00000000 00:00 0
Anonymous:             0 kB
`

// Only what is as in the program's file is dropped: not what can be written, what was written,
// or what belongs to others.
func TestUnwritten(t *testing.T) {
	t.Parallel()
	got := unwritten(strings.NewReader(smaps), "/opt/my app/tenantry")
	if len(got) != 1 || got[0] != (mapping{0x400000, 0x213b000 - 0x400000}) {
		t.Errorf("%x", got)
	}
}

// The block takes none of the machine's memory either where it is made of memory that was used before.
func TestBlockOfUsedMemoryTakesNothing(t *testing.T) {
	before := collectedAt()
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "")
	used := make([]byte, 2*block)
	for i := range used {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	runtime.GC()
	held := Start()
	pages := make([]byte, block/os.Getpagesize())
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&held.block[0])), block, uintptr(unsafe.Pointer(&pages[0]))); err != 0 {
		t.Fatal(err)
	}
	there := 0
	for _, page := range pages {
		there += int(page & 1)
	}
	if there > len(pages)/10 {
		t.Errorf("%d of %d pages of the block are there", there, len(pages))
	}
	for _, b := range held.block {
		if b != 0 {
			t.Fatal("the block is not zero")
		}
	}
}

// The process has less of its program afterwards, and goes on.
func TestForgetProgram(t *testing.T) {
	t.Parallel()
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	if got := unwritten(maps, name); len(got) == 0 {
		t.Error("nothing of this program can be dropped")
	}
	forgetProgram()
	if text := strings.Repeat("still here", 2); text != "still herestill here" {
		t.Error(text)
	}
}
