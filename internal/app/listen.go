package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listen listens on the address of --addr. Its error names the flag, because usually another
// service already uses the address.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%w: stop the other program, or choose another address with --addr", err)
	case err != nil:
		return nil, fmt.Errorf("%w: choose another address with --addr", err)
	}
	return listener, nil
}
