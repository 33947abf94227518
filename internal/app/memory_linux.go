package app

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram unmaps the pages of the program's file that the process has not changed. A start
// touches most of the program once, and the kernel maps 64 KiB around each place. The kernel maps
// a page again when the process needs it. An error changes nothing.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var begin, end uintptr // of the current mapping; 0 unless it is part of the program
	for line := range strings.Lines(string(mappings)) {
		fields := strings.Fields(line)
		switch {
		case !strings.HasSuffix(fields[0], ":"):
			begin, end = 0, 0
			if strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(line, " "+program+"\n") {
				_, _ = fmt.Sscanf(fields[0], "%x-%x", &begin, &end)
			}
		case fields[0] == "Anonymous:" && fields[1] == "0" && end > begin:
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, begin, end-begin, unix.MADV_DONTNEED)
		}
	}
}
