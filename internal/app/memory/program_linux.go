package memory

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forget drops the pages of a block that has never been written to. They are zero again when they are
// touched. An error changes nothing.
func forget(block []byte) { _ = unix.Madvise(block, unix.MADV_DONTNEED) }

// forgetProgram drops the pages of the program's file from the process. A start touches nearly
// all code once and the system maps 64 KiB around each place, 50 MiB in all; what is needed
// again is mapped again, from the system's cache of the file. An error changes nothing.
func forgetProgram() {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	file, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer file.Close()
	for _, m := range unwritten(file, name) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.begin, m.size, unix.MADV_DONTNEED)
	}
}

// mapping is a part of the address space.
type mapping struct{ begin, size uintptr }

// unwritten returns the mappings of a file in a text of the form of /proc/self/smaps that
// cannot be written and of which the process has no pages of its own: a linker or a debugger
// may have written there before, and those pages are not those of the file.
func unwritten(smaps io.Reader, name string) []mapping {
	var all []mapping
	var current mapping
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		line := lines.Text()
		fields := strings.Fields(line)
		if kind, isDetail := strings.CutSuffix(fields[0], ":"); isDetail {
			if kind == "Anonymous" && fields[1] == "0" && current.size > 0 {
				all = append(all, current)
			}
			continue
		}
		current = mapping{}
		if len(fields) > 5 && strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(line, " "+name) {
			current = between(fields[0])
		}
	}
	return all
}

// between reads "begin-end" in hexadecimal digits.
func between(text string) mapping {
	from, to, _ := strings.Cut(text, "-")
	begin, err1 := strconv.ParseUint(from, 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
	if err1 != nil || err2 != nil || end <= begin {
		return mapping{}
	}
	return mapping{uintptr(begin), uintptr(end - begin)}
}
