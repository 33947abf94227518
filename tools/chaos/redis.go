//go:build linux

package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/limit"
)

// errNoRedis is returned if Redis is not installed.
var errNoRedis = errors.New("redis-server is not installed")

// newRedis returns a Redis server that is not started.
func newRedis(dir string) (*instance, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNoRedis
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return &instance{
		binary: program, address: address, raw: true, log: filepath.Join(dir, "redis.log"),
		args: []string{"--bind", "127.0.0.1", "--port", strconv.Itoa(int(address.Port())), "--save", "", "--dir", dir},
	}, nil
}

// generousLimits returns rate limits that count every request but are never reached.
func generousLimits() string {
	var groups []string
	for group := range limit.Defaults() {
		groups = append(groups, group+"=1000000000")
	}
	return strings.Join(groups, ",")
}
