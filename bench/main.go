//go:build linux

// Command bench measures the service as it runs in production, on durable
// databases, beside the raw limits of the machine in the same run. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// options are the flags of a run.
type options struct {
	seconds   float64
	rounds    int
	only      *regexp.Regexp
	databases []string
	binary    string
	json      string
	profiles  string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == bareCommand {
		exit(serveBare(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(ctx, o, os.Stdout)
	}
	stop()
	exit(err)
}

func exit(err error) {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.Float64Var(&o.seconds, "seconds", 2, "how long each load is measured")
	flags.IntVar(&o.rounds, "rounds", 3, "how often the service and its limit take turns; medians are told")
	flags.StringVar(&o.json, "json", "", "`file` that the figures are written to")
	flags.StringVar(&o.binary, "binary", "", "the service's program; built unless given")
	flags.StringVar(&o.profiles, "profiles", "", "`folder` for a CPU profile of the service under each load, for go tool pprof")
	only := flags.String("only", "", "`regexp` of what is measured, matched with lines such as \"sqlite record 64\" and \"sqlite start\"")
	databases := flags.String("databases", "sqlite,postgres", "which databases")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.databases = strings.Split(*databases, ",")
	o.only, err = regexp.Compile(*only)
	return o, err
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "tenantry-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user has to get through.
		return err
	}
	if o.binary == "" {
		o.binary = filepath.Join(dir, "tenantry")
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", o.binary, "./cmd/tenantry")
		build.Stdout, build.Stderr = out, os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the service (from the repository's root): %w", err)
		}
	}
	bare, err := startBare(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	r := newReport(out)
	for _, database := range o.databases {
		s := &session{options: o, bare: bare, report: r, dir: filepath.Join(dir, database), database: database}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	return r.write(o.json)
}
