package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/app/doctor"
	"github.com/tenantry/tenantry/internal/settings"
)

type initCmd struct {
	settings.ServeFlags `embed:""`

	File       string `default:"tenantry.env" placeholder:"FILE" help:"File to write the settings to, in the format of systemd's EnvironmentFile and of a shell. Default: tenantry.env."`
	Overwrite  bool   `help:"Overwrite the file without asking."`
	NoInput    bool   `help:"Ask nothing. All answers must be flags or environment variables."`
	NoDoctor   bool   `help:"Do not run doctor on the settings."`
	AdminEmail string `placeholder:"ADDRESS" help:"Email address of the first platform admin, who gets a random password. Default: none with --no-input."`
	AdminName  string `placeholder:"NAME" help:"Name of the first platform admin."`
}

// question is a question about a setting. An empty answer means fallback.
type question struct {
	name, prompt string
	fallback     string
	isSecret     bool // not shown while it is entered
	isOptional   bool
}

// questions are the settings that init asks for, in this order. They are also the first lines of
// the file.
var questions = []question{
	{name: "TENANTRY_PUBLIC_URL", prompt: "Public URL of the service, such as https://api.example.com"},
	{name: "TENANTRY_TRUSTED_PROXIES", prompt: "Addresses of the reverse proxies, such as 127.0.0.1, or empty without a proxy", isOptional: true},
	{name: "TENANTRY_DATA", prompt: "Data folder", fallback: "data"},
	{name: "TENANTRY_DATABASE_URL", prompt: "PostgreSQL URL (postgres://user:password@host/name), or empty for SQLite in the data folder", isOptional: true},
	{name: "TENANTRY_STRIPE_SECRET_KEY", prompt: "Stripe secret key (sk_… or rk_…)", isSecret: true},
	{name: "TENANTRY_STRIPE_WEBHOOK_SECRET", prompt: "Signing secret (whsec_…) of Stripe's webhook endpoint, which is the public URL followed by /api/v1/webhooks/stripe", isSecret: true},
	{name: "TENANTRY_SMTP_URL", prompt: "SMTP server (smtp://user:password@host or smtps://…)", isSecret: true},
	{name: "TENANTRY_MAIL_FROM", prompt: "Sender of emails, such as Example <no-reply@example.com>"},
}

// Run asks for the settings of serve, writes them to a file, creates the first admin and runs
// doctor.
func (c *initCmd) Run(ctx context.Context, command *kong.Context, p *process) error {
	file := c.givenSettings(command, p)
	if err := c.ask(ctx, file, p); err != nil {
		return err
	}
	if err := c.askLogins(ctx, &file, p); err != nil {
		return err
	}
	if err := file.check(); err != nil {
		return err
	}
	s, err := c.settingsOf(file)
	if err != nil {
		return err
	}
	if err := c.confirmOverwrite(ctx, p); err != nil {
		return err
	}
	if err := writeEnvFile(c.File, file); err != nil {
		return err
	}
	path, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	start := "tenantry serve"
	if s.StripeURL != nil {
		start += " --stripe-url " + s.StripeURL.String()
	}
	_, err = fmt.Fprintf(p.out, "wrote %s\nTo start the service: set -a; . %s; set +a; %s\n", path, quoteEnv(path), start)
	if err != nil {
		return err
	}
	if err := c.createAdmin(ctx, s, p); err != nil {
		return err
	}
	if c.NoDoctor {
		return nil
	}
	logins, err := settings.LoginProviders(file.environ())
	cfg := doctor.Config{Settings: s, SettingsError: err, Unknown: settings.UnknownVariables(p.environ(), variables(command.Model))}
	return app.Diagnose(ctx, cfg, logins, p.out, false)
}

// givenSettings returns the settings that are set as flags or environment variables.
func (c *initCmd) givenSettings(command *kong.Context, p *process) envFile {
	f := envFile{values: map[string]string{}}
	for _, q := range questions {
		f.names = append(f.names, q.name)
		if q.isSecret {
			f.values[q.name] = p.getenv(q.name)
		}
	}
	for _, flag := range command.Flags() {
		if len(flag.Envs) == 0 {
			continue
		}
		name, value := flag.Envs[0], flag.Target.String()
		if _, isSecret := f.values[name]; isSecret || value == "" {
			continue
		}
		if strings.HasSuffix(name, "_FILE") {
			if path, err := filepath.Abs(value); err == nil {
				value = path // serve can start in another folder
			}
		}
		f.set(name, value)
	}
	return f
}

