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
	Dev        devCmd        `cmd:"" help:"Run for development, with demo data and a sandbox for payments, email and time."`
	Init       initCmd       `cmd:"" help:"Set up production: ask for the database, the public URL, Stripe, the mail server and the first admin, write the settings to a file, and run doctor on them."`
	Serve      serveCmd      `cmd:"" help:"Run in production."`
	Migrate    migrateCmd    `cmd:"" help:"Migrate the database schema."`
	Distribute distributeCmd `cmd:"" help:"Distribute the PostgreSQL database over a Citus cluster, or place the tables that a later version added. Stop all instances first. Can be repeated safely."`
	Backup     backupCmd     `cmd:"" help:"Back up the SQLite database to a file. Works while the server is running. Do not copy the database file instead: the latest changes are in its -wal file."`
	Restore    restoreCmd    `cmd:"" help:"Restore the SQLite database from a backup. Stop the server first."`
	Admin      adminCmd      `cmd:"" help:"Manage platform admins."`
	APIKey     apiKeyCmd     `cmd:"" name:"api-key" help:"Manage platform API keys."`
	Catalog    catalogCmd    `cmd:"" help:"Export and import the catalog."`
	Import     importCmd     `cmd:"" help:"Import users, tenants, memberships and subscriptions from CSV files. All files are checked first; if a line is invalid, nothing is imported. The import can be repeated safely."`
	Usage      usageCmd      `cmd:"" help:"Check metered usage and its billing."`
	Keys       keysCmd       `cmd:"" help:"Manage the keys that sign tokens for backends."`
	Jobs       jobsCmd       `cmd:"" help:"List, retry and delete dead background jobs."`
	Doctor     doctorCmd     `cmd:"" help:"Check an installation and suggest fixes. Checks settings, unknown variables, the data folder, free disk space, the database schema and integrity, Redis, the mail server, identity providers, the public URL, cookies and the payment provider. Exits with 1 if there are errors. Warnings do not count as errors."`
	Health     healthCmd     `cmd:"" help:"Check whether the service on this machine is ready. Exits with 1 if it is not."`
	Mail       mailCmd       `cmd:"" help:"List and preview the emails that the service sends."`
	Hooks      hooksCmd      `cmd:"" help:"Test webhooks."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Run a Model Context Protocol server on standard input and output, which gives an assistant read access to a running service. --allow-writes also gives write access."`
	PSP        pspCmd        `cmd:"" name:"psp" help:"Check and reconcile the payment provider."`
	Sandbox    sandboxCmd    `cmd:"" help:"Run a sandbox for an external service on its own."`
	Version    versionCmd    `cmd:"" help:"Show the version."`

	Completion completionCmd `cmd:"" help:"Print a shell completion script. Its first line explains how to install it."`
	Man        manCmd        `cmd:"" help:"Print the manual page: tenantry man > tenantry.1"`
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
		kong.Description("Accounts, teams, plans, subscriptions and metered usage for a SaaS product. Settings are flags or environment variables. Flags take precedence."),
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
