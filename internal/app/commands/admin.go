package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/impersonation"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminParams describes a new platform admin. Empty Permissions grants all permissions.
type AdminParams struct {
	Name, Email, Password string
	Permissions           []string
}

// CreateAdmin creates an account that is a platform admin.
func CreateAdmin(ctx context.Context, s settings.Settings, p AdminParams, out io.Writer) error {
	return withAccounts(ctx, s, func(accounts *account.Service, _ *sqldb.DB) error {
		user, err := accounts.CreateAdmin(ctx, p.Name, p.Email, p.Password, p.Permissions)
		return printResult(out, err, "created platform admin %s (ID %d)\n", user.Email, user.ID)
	})
}

// GrantAdmin makes an existing account a platform admin, or changes the permissions of an admin.
// Empty permissions grants all permissions.
func GrantAdmin(ctx context.Context, s settings.Settings, email string, permissions []string, out io.Writer) error {
	return withAccounts(ctx, s, func(accounts *account.Service, _ *sqldb.DB) error {
		user, err := accounts.GrantAdmin(ctx, email, permissions)
		what := "all permissions"
		if len(permissions) > 0 {
			what = strings.Join(permissions, ", ")
		}
		return printResult(out, err, "%s (ID %d) is a platform admin with %s\n", user.Email, user.ID, what)
	})
}

// RevokeAdmin turns a platform admin into an ordinary account and ends its sessions.
func RevokeAdmin(ctx context.Context, s settings.Settings, email string, out io.Writer) error {
	return withAccounts(ctx, s, func(accounts *account.Service, _ *sqldb.DB) error {
		user, err := accounts.RevokeAdmin(ctx, email)
		return printResult(out, err, "%s (ID %d) is no longer a platform admin\n", user.Email, user.ID)
	})
}

// ResetFactors removes all second factors of an account and ends its sessions. A running server
// notifies the user.
func ResetFactors(ctx context.Context, s settings.Settings, email string, out io.Writer) error {
	return withAccounts(ctx, s, func(accounts *account.Service, db *sqldb.DB) error {
		address, err := mail.NormalizeAddress(email)
		if err != nil {
			return fmt.Errorf("email %q: %w", email, err)
		}
		queue := jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System(), Log: NewLog(io.Discard, s)})
		factors := factor.NewService(factor.Deps{DB: db, Clock: clock.System(), Accounts: accounts, Jobs: queue})
		err = factors.ResetByEmail(ctx, address)
		return printResult(out, err, "removed the second factors of %s and ended all sessions\n", address)
	})
}

// ListAdmins writes a table of the platform admins.
func ListAdmins(ctx context.Context, s settings.Settings, out io.Writer) error {
	return withAccounts(ctx, s, func(accounts *account.Service, _ *sqldb.DB) error {
		admins, err := accounts.Admins(ctx)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "ID\tEMAIL\tNAME\tPERMISSIONS") // Flush returns the error
		for _, a := range admins {
			permissions := "all"
			if a.Permissions != nil {
				permissions = strings.Join(a.Permissions, ",")
			}
			_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%s\n", a.ID, a.Email, a.Name, permissions)
		}
		return table.Flush()
	})
}

// withAccounts runs a command on the accounts of the database. The audit trail
// records its changes without an actor.
func withAccounts(ctx context.Context, s settings.Settings, command func(*account.Service, *sqldb.DB) error) (err error) {
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	passwords := account.NewPasswords(account.HashCost{})
	trail := audit.New(audit.Deps{DB: db, Clock: clock.System()})
	err = command(account.NewService(account.Deps{
		DB: db, Clock: clock.System(), Passwords: passwords, Lifetimes: account.DefaultLifetimes(), Audit: trail,
		Impersonations: impersonation.NewService(impersonation.Deps{DB: db, Clock: clock.System(), Audit: trail}),
	}), db)
	if errors.Is(err, account.ErrUnknownPermission) {
		err = &settings.Error{Name: "--permissions", Reason: err.Error()}
	}
	return err
}

// printResult writes a message, or returns err if it is not nil.
func printResult(out io.Writer, err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, format, args...)
	return err
}
