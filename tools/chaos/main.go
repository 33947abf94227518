//go:build linux

// Command chaos runs the service as in production, injects faults into its dependencies under load,
// and counts lost and duplicated operations. See README.md.
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
	"time"
)

// options are the flags of a run.
type options struct {
	seed      uint64
	length    float64 // factor for the length of a scenario's phases
	databases []string
	only      *regexp.Regexp
	binary    string
	json      string
	keep      string
	citus     string
}

// The guaranteed limits of the service (rules: http#errors).
const (
	maxRefusal  = 2 * time.Second // latency of a refused request
	maxRecovery = time.Second     // from the recovery of the database to the first success
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout)
	stop()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	_, _ = fmt.Fprintln(os.Stderr, "chaos:", err)
	os.Exit(1)
}

// errBroken is returned by a run in which the service broke a guarantee.
var errBroken = errors.New("the service broke a guarantee: see the table")

func command(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, remove, err := o.folder()
	if err != nil {
		return err
	}
	defer remove()
	if err := o.build(ctx, dir, out); err != nil {
		return err
	}
	rows, err := run(ctx, o, dir, out)
	if err != nil {
		return err
	}
	if err := printTable(out, o.seed, rows); err != nil {
		return err
	}
	if o.json != "" {
		if err := writeJSON(o.json, o.seed, rows); err != nil {
			return err
		}
	}
	for _, r := range rows {
		if r.isBroken() {
			return errBroken
		}
	}
	return nil
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the faults; the same seed repeats them")
	flags.Float64Var(&o.length, "length", 1, "factor for the duration and number of faults")
	flags.StringVar(&o.binary, "binary", "", "path of the tenantry binary; built if omitted")
	flags.StringVar(&o.json, "json", "", "`file` for the results")
	flags.StringVar(&o.keep, "keep", "", "`folder` for databases and logs, which is kept")
	flags.StringVar(&o.citus, "citus", "", "`URL` of the coordinator of a Citus cluster whose workers to crash; otherwise one is started")
	only := flags.String("only", "", "`regexp` of scenarios to run, such as \"postgres frozen\"")
	databases := flags.String("databases", "sqlite,postgres", "databases to test")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	o.databases = strings.Split(*databases, ",")
	for _, name := range o.databases {
		if name != sqlite && name != postgres {
			return o, fmt.Errorf("--databases: %q is neither %s nor %s", name, sqlite, postgres)
		}
	}
	if o.length <= 0 {
		return o, errors.New("--length: must be above 0")
	}
	o.only, err = regexp.Compile(*only)
	return o, err
}

// folder returns the folder of the run, and a function that removes it unless it should be kept.
func (o *options) folder() (dir string, remove func(), err error) {
	if o.keep != "" {
		dir, err = filepath.Abs(o.keep)
		return dir, func() {}, errors.Join(err, os.MkdirAll(dir, 0o711)) //nolint:gosec // PostgreSQL's user needs access.
	}
	if dir, err = os.MkdirTemp("", "tenantry-chaos-"); err != nil {
		return "", nil, err
	}
	return dir, func() { _ = os.RemoveAll(dir) }, os.Chmod(dir, 0o711) //nolint:gosec // PostgreSQL's user needs access.
}

// build builds the service in the folder, unless a binary was given.
func (o *options) build(ctx context.Context, dir string, out io.Writer) (err error) {
	if o.binary != "" {
		o.binary, err = filepath.Abs(o.binary)
		return err
	}
	o.binary = filepath.Join(dir, "tenantry")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", o.binary, "./cmd/tenantry")
	build.Stdout, build.Stderr = out, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the service (from the repository's root): %w", err)
	}
	return nil
}
