// Command tenantry is the service. dev runs it on one machine with a sandbox in place of external
// services; serve runs it in production.
//
// The exit codes are 0 for success, 1 for a failure, 2 for invalid arguments or settings, and 130
// if a second signal ended the process before it had stopped.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/settings"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitMisused     = 2
	exitInterrupted = 130
)

type cli struct {
	Dev     devCmd     `cmd:"" help:"Run on this machine with demo data and a sandbox for the payment provider, mail and the clock."`
	Serve   serveCmd   `cmd:"" help:"Run in production."`
	Migrate migrateCmd `cmd:"" help:"Bring the database's schema up to date."`
	Backup  backupCmd  `cmd:"" help:"Write the SQLite database to one file, also while a server runs. A copy of the database file alone would miss the latest changes, which are in the file beside it that ends in -wal."`
	Restore restoreCmd `cmd:"" help:"Put a backup in place of the SQLite database, while no server runs."`
	Admin   adminCmd   `cmd:"" help:"Manage platform admins."`
	APIKey  apiKeyCmd  `cmd:"" name:"api-key" help:"Make API keys of the platform."`
	Catalog catalogCmd `cmd:"" help:"Export and import the catalog as a file."`
	Import  importCmd  `cmd:"" help:"Import users, tenants, memberships and subscriptions of another system from CSV files. All files are checked first; where a line is wrong, nothing is imported. A second run changes nothing."`
	Usage   usageCmd   `cmd:"" help:"Check metered usage and its billing."`
	Jobs    jobsCmd    `cmd:"" help:"List, retry and drop background jobs that failed for the last time."`
	Doctor  doctorCmd  `cmd:"" help:"Look at an installation and say what to do: settings, unknown variables, the data folder and its disk, the database with its schema and integrity, Redis, the mail server, identity providers, the public URL and cookies, and the payment provider. The exit code is 1 if something is an error; warnings are none."`
	Health  healthCmd  `cmd:"" help:"Ask the service on this machine whether it is ready. The exit code is 1 if it is not."`
	Mail    mailCmd    `cmd:"" help:"List and show the mails that the service sends."`
	Hooks   hooksCmd   `cmd:"" help:"Try out webhooks."`
	MCP     mcpCmd     `cmd:"" name:"mcp" help:"Let an assistant look things up in a running service: a server of the Model Context Protocol on standard input and output. It can change nothing unless --allow-writes is given."`
	PSP     pspCmd     `cmd:"" name:"psp" help:"Work with the payment provider."`
	Sandbox sandboxCmd `cmd:"" help:"Run a stand-in for an outside service alone."`
	Version versionCmd `cmd:"" help:"Show the version."`

	Completion completionCmd `cmd:"" help:"Write the script that completes commands and flags in a shell; the script's first line says how it is used."`
	Man        manCmd        `cmd:"" help:"Write the manual page: tenantry man > tenantry.1"`
}

// process gives commands access to the process.
type process struct {
	in      *os.File
	out     io.Writer
	err     io.Writer
	getenv  func(string) string
	environ func() []string // all variables, for settings without fixed names
}

func main() {
	ctx, _ := untilSignal(context.Background()) // never canceled, because the process exits first
	os.Exit(run(ctx, os.Args[1:], &process{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, environ: os.Environ}))
}

func run(ctx context.Context, args []string, p *process) int {
	var commands cli
	parser, err := kong.New(&commands,
		kong.Name("tenantry"),
		kong.Description("Accounts, teams, plans, subscriptions and metered usage for a SaaS product. A setting is a flag or an environment variable; the flag wins."),
		kong.Writers(p.out, p.err),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(p),
	)
	if err != nil {
		_, _ = fmt.Fprintf(p.err, "tenantry: %v\n", err)
		return exitFailed
	}
	if len(args) > 0 && args[0] == completeCommand {
		if err := complete(parser.Model, args[1:], p.out); err != nil {
			return exitFailed
		}
		return exitOK
	}
	command, err := parser.Parse(normalizeArgs(args))
	if err != nil {
		hint := ""
		if strings.HasPrefix(err.Error(), "unexpected argument") {
			hint = `: run "tenantry --help" for the list of commands`
		}
		_, _ = fmt.Fprintf(p.err, "tenantry: %v%s\n", err, hint)
		return exitMisused
	}
	if err := command.Run(); err != nil {
		return report(p.err, command, err)
	}
	return exitOK
}

// normalizeArgs rewrites arguments for kong: no argument and "help …" become --help, and -v and
// --version become version.
func normalizeArgs(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(args[1:len(args):len(args)], "--help")
	case len(args) == 1 && (args[0] == "-v" || args[0] == "--version"):
		return []string{"version"}
	default:
		return args
	}
}

// report writes a line for each error and returns the exit code.
func report(w io.Writer, command *kong.Context, err error) int {
	code := exitFailed
	for _, err := range splitErrors(err) {
		if setting, ok := errors.AsType[*settings.Error](err); ok {
			code = exitMisused
			err = fmt.Errorf("%s: %s", settingName(command, setting.Name), setting.Reason)
		}
		_, _ = fmt.Fprintf(w, "tenantry: %v\n", err)
	}
	return code
}

// splitErrors returns the errors that errors.Join or kong has joined.
func splitErrors(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, err := range joined.Unwrap() {
		all = append(all, splitErrors(err)...)
	}
	return all
}

// settingName returns the name that the user used for a setting: the flag if it was on the command
// line, otherwise the environment variable.
func settingName(command *kong.Context, variable string) string {
	for _, step := range command.Path {
		if step.Flag != nil && slices.Contains(step.Flag.Envs, variable) {
			return "--" + step.Flag.Name
		}
	}
	return variable
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. A second signal exits the
// process immediately.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}
