package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/importer"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// ImportParams configures an import.
type ImportParams struct {
	Dir                                        string // folder of files with the default names; "" for none
	Users, Tenants, Memberships, Subscriptions string // paths; "" takes the file of Dir
	DryRun                                     bool
	Out, Notes                                 io.Writer
}

// Import imports users, tenants, memberships and subscriptions from another system. A service can
// run on the same database at the same time.
func Import(ctx context.Context, s settings.Settings, p ImportParams) (err error) {
	files, err := p.files()
	if err != nil {
		return err
	}
	if files.Subscriptions != "" && s.StripeSecretKey == "" {
		return &settings.Error{Name: "TENANTRY_STRIPE_SECRET_KEY", Reason: "required to read subscriptions at Stripe"}
	}
	provider := environment{clock: clock.System(), pspKey: s.StripeSecretKey, webhookSecrets: []string{"none is received"}}
	if s.StripeSecretKey == "" {
		provider.pspKey = "none" // an import without subscriptions does not call the provider
	}
	if s.StripeURL != nil {
		provider.pspBaseURL = s.StripeURL.String()
	}
	db, err := commands.OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer commands.CloseJoining(db, &err)
	key, keyErr := secrets.Read(ctx, db, s.SecretsKey())
	if sqldb.IsUnavailable(keyErr) {
		return keyErr
	}
	provider.secrets = key // only needed for TOTP secrets
	// An import sends no mail and creates no link, so the URLs do not matter. The running service
	// executes the jobs.
	s.PublicURL = &url.URL{Scheme: "http", Host: "localhost"}
	s.FrontendURL = s.PublicURL
	platform, err := newPlatform(s, db, provider, commands.NewLog(os.Stderr, s))
	if err != nil {
		return err
	}
	d, err := newDomains(platform, provider)
	if err != nil {
		return err
	}
	return importer.New(importer.Deps{
		DB: db, Clock: provider.clock, Accounts: d.accounts, Tenants: d.tenants, Team: d.team, Subscriptions: d.subscriptions,
		Catalog: d.catalog, Provider: platform.provider, Audit: d.audit, Factors: d.factors, SecretsKeyErr: keyErr,
	}).Import(ctx, importer.Run{Files: files, DryRun: p.DryRun, Out: p.Out, Notes: p.Notes})
}

// files returns the files that exist.
func (p ImportParams) files() (importer.Files, error) {
	f := importer.Files{Users: p.Users, Tenants: p.Tenants, Memberships: p.Memberships, Subscriptions: p.Subscriptions}
	if p.Dir != "" {
		for name, file := range map[string]*string{
			"users.csv": &f.Users, "tenants.csv": &f.Tenants, "memberships.csv": &f.Memberships, "subscriptions.csv": &f.Subscriptions,
		} {
			path := filepath.Join(p.Dir, name)
			_, err := os.Stat(path)
			switch {
			case *file != "" || errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return f, &settings.Error{Name: "DIR", Reason: err.Error()}
			default:
				*file = path
			}
		}
	}
	if f == (importer.Files{}) {
		return f, &settings.Error{Name: "DIR", Reason: "nothing to import: pass a folder with users.csv, tenants.csv, memberships.csv or subscriptions.csv, or single files"}
	}
	return f, nil
}
