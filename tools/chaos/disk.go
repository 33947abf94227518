//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// diskSize is that of the disk that gets full.
const diskSize = "48m"

// useDisk gives the instance a small disk at a folder, which only it sees and which ends with
// it. prepare is what its shell does there first.
func (i *instance) useDisk(folder, prepare string) {
	i.attr = namespace()
	i.prepare = fmt.Sprintf("mount -t tmpfs -o size=%s tmpfs %q && %s", diskSize, folder, prepare)
}

// namespace is that of a process which may mount things that nobody else sees.
func namespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}} // a tmpfs cannot create files for a group that is not mapped
	}
	return attr
}

// errNoMount is returned where nothing may be mounted.
var errNoMount = errors.New("no disk can be mounted here")

// canMount reports by a nil error that a small disk can be made here.
func canMount(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "tenantry-chaos-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(dir) }()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `mount -t tmpfs -o size=1m tmpfs "$0"`, dir)
	cmd.SysProcAttr = namespace()
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %w: %s", errNoMount, err, said)
	}
	return nil
}

// fillUp writes to a file until nothing fits any more.
func fillUp(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for size := 1 << 20; size >= 1; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}
