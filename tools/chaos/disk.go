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

// diskSize is the size of the disk that is filled up.
const diskSize = "48m"

// useDisk mounts a small disk at a folder for the instance. Only the instance can see the disk,
// which is removed when the instance ends. prepare is a shell command that runs after mounting,
// before the program.
func (i *instance) useDisk(folder, prepare string) {
	i.attr = namespace()
	i.prepare = fmt.Sprintf("mount -t tmpfs -o size=%s tmpfs %q && %s", diskSize, folder, prepare)
}

// namespace returns the attributes of a process with its own mount namespace.
func namespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id := os.Getuid(); id != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}} // a tmpfs cannot create files for an unmapped group
	}
	return attr
}

// errNoMount is returned if mounting is not possible.
var errNoMount = errors.New("cannot mount a disk on this machine")

// canMount returns nil if a small disk can be mounted on this machine.
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

// fillUp writes to a file until the disk is full.
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