// ask asks for the settings that are not given. It repeats a question until the answer is valid.
// With --no-input it returns an error for each missing setting.
func (c *initCmd) ask(ctx context.Context, f envFile, p *process) error {
	var missing []error
	for _, q := range questions {
		if f.values[q.name] != "" || f.values[q.name+"_FILE"] != "" {
			continue
		}
		for {
			value := ""
			if !c.NoInput {
				var err error
				if value, err = prompt(ctx, p, q.prompt, q.fallback, q.isSecret); err != nil {
					return fmt.Errorf("%s: %w", q.name, err)
				}
			}
			if value == "" {
				value = q.fallback
			}
			err := c.checkAnswer(ctx, f, q, value)
			if err == nil {
				break
			}
			if c.NoInput {
				missing = append(missing, err)
				break
			}
			_, _ = fmt.Fprintf(p.err, "%v\n", err)
		}
	}
	return errors.Join(missing...)
}

// checkAnswer stores an answer if it is valid by the rules of serve. It connects to PostgreSQL.
func (c *initCmd) checkAnswer(ctx context.Context, f envFile, q question, value string) error {
	if value == "" && !q.isOptional {
		return &settings.Error{Name: q.name, Reason: "required by init"}
	}
	f.values[q.name] = value
	s, err := c.settingsOf(f)
	for _, err := range splitErrors(err) {
		if wrong, ok := errors.AsType[*settings.Error](err); ok && wrong.Name == q.name {
			f.values[q.name] = ""
			return err
		}
	}
	if q.name != "TENANTRY_DATABASE_URL" || value == "" {
		return nil
	}
	if err := doctor.CheckServer(ctx, s); err != nil {
		f.values[q.name] = ""
		return fmt.Errorf("%w\nTo skip this check, use --database-url", err)
	}
	return nil
}

// settingsOf validates the answers as serve does. It makes the data folder absolute, because serve
// can start in another folder.
func (c *initCmd) settingsOf(f envFile) (settings.Settings, error) {
	flags := c.ServeFlags
	flags.PublicURL, flags.TrustedProxies = f.values["TENANTRY_PUBLIC_URL"], f.values["TENANTRY_TRUSTED_PROXIES"]
	flags.Data = f.values["TENANTRY_DATA"]
	flags.DatabaseURL, flags.MailFrom = f.values["TENANTRY_DATABASE_URL"], f.values["TENANTRY_MAIL_FROM"]
	s, err := flags.Settings(func(name string) string { return f.values[name] })
	if s.Data != "" && flags.Data != "" {
		f.values["TENANTRY_DATA"] = s.Data
	}
	return s, err
}

// confirmOverwrite asks before it replaces a file.
func (c *initCmd) confirmOverwrite(ctx context.Context, p *process) error {
	if _, err := os.Stat(c.File); c.Overwrite || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	exists := fmt.Errorf("--file: %s exists; choose another file, or pass --overwrite", c.File)
	if c.NoInput {
		return exists
	}
	answer, err := prompt(ctx, p, c.File+" exists. Overwrite it? (yes or no)", "no", false)
	if err != nil {
		return errors.Join(exists, err)
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return exists
	}
	return nil
}

// createAdmin migrates the database and creates the first admin, if the user wants one. It
// repeats the questions until the account is valid.
func (c *initCmd) createAdmin(ctx context.Context, s settings.Settings, p *process) error {
	admin := commands.AdminParams{Email: c.AdminEmail, Name: c.AdminName, Password: rand.Text()}
	isMigrated := false
	for {
		if err := c.askAdmin(ctx, &admin, p); err != nil || admin.Email == "" {
			return err
		}
		if !isMigrated {
			if err := errors.Join(s.KeepPrivate(), commands.Migrate(ctx, s, io.Discard, false)); err != nil {
				return err
			}
			isMigrated = true
		}
		err := commands.CreateAdmin(ctx, s, admin, p.out)
		if err == nil {
			_, err = fmt.Fprintf(p.out, "password: %s\n", admin.Password)
			return err
		}
		if c.NoInput {
			return fmt.Errorf("--admin-email, --admin-name: %w", err)
		}
		_, _ = fmt.Fprintf(p.err, "%v\n", err)
		admin.Email, admin.Name = "", ""
	}
}

// askAdmin asks for the missing details of the first admin. With an empty email address, no admin
// is created.
func (c *initCmd) askAdmin(ctx context.Context, admin *commands.AdminParams, p *process) (err error) {
	if c.NoInput {
		return nil
	}
	if admin.Email == "" {
		admin.Email, err = prompt(ctx, p, "Email address of the first platform admin, or empty for none", "", false)
		if err != nil {
			return fmt.Errorf("--admin-email: %w", err)
		}
	}
	if admin.Email != "" && admin.Name == "" {
		admin.Name, err = prompt(ctx, p, "Name of the admin", "", false)
		if err != nil {
			return fmt.Errorf("--admin-name: %w", err)
		}
	}
	return nil
}
