//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	osuser "os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// server is a PostgreSQL server. Its data is in the run's folder.
type server struct {
	bin, dir string
	address  netip.AddrPort
	attr     *syscall.SysProcAttr
}

// errNoPostgres is returned if PostgreSQL is not installed.
var errNoPostgres = errors.New("PostgreSQL is not installed")

// superuser is the role that the service connects as.
const superuser = "postgres"

// postgresPrograms returns the folder with PostgreSQL's programs.
func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("pg_basebackup"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "initdb")); err == nil {
				return filepath.Dir(path), nil
			}
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errNoPostgres
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// newServer prepares a server in a new folder. initialize or follow creates its data.
func newServer(dir string) (*server, error) {
	bin, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	s := &server{bin: bin, dir: dir, address: address}
	err = s.dropPrivileges()
	return s, err
}

// dropPrivileges makes PostgreSQL's programs run as another user if this process runs as root,
// because they refuse to run as root.
func (s *server) dropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	account, err := osuser.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, err1 := strconv.Atoi(account.Uid)
	gid, err2 := strconv.Atoi(account.Gid)
	s.attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return errors.Join(err1, err2, os.Chown(s.dir, uid, gid))
}

func (s *server) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir, cmd.Env = s.attr, s.dir, append(os.Environ(), "LC_ALL=C")
	var said bytes.Buffer
	if program != "pg_ctl" { // the server that it starts would keep the pipe open
		cmd.Stdout, cmd.Stderr = &said, &said
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, said.String())
	}
	return nil
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// initialize creates an empty server. If followed is set, a commit waits until a standby has
// received it.
func (s *server) initialize(ctx context.Context, followed bool) error {
	if err := s.run(ctx, "initdb", "-D", s.data(), "-U", superuser, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-instructions"); err != nil {
		return err
	}
	settings := "unix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\nshared_buffers = 64MB\n"
	if followed {
		settings += "synchronous_standby_names = '*'\n"
	}
	return s.configure(settings + s.port())
}

func (s *server) port() string { return "port = " + strconv.Itoa(int(s.address.Port())) + "\n" }

func (s *server) configure(settings string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(settings)
	return errors.Join(err, f.Close())
}

// follow makes the server a streaming standby of primary.
func (s *server) follow(ctx context.Context, primary *server) error {
	err := s.run(ctx, "pg_basebackup", "-h", primary.address.Addr().String(), "-p", strconv.Itoa(int(primary.address.Port())),
		"-U", superuser, "-D", s.data(), "-R", "-X", "stream", "-c", "fast")
	if err != nil {
		return err
	}
	return s.configure("synchronous_standby_names = ''\n" + s.port())
}

// start starts the server and returns when it accepts connections.
func (s *server) start(ctx context.Context) error {
	return s.run(ctx, "pg_ctl", "start", "-D", s.data(), "-w", "-l", filepath.Join(s.dir, "log"))
}

// stop stops the server. The mode fast ends its sessions. The mode immediate is like a crash: it
// skips the checkpoint.
func (s *server) stop(ctx context.Context, mode string) error {
	return s.run(ctx, "pg_ctl", "stop", "-D", s.data(), "-m", mode, "-w")
}

func (s *server) promote(ctx context.Context) error {
	return s.run(ctx, "pg_ctl", "promote", "-D", s.data(), "-w")
}

// signal sends a signal to the server's processes. The postmaster is first, so that it starts no
// new processes.
func (s *server) signal(sig syscall.Signal) error {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	first, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	if err := syscall.Kill(first, sig); err != nil {
		return err
	}
	for _, child := range childrenOf(first) {
		_ = syscall.Kill(child, sig) // an error means that the process has ended
	}
	return nil
}

// childrenOf returns the child processes of a process.
func childrenOf(parent int) (children []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		text, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
		_, rest, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, id)
		}
	}
	return children
}

// databaseURL returns a URL that connects to the first server that accepts writes.
func databaseURL(servers ...*server) string {
	var hosts []string
	for _, s := range slices.DeleteFunc(servers, func(s *server) bool { return s == nil }) {
		hosts = append(hosts, s.address.String())
	}
	return "postgres://" + superuser + "@" + strings.Join(hosts, ",") + "/" + superuser + "?sslmode=disable&target_session_attrs=read-write"
}

// freeAddress returns an unused address. Its port is outside the range of ephemeral ports, so that
// an outgoing connection cannot take it before the server listens.
func freeAddress() (netip.AddrPort, error) {
	const first, end = 20_000, 32_000
	for {
		address := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(first+rand.IntN(end-first))) //nolint:gosec // A port is not a secret.
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", address.String())
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return netip.AddrPort{}, err
		}
		return address, l.Close()
	}
}
