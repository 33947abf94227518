package commands

import (
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/apikey"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/webhook"
)

// CreateAPIKey creates a platform API key and writes its secret, which cannot be shown again.
func CreateAPIKey(ctx context.Context, s settings.Settings, name string, scopes []string, out io.Writer) (err error) {
	name = shape.NormalText(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > 255 || !shape.IsName(name) {
		return &settings.Error{Name: "--name", Reason: "must have 1 to 255 characters, without control, format or private-use characters"}
	}
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	keys := apikey.NewService(apikey.Deps{
		DB: db, Clock: clock.System(), Audit: audit.New(audit.Deps{DB: db, Clock: clock.System()}),
		Events: webhook.NewOutbox(db, clock.System()),
	})
	key, secret, err := keys.Create(ctx, nil, apikey.Terms{Name: name, Scopes: scopes})
	if errors.Is(err, apikey.ErrUnknownScope) {
		return &settings.Error{Name: "--scope", Reason: "must be one of " + strings.Join(authz.PlatformScopes(), ", ")}
	}
	return printResult(out, err, "created platform API key %s (ID %s) with %s; it is shown only once:\n%s\n",
		key.Name, key.ID, strings.Join(key.Scopes, ", "), secret)
}
