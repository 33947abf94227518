package blackbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/importer"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

// Users keep the authenticator app that they have used with the other system. They have no recovery
// codes until they generate some.
func TestImportTOTP(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			config := apptest.NewSettings(t, dialect)
			s := apptest.StartWith(t, config)
			const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
			users := func(totp string) string {
				return "id,email,name,verified,password_hash,totp_secret\n7,grace@example.com,Grace,true," + hash(t, "nanoseconds and more") + "," + totp + "\n"
			}
			importUsers := func(c settings.Settings, text string) (string, error) {
				path := filepath.Join(t.TempDir(), "users.csv")
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				var out strings.Builder
				err := app.Import(t.Context(), c, app.ImportParams{Users: path, Out: &out, Notes: &out})
				if strings.Contains(out.String(), secret) {
					t.Errorf("the output contains the secret: %s", out.String())
				}
				return out.String(), err
			}
			before := counts(s)
			// Without the service's key, nothing is imported, and no key is created.
			elsewhere := s.CLISettings()
			elsewhere.SecretsKeyFile = filepath.Join(t.TempDir(), "other.key")
			said, err := importUsers(elsewhere, users(secret))
			if !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "totp_secret: needs the service's secrets key") {
				t.Errorf("%v\n%s", err, said)
			}
			if _, err := os.Stat(elsewhere.SecretsKeyFile); err == nil {
				t.Error("the import created a key")
			}
			own := s.CLISettings()
			own.SecretsKeyFile = config.SecretsKey()
			if said, err := importUsers(own, users("no secret")); !errors.Is(err, importer.ErrInvalidLines) || counts(s) != before {
				t.Errorf("%v\n%s", err, said)
			}
			for _, want := range []string{"users: 1 created, 0 updated, 0 unchanged", "users: 0 created, 0 updated, 1 unchanged"} {
				if said, err := importUsers(own, users(strings.ToLower(secret))); err != nil || !strings.Contains(said, want) {
					t.Errorf("%v\n%s", err, said)
				}
			}
			// The secret is only read for new accounts, so another secret changes nothing.
			if said, err := importUsers(own, users(strings.Repeat("A", 32))); err != nil || !strings.Contains(said, "1 unchanged") {
				t.Errorf("%v\n%s", err, said)
			}
			if n := s.CountRows("SELECT count(*) FROM user_totp WHERE secret LIKE $1", "%"+secret+"%"); n != 0 {
				t.Error("the secret is not encrypted")
			}

			login := apptest.Object{"email": "grace@example.com", "password": "nanoseconds and more"}
			challenge := s.Call("POST", "/api/v1/auth/login", "", login).Want(403).WantAt("code", "MFA_REQUIRED").WantAt("factors", []any{"totp"}).Str("challenge")
			code := factortest.Code(t, secret, s.Now())
			token := s.Call("POST", "/api/v1/auth/mfa", "", apptest.Object{"challenge": challenge, "code": code}).Want(200).Str("accessToken")
			s.Call("GET", "/api/v1/user/factors", token, nil).Want(200).WantAt("data.mfa_enabled", true).WantAt("data.recovery_codes", nil)
			again := s.Call("POST", "/api/v1/auth/login", "", login).Want(403).Str("challenge")
			s.Call("POST", "/api/v1/auth/mfa", "", apptest.Object{"challenge": again, "code": code}).WantRefused(401, "INVALID_MFA_CODE") // used
			s.Advance(30e9)
			confirmed := apptest.Object{"current_password": login["password"], "code": factortest.Code(t, secret, s.Now())}
			s.Call("POST", "/api/v1/user/recovery-codes", token, confirmed).Want(200)
			s.Call("GET", "/api/v1/user/factors", token, nil).Want(200).WantAt("data.recovery_codes.remaining", 10.0)
		})
	}
}
