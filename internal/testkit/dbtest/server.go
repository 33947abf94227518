package dbtest

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// serverScript creates and starts a server. It removes the server at the end of its input.
//
//go:embed server.sh
var serverScript string

// startServer starts a PostgreSQL server for this process in a new folder and returns its URL, or
// the URL of the coordinator of a Citus cluster. The server only listens on a socket in that
// folder, so there are no port conflicts. Durability is off. Creating a server takes about a
// second; it is not reused between runs.
//
// The server runs until leash is closed, so the caller must keep leash open. Nothing is ever
// written to leash. It is the input of the script, and the system closes it when this process ends,
// even if the process is killed.
func startServer() (address string, leash *os.File, err error) {
	bin, err := findPrograms()
	if err != nil {
		return "", nil, err
	}
	dir, err := makeFolder()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(context.Background(), "/bin/sh", "-c", serverScript, "sh", bin, dir, strconv.Itoa(servers()))
	// A separate session protects the script from the terminal's signals, because it must outlive
	// this process to clean up.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Dir = dir
	if err := runUnprivileged(cmd, dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	input, leash, err := os.Pipe()
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	cmd.Stdin = input
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, errors.Join(err, input.Close(), leash.Close(), os.RemoveAll(dir))
	}
	_ = input.Close()
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		reason, _ := os.ReadFile(filepath.Join(dir, "log"))
		return "", nil, errors.Join(fmt.Errorf("the server did not start: %s%s", line, reason), leash.Close(), os.RemoveAll(dir))
	}
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres"}
	u.RawQuery = url.Values{"host": {dir}, "sslmode": {"disable"}}.Encode()
	if isCitus() {
		if err := joinServers(u.String(), dir); err != nil {
			return "", nil, errors.Join(err, leash.Close())
		}
	}
	return u.String(), leash, nil
}

// makeFolder creates the server's folder. On Linux it is in memory if there is room: a database
// consists of hundreds of small files, and creating them in memory takes a tenth of the time.
func makeFolder() (string, error) {
	const pattern = "tenantry-pg-"
	if fitsInMemory() {
		if dir, err := os.MkdirTemp(memory, pattern); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", pattern)
}

// memory is Linux's in-memory file system.
const memory = "/dev/shm"

// fitsInMemory reports whether the databases of tests fit in memory.
func fitsInMemory() bool {
	const room = 2 << 30
	var stat syscall.Statfs_t
	return syscall.Statfs(memory, &stat) == nil && stat.Bavail*uint64(stat.Bsize) >= room
}

// findPrograms returns the folder of initdb and pg_ctl: the folder in PATH, otherwise Debian's
// newest. Debian only has wrappers such as pg_ctlcluster in PATH.
func findPrograms() (string, error) {
	if path, err := exec.LookPath("pg_ctl"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && isFile(filepath.Join(filepath.Dir(path), "initdb")) {
			return filepath.Dir(path), nil
		}
	}
	if _, err := exec.LookPath("pg_ctlcluster"); err != nil {
		return "", errors.New("no pg_ctl in PATH")
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.New("no initdb in /usr/lib/postgresql")
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// version returns the version in a path such as /usr/lib/postgresql/15/bin/initdb.
func version(initdb string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	return n
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// runUnprivileged makes cmd run as another user if the current user is root, because PostgreSQL
// refuses to run as root. dir then belongs to the other user.
func runUnprivileged(cmd *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		if account, err = user.Lookup("nobody"); err != nil {
			return errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
		}
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(dir, int(uid), int(gid))
}
