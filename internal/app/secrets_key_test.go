package app_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// With a secret in the database, a missing, empty or different key file stops the start. The message
// names the file and the setting, and no file is created.
func TestStartNeedsTheSecretsKey(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			config := apptest.NewSettings(t, dialect)
			s := apptest.StartWith(t, config)
			ada := s.Register("ada@example.com", true)
			apptest.Exec(t, s.DB(), `UPDATE users SET email_verified_at = created_at`)
			s.Call("POST", "/api/v1/user/factors/totp", ada.Token, object{"current_password": "correct horse"}).Want(201)
			if err := s.Stop(); err != nil {
				t.Fatal(err)
			}
			file := config.SecretsKey()
			for name, damage := range map[string]func() error{
				"missing": func() error { return os.Remove(file) },
				"empty":   func() error { return os.WriteFile(file, nil, 0o600) },
				"another": func() error {
					return os.WriteFile(file, []byte("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"), 0o600)
				},
			} {
				if err := damage(); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				err := app.Dev(ctx, config, io.Discard, io.Discard)
				cancel()
				wrong, ok := errors.AsType[*settings.Error](err)
				if !ok || wrong.Name != "TENANTRY_SECRETS_KEY_FILE" || !strings.Contains(err.Error(), file) {
					t.Errorf("%s: %v", name, err)
				}
				if _, err := os.Stat(file); name == "missing" && err == nil {
					t.Error("a new file was created")
				}
				if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
