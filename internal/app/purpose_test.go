package app

import (
	"errors"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// A sandbox database cannot be opened in production or practice, because its passwords are public, and
// a database of production or practice cannot be opened in a sandbox.
func TestDatabaseHasOnePurpose(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			for _, purposes := range [][2]string{
				{sandboxed, production}, {production, sandboxed}, {sandboxed, practice}, {practice, sandboxed}, {practice, production}, {production, practice},
			} {
				s := settings.Settings{DatabaseURL: settings.Secret(dbtest.URL(t, dialect)), DatabasePatience: dbtest.ConnTimeout}
				for _, purpose := range []string{purposes[0], purposes[0]} {
					db, err := openFor(t.Context(), s, purpose)
					if err != nil {
						t.Fatal(err)
					}
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
				_, err := openFor(t.Context(), s, purposes[1])
				setting, ok := errors.AsType[*settings.Error](err)
				if !ok || setting.Name != "TENANTRY_DATABASE_URL" {
					t.Errorf("%s after %s: %v", purposes[1], purposes[0], err)
				}
			}
		})
	}
}

// The service does not start with a base currency that is not active.
func TestBaseCurrencyIsActive(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := settings.Settings{DatabaseURL: settings.Secret(dbtest.URL(t, dialect)), DatabasePatience: dbtest.ConnTimeout, BaseCurrency: "EUR"}
			db, err := openFor(t.Context(), s, production)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Conn(t.Context()).ExecContext(t.Context(), `UPDATE currencies SET is_active = false WHERE code = 'GBP'`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for _, code := range []string{"GBP", "CHF"} {
				s.BaseCurrency = code
				_, err := openFor(t.Context(), s, production)
				if setting, ok := errors.AsType[*settings.Error](err); !ok || setting.Name != "TENANTRY_BASE_CURRENCY" {
					t.Errorf("%s: %v", code, err)
				}
			}
		})
	}
}
