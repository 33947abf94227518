package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/token"
	"github.com/tenantry/tenantry/sandbox"
)

// RotateKeys makes the next key sign tokens. Running servers use the key immediately, because they
// read the keys from the database.
func RotateKeys(ctx context.Context, s settings.Settings, out io.Writer) (err error) {
	db, err := commands.OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer commands.CloseJoining(db, &err)
	secret, err := secrets.Read(ctx, db, s.SecretsKey())
	if err != nil {
		return &settings.Error{Name: "TENANTRY_SECRETS_KEY_FILE", Reason: err.Error()}
	}
	now, err := clockOf(ctx, s)
	if err != nil {
		return err
	}
	keys := token.NewKeys(token.KeysDeps{DB: db, Clock: now, Secrets: secret, Audit: audit.New(audit.Deps{DB: db, Clock: now})})
	id, err := keys.Rotate(ctx)
	if err == nil {
		_, err = fmt.Fprintf(out, "Rotated the signing keys: %s signs tokens now.\n", id)
	}
	return err
}

// clockOf returns the clock of the service whose data folder is in the settings: the system's
// clock, or the sandbox's clock, which may have been moved.
func clockOf(ctx context.Context, s settings.Settings) (clock.Clock, error) {
	file := filepath.Join(s.Data, settings.SandboxFile)
	if _, err := os.Stat(file); err != nil {
		return clock.System(), nil //nolint:nilerr // There is no sandbox here.
	}
	world, err := sandbox.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	return clock.NewFixed(world.Clock().Now()), errors.Join(world.Close())
}
