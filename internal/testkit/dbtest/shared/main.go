// Command shared runs a command whose tests share one PostgreSQL server:
//
//	go run ./internal/testkit/dbtest/shared go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

func main() {
	if len(os.Args) < 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: shared command [argument...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := dbtest.Share(ctx, os.Args[1:])
	stop()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(max(1, exit.ExitCode()))
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "shared:", err)
		os.Exit(1)
	}
}
