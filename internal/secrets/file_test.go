package secrets

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// insertSecret stores a secret of the key.
func insertSecret(t *testing.T, db *sqldb.DB, key *Key) {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	conn := db.Conn(t.Context())
	_, err := conn.ExecContext(t.Context(), `INSERT INTO users (id, name, email, created_at, updated_at) VALUES (1, 'Ada', 'ada@example.com', $1, $1)`, now)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.ExecContext(t.Context(), `INSERT INTO user_totp (user_id, secret, created_at) VALUES (1, $1, $2)`, key.Seal("user_totp:1", "secret"), now)
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoadCreatesTheFileOnlyWithoutSecrets(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		ctx, path := t.Context(), filepath.Join(t.TempDir(), "keys", FileName)
		if _, err := Read(ctx, db, path); !IsMissing(err) {
			t.Errorf("without a file: %v", err)
		}
		key := load(t, db, path)
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file has the mode %v, %v", info.Mode(), err)
		}
		if again := load(t, db, path); again.id != key.id {
			t.Error("the second start has another key")
		}
		if err := os.WriteFile(path, []byte(" \n"), 0o600); err != nil {
			t.Fatal(err)
		}
		key = load(t, db, path) // an empty file, still without a secret
		insertSecret(t, db, key)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, other := range map[string]string{"empty": "", "another key": generate(), "no key": "hello"} {
			if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, db, path, name)
			if got, _ := os.ReadFile(path); string(got) != other {
				t.Errorf("%s: the file was changed", name)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		refused(t, db, path, "missing")
		if _, err := os.Stat(path); err == nil {
			t.Error("a new file was created next to a secret")
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		load(t, db, path)
	})
}

func load(t *testing.T, db *sqldb.DB, path string) *Key {
	t.Helper()
	key, err := Load(t.Context(), db, path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// refused checks that Load fails and names the file.
func refused(t *testing.T, db *sqldb.DB, path, name string) {
	t.Helper()
	if _, err := Load(t.Context(), db, path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("%s: %v", name, err)
	}
}

// Processes that start at the same time must get the same key.
func TestConcurrentStartsCreateOneKey(t *testing.T) {
	t.Parallel()
	db, path := dbtest.New(t, sqldb.SQLite), filepath.Join(t.TempDir(), FileName)
	var group sync.WaitGroup
	ids, errs := make([]string, 8), make([]error, 8)
	for i := range ids {
		group.Go(func() {
			var key *Key
			if key, errs[i] = Load(context.Background(), db, path); errs[i] == nil {
				ids[i] = key.id
			}
		})
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("different keys: %v", ids)
		}
	}
}
