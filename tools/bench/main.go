//go:build linux

// Command bench measures the service as it runs in production, on durable databases. It compares
// the results with the raw limits of the machine, measured in the same run. See README.md.
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
	err := command(ctx, os.Args[1:], os.Stdout)
	stop()
	exit(err)
}

// command runs the subcommand in the arguments, or else the benchmark.
func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == seedCommand {
		return runSeed(ctx, args[1:], out)
	}
	if len(args) > 0 && args[0] == scaleCommand {
		return runScale(ctx, args[1:], out)
	}
	if len(args) > 0 && args[0] == peersCommand {
		return runPeers(ctx, args[1:], out)
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	return run(ctx, o, out)
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
	flags.Float64Var(&o.seconds, "seconds", 2, "seconds per measurement")
	flags.IntVar(&o.rounds, "rounds", 3, "number of alternating runs of the service and its limit; medians are reported")
	flags.StringVar(&o.json, "json", "", "`file` for the results")
	flags.StringVar(&o.binary, "binary", "", "path of the tenantry binary; built if omitted")
	flags.StringVar(&o.profiles, "profiles", "", "`folder` for CPU profiles of the service, for go tool pprof")
	only := flags.String("only", "", "`regexp` of measurements to run, such as \"sqlite record 64\" or \"sqlite start\"")
	databases := flags.String("databases", "sqlite,postgres", "databases to test")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.databases = strings.Split(*databases, ",")
	o.only, err = regexp.Compile(*only)
	return o, err
}

// withTempDir calls f with a new folder and removes the folder afterwards.
func withTempDir(f func(dir string) error) (err error) {
	dir, err := os.MkdirTemp("", "tenantry-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // PostgreSQL's user needs access.
		return err
	}
	return f(dir)
}

// build builds the service in the folder, unless a binary was given.
func (o *options) build(ctx context.Context, dir string, out io.Writer) error {
	if o.binary != "" {
		return nil
	}
	o.binary = filepath.Join(dir, "tenantry")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", o.binary, "./cmd/tenantry") //nolint:gosec // The output is in the run's own folder.
	build.Stdout, build.Stderr = out, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the service (from the repository's root): %w", err)
	}
	return nil
}

func run(ctx context.Context, o options, out io.Writer) error {
	return withTempDir(func(dir string) error { return runIn(ctx, dir, o, out) })
}

func runIn(ctx context.Context, dir string, o options, out io.Writer) (err error) {
	if err := o.build(ctx, dir, out); err != nil {
		return err
	}
	bare, err := startBare(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	r := newReporter(out)
	for _, database := range o.databases {
		s := &session{options: o, bare: bare, report: r, dir: filepath.Join(dir, database), database: database}
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", database, err)
		}
	}
	return r.Write(o.json)
}
