package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"golang.org/x/term"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

const passwordVariable = "TENANTRY_ADMIN_PASSWORD"

type adminCmd struct {
	Create adminCreateCmd `cmd:"" help:"Create a platform admin account."`
	List   adminListCmd   `cmd:"" help:"List platform admins."`
	Grant  adminGrantCmd  `cmd:"" help:"Make an existing account a platform admin, or change the permissions of a platform admin."`
	Revoke adminRevokeCmd `cmd:"" help:"Remove admin rights from an account and revoke its sessions."`

	ResetFactors adminResetFactorsCmd `cmd:"" help:"Remove all second factors of an account and revoke its sessions."`
}

// permissionFlags are the flags of commands that make an account an admin.
type permissionFlags struct {
	Permissions *string `placeholder:"NAME,..." help:"Platform permissions of the admin, such as plans.view,plans.update. Default: all."`
}

// list returns the permissions, or nil for all permissions if the flag is not set. An empty flag is
// ambiguous, so list returns the unknown permission "", which is rejected.
func (f permissionFlags) list() []string {
	if f.Permissions == nil {
		return nil
	}
	return strings.Split(*f.Permissions, ",")
}

type adminCreateCmd struct {
	settings.StoreFlags `embed:""`
	permissionFlags     `embed:""`

	Email            string `required:"" placeholder:"ADDRESS" help:"Email address for login."`
	Name             string `required:"" help:"Name of the admin."`
	PasswordFile     string `env:"TENANTRY_ADMIN_PASSWORD_FILE" placeholder:"FILE" help:"File that contains the password. Or set TENANTRY_ADMIN_PASSWORD to the password, or enter it when prompted."`
	GeneratePassword bool   `help:"Generate a random password and show it once."`
}

// Run creates the admin. It shows a generated password only after that.
func (c *adminCreateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	password, err := c.password(ctx, p)
	if err != nil {
		return err
	}
	admin := commands.AdminParams{Name: c.Name, Email: c.Email, Password: password.Reveal(), Permissions: c.list()}
	if err := commands.CreateAdmin(ctx, s, admin, p.out); err != nil {
		return err
	}
	if c.GeneratePassword {
		_, err = fmt.Fprintf(p.out, "password: %s\n", password.Reveal())
	}
	return err
}

// password returns the password from the only source that is set. Without a source it asks in the
// terminal.
func (c *adminCreateCmd) password(ctx context.Context, p *process) (settings.Secret, error) {
	given := settings.Secret(p.getenv(passwordVariable))
	sources := 0
	for _, used := range []bool{given != "", c.PasswordFile != "", c.GeneratePassword} {
		if used {
			sources++
		}
	}
	switch {
	case sources > 1:
		return "", &settings.Error{Name: passwordVariable, Reason: "set more than once; use only one of " + passwordVariable + ", --password-file and --generate-password"}
	case given != "":
		return given, nil
	case c.GeneratePassword:
		return settings.Secret(rand.Text()), nil
	case c.PasswordFile != "":
		secret, err := settings.ReadSecretFile(c.PasswordFile)
		if err != nil {
			return "", &settings.Error{Name: passwordVariable + "_FILE", Reason: err.Error()}
		}
		return secret, nil
	case !term.IsTerminal(int(p.in.Fd())):
		return "", &settings.Error{Name: passwordVariable, Reason: "no terminal to prompt for it; set it, or pass --password-file or --generate-password"}
	}
	return readNewPassword(ctx, p)
}

// readNewPassword reads a password twice from the terminal without echoing it.
func readNewPassword(ctx context.Context, p *process) (settings.Secret, error) {
	first, err := readHidden(ctx, p, "Password: ")
	if err != nil {
		return "", err
	}
	second, err := readHidden(ctx, p, "Repeat password: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", &settings.Error{Name: "password", Reason: "the passwords do not match"}
	}
	return first, nil
}
