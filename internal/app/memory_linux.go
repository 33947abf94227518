package app

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// unmapProgram unmaps the unmodified pages of the executable. A start touches most of it once, and
// the kernel maps 64 KiB around each access. The kernel maps a page again when the process needs
// it. Errors are ignored: the pages then stay mapped.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var begin, end uintptr // of the current mapping; 0 unless it belongs to the executable
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
