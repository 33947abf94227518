package token_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// keyIDs returns the IDs of the published keys.
func keyIDs(s *apptest.Server) []string {
	s.T.Helper()
	var ids []string
	for _, k := range keySet(s).Keys {
		ids = append(ids, k.KeyID)
	}
	return ids
}

// signingKey returns the ID of the key that signs.
func signingKey(s *apptest.Server, caller string) string {
	s.T.Helper()
	_, id := verify(s, s.Call("POST", tokenPath, caller, nil).Want(200).Str("data.token"))
	return id
}

func TestKeySet(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		count := func() int { return s.CountRows("SELECT count(*) FROM signing_keys") }
		if n := count(); n != 0 {
			t.Errorf("a new installation has %d keys", n)
		}
		answer := s.Call("GET", keysPath, "", nil).Want(200)
		if got := answer.Header.Get("Cache-Control"); got != "public, max-age=300" {
			t.Errorf("Cache-Control %q", got)
		}
		keys, _ := answer.At("keys").([]any)
		if len(keys) != 2 {
			t.Fatalf("%d keys", len(keys))
		}
		first := answer.Str("keys.0.kid")
		for _, k := range keys {
			k := k.(object)
			for _, name := range []string{"kid", "x", "y"} {
				if text, _ := k[name].(string); len(text) != 43 {
					t.Errorf("%s is %q", name, text)
				}
				delete(k, name)
			}
			if diff := cmp.Diff(object{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig"}, k); diff != "" {
				t.Error(diff)
			}
		}
		ada := s.Register("ada@example.com", true)
		if id := signingKey(s, ada.Token); id != first || count() != 2 {
			t.Errorf("key %s signs, want %s", id, first)
		}
	})
}

// Many first requests create one pair of keys.
func TestConcurrentFirstUse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		var wg sync.WaitGroup
		replies := make([]apptest.Reply, 24)
		for i := range replies {
			wg.Go(func() {
				if i%2 == 0 {
					replies[i] = s.Call("GET", keysPath, "", nil)
				} else {
					replies[i] = s.Call("POST", tokenPath, ada.Token, nil)
				}
			})
		}
		wg.Wait()
		want := keyIDs(s)
		if len(want) != 2 {
			t.Fatalf("keys %v", want)
		}
		for i, reply := range replies {
			reply.Want(200)
			if i%2 == 1 {
				if _, id := verify(s, reply.Str("data.token")); id != want[0] {
					t.Errorf("key %s signed, want %s", id, want[0])
				}
			} else if reply.Str("keys.0.kid") != want[0] || reply.Str("keys.1.kid") != want[1] {
				t.Errorf("%s, want %v", reply.Text, want)
			}
		}
	})
}

// After the command "tenantry keys rotate", the next key signs. The former key is published for 7
// more days.
func TestRotation(t *testing.T) {
	t.Parallel()
	for _, dialect := range []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			config := apptest.NewSettings(t, dialect)
			s := apptest.StartWith(t, config)
			ada := s.Register("ada@example.com", true)
			token := s.Call("POST", tokenPath, ada.Token, nil).Want(200).Str("data.token")
			first := keyIDs(s)
			s.Advance(30 * apptest.Day) // the command uses the sandbox's clock
			var out bytes.Buffer
			if err := app.RotateKeys(t.Context(), config, &out); err != nil {
				t.Fatal(err)
			}
			ada.Token = s.LogIn("ada@example.com")
			second := keyIDs(s)
			if id := signingKey(s, ada.Token); id != first[1] || !strings.Contains(out.String(), id) {
				t.Errorf("key %s signs, the keys were %v, and the command wrote %s", id, first, &out)
			}
			if len(second) != 3 || !slices.Equal(second[:2], first) {
				t.Errorf("keys %v, were %v", second, first)
			}
			verify(s, token) // signed by the former key
			trail := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=signing_key.rotated", s.Admin(), nil).Want(200)
			if rows := trail.At("data").([]any); len(rows) != 1 || trail.At("data.0.after.kid") != first[1] || trail.At("data.0.before.kid") != first[0] {
				t.Errorf("trail: %s", trail.Text)
			}
			s.Advance(7*apptest.Day - time.Hour)
			if got := keyIDs(s); !slices.Equal(got, second) {
				t.Errorf("before 7 days: %v", got)
			}
			s.Advance(2 * time.Hour)
			if got := keyIDs(s); !slices.Equal(got, second[1:]) {
				t.Errorf("after 7 days: %v", got)
			}

			// Keys are rotated every 90 days.
			s.Advance(90 * apptest.Day)
			apptest.Eventually(t, "the rotation", func() bool { return len(keyIDs(s)) == 3 })
			ada.Token = s.LogIn("ada@example.com")
			if id := signingKey(s, ada.Token); id != second[2] {
				t.Errorf("key %s signs, the keys were %v", id, second)
			}
			if n := s.CountRows("SELECT count(*) FROM signing_keys WHERE private_key IS NOT NULL"); n != 2 {
				t.Errorf("%d private keys", n)
			}
		})
	}
}

// Concurrent rotations leave two keys in use and lose no key that has signed.
func TestConcurrentRotations(t *testing.T) {
	t.Parallel()
	for _, dialect := range []sqldb.Dialect{sqldb.SQLite, sqldb.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			config := apptest.NewSettings(t, dialect)
			s := apptest.StartWith(t, config)
			rotateMany(t, config, 4)
			if ids := keyIDs(s); len(ids) != 6 {
				t.Errorf("keys %v", ids)
			}
			used := s.CountRows("SELECT count(*) FROM signing_keys WHERE retired_at IS NULL AND private_key IS NOT NULL")
			current := s.CountRows("SELECT count(*) FROM signing_keys WHERE retired_at IS NULL AND active_at IS NOT NULL")
			if used != 2 || current != 1 {
				t.Errorf("%d keys in use, %d of them sign", used, current)
			}
		})
	}
}

// A private key can only be read with the key file, and only in its row.
func TestPrivateKeysAreEncrypted(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		signingKey(s, ada.Token)
		if n := s.CountRows("SELECT count(*) FROM signing_keys WHERE private_key LIKE '________.%'"); n != 2 { // see package secrets
			t.Errorf("%d encrypted keys", n)
		}
		// A private key that is copied to another row cannot be used.
		apptest.Exec(t, s.DB(), "UPDATE signing_keys SET private_key = (SELECT n.private_key FROM signing_keys n WHERE n.number = 2) WHERE number = 1")
		s.Call("POST", tokenPath, ada.Token, nil).Want(500)
	})
}

// rotateMany runs n concurrent rotations.
func rotateMany(t *testing.T, config settings.Settings, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if err := app.RotateKeys(t.Context(), config, &bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
