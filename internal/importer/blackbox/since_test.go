package blackbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/importer"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// logInGrace logs in the owner of the imported tenant.
func logInGrace(s *apptest.Server) apptest.Owner {
	s.T.Helper()
	token := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{
		"email":    "grace@example.com",
		"password": "nanoseconds and more",
	}).Want(200).Str("accessToken")
	tenant := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).Str("currentTenant.id")
	return apptest.Owner{Token: token, Tenant: tenant}
}

// wantWrong imports the files, expects the lines in the output and checks that nothing has changed.
func wantWrong(s *apptest.Server, f files, lines ...string) {
	s.T.Helper()
	before := counts(s)
	said, err := run(s, f, false)
	if !errors.Is(err, importer.ErrInvalidLines) {
		s.T.Errorf("the error is %v", err)
	}
	for _, line := range lines {
		if !strings.Contains(said, line) {
			s.T.Errorf("%q is missing in\n%s", line, said)
		}
	}
	if after := counts(s); after != before {
		s.T.Errorf("%s became %s", before, after)
	}
}

// A second import does not add members or accounts that were removed after the first.
func TestRemovedSince(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := company(t)
		want(s, f)
		o := logInGrace(s)
		id := s.CountRows(`SELECT id FROM users WHERE email = 'bob@example.com'`)
		s.Call("DELETE", o.Path("/team/members/")+strconv.Itoa(id), o.Token, nil).Want(200)
		want(s, f,
			"users: 0 created, 0 updated, 2 unchanged",
			"memberships: 0 created, 0 updated, 2 unchanged",
		)
		if n := s.CountRows(`SELECT count(*) FROM memberships WHERE user_id = $1`, id); n != 0 {
			t.Error("Bob is back in the team")
		}

		apptest.Exec(t, s.DB(), `DELETE FROM users WHERE id = $1`, id)
		want(s, f,
			"users: 0 created, 0 updated, 2 unchanged",
			"memberships: 0 created, 0 updated, 2 unchanged",
			"memberships.csv:3: note: email: the account was imported and was deleted here",
		)
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'bob@example.com'`); n != 0 {
			t.Error("Bob's account is back")
		}
		f["users"] = strings.ReplaceAll(f["users"], ",Bob,", ",Robert,")
		wantWrong(s, f, "users.csv:3: email: the user with this ID has a different address; users change their address themselves")
	})
}

// A second import does not restore a deleted tenant.
func TestTenantDeletedSince(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := company(t)
		want(s, f)
		o := logInGrace(s)
		apptest.Exec(t, s.DB(), `UPDATE tenants SET deleted_at = $2 WHERE id = $1`, o.Tenant, clock.System().Now())
		want(s, f, "tenants: 0 created, 0 updated, 1 unchanged")
		f["tenants"] = strings.ReplaceAll(f["tenants"], "Cobol & Co", "Fortran & Co")
		wantWrong(s, f, "tenants.csv:2: id: this organization was imported and deleted before")
	})
}

// An import does not change accounts that existed before it.
func TestAccountsBefore(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.RegisterAlone("Ada", "ada@example.com")
		apptest.Exec(t, s.DB(), `UPDATE users SET email_verified_at = created_at WHERE email = 'ada@example.com'`)
		f := files{
			"users": "id,email,name,password_hash\n" +
				"1,ada@example.com,Somebody,\n" +
				"2,admin@tenantry.test,Nobody," + hash(t, "nanoseconds and more") + "\n",
			"tenants":     "id,name,owner_email\nc1,Engines,ada@example.com\n",
			"memberships": "tenant,email\nc1,ada@example.com\n",
		}
		want(s, f,
			"users.csv:2: note: there is an account with this address, which stays as it is",
			"users.csv:3: note: there is an account with this address, which stays as it is",
			"users: 0 created, 0 updated, 2 unchanged",
			"tenants: 1 created, 0 updated, 0 unchanged",
			"memberships.csv:2: note: role: is the owner, and stays so",
		)
		f["users"] = strings.ReplaceAll(f["users"], "Somebody", "Anybody")
		want(s, f, "users.csv:2: note: there was an account with this address before; it stays as it is")
		token := s.LogIn("ada@example.com")
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).
			WantAt("user.name", "Ada").
			WantAt("currentTenant.name", "Engines").
			WantAt("currentTenant.onboardingCompletedAt", nil) // there are no billing details yet
		s.Admin() // the admin password is unchanged
	})
}

// An import does not change a platform admin, even if an earlier import created the account.
func TestAdminsStay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := company(t)
		want(s, f)
		apptest.Exec(t, s.DB(), `UPDATE users SET is_platform_admin = true WHERE email = 'bob@example.com'`)
		f["users"] = strings.ReplaceAll(f["users"], ",Bob,,false,", ",Robert,,true,")
		want(s, f, "users.csv:3: note: is a platform admin by now, whom no import changes", "users: 0 created, 0 updated, 2 unchanged")
		if n := s.CountRows(`SELECT count(*) FROM users WHERE name = 'Robert'`); n != 0 {
			t.Error("an import has renamed an admin")
		}
	})
}

// Two concurrent imports create each resource once. If one of them fails, repeating it succeeds.
func TestTwoImportsAtOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		before := s.CountRows(`SELECT count(*) FROM users`)
		f := company(t)
		for i := range 40 {
			f["users"] += strconv.Itoa(100+i) + ",user" + strconv.Itoa(i) + "@example.com,User,,,\r\n"
			f["memberships"] += "c1,user" + strconv.Itoa(i) + "@example.com,\n"
		}
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _, _ = run(s, f, false) }) // the loser of a race may fail
		}
		wg.Wait()
		want(s, f)
		want(s, f, "users: 0 created, 0 updated, 42 unchanged", "memberships: 0 created, 0 updated, 42 unchanged")
		for query, n := range map[string]int{
			`SELECT count(*) FROM users`:                                           before + 42,
			`SELECT count(*) FROM tenants WHERE name = 'Cobol & Co'`:               1,
			`SELECT count(*) FROM audit_logs WHERE action = 'user.imported'`:       42,
			`SELECT count(*) FROM audit_logs WHERE action = 'member.added'`:        41,
			`SELECT count(*) FROM imported WHERE kind = 'membership'`:              42,
			`SELECT count(DISTINCT resource_id) FROM imported WHERE kind = 'user'`: 42,
		} {
			if got := s.CountRows(query); got != n {
				t.Errorf("%s: %d, want %d", query, got, n)
			}
		}
	})
}

// A subscription that does not fit the tenant is rejected with the reason.
func TestSubscriptionsThatDoNotFit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		mine := k.AddSubscriber("other", "starter").Str("id")
		price := s.ProviderPriceOf(s.PlanID(k.Names["other"], "starter"))
		customer := s.AtProvider("POST", "/customers", "name", "Cobol Ltd").Str("id")
		ended := k.SubscribeAtProvider(customer, price)
		s.AtProvider("DELETE", "/subscriptions/"+ended)
		running := k.SubscribeAtProvider(customer, price)
		s.AwaitNotifications()
		f := company(t)
		want(s, f)

		header := "tenant,psp_subscription_id\n"
		f["subscriptions"] = header + "c1," + ended + "\n"
		wantWrong(s, f, "subscriptions.csv:2: psp_subscription_id: has ended at Stripe (canceled)")
		f["subscriptions"] = header + "c1," + mine + "\n"
		wantWrong(s, f, "subscriptions.csv:2: psp_subscription_id: belongs to another organization")
		f["subscriptions"] = header + "c1," + running + "\nc1," + running + "\n"
		wantWrong(s, f,
			"subscriptions.csv:3: psp_subscription_id: \""+running+"\" also appears in an earlier line",
			"subscriptions.csv:3: tenant: \"c1\" also appears in an earlier line",
		)
		f["subscriptions"] = header + "c9," + running + "\n"
		wantWrong(s, f, "subscriptions.csv:2: tenant: no organization with this ID was imported")

		f["subscriptions"] = header + "c1," + running + "\n"
		want(s, f, "subscriptions: 1 created, 0 updated, 0 unchanged")
		second := k.SubscribeAtProvider(customer, price)
		f["subscriptions"] = header + "c1," + second + "\n"
		wantWrong(s, f, "subscriptions.csv:2: tenant: already has a subscription")
	})
}

// Only subscriptions need a Stripe key.
func TestWithoutKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		config, dir := s.CLISettings(), t.TempDir()
		config.StripeSecretKey, config.StripeURL = "", nil
		write := func(name, text string) string {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		users := write("people.csv", "id,email,name\n1,ada@example.com,Ada\n")
		subscriptions := write("subs.csv", "tenant,psp_subscription_id\nc1,sub_1\n")
		var out strings.Builder
		params := app.ImportParams{Users: users, Subscriptions: subscriptions, Out: &out, Notes: &out}
		err := app.Import(t.Context(), config, params)
		if wrong, ok := errors.AsType[*settings.Error](err); !ok || wrong.Name != "TENANTRY_STRIPE_SECRET_KEY" {
			t.Errorf("without a key: %v", err)
		}
		params.Subscriptions = ""
		if err := app.Import(t.Context(), config, params); err != nil {
			t.Error(err)
		}
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'ada@example.com'`); n != 1 {
			t.Errorf("the user was not imported:\n%s", out.String())
		}
	})
}

// A file passed by name replaces the file of the same kind in the directory. The others come from
// the directory.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"users.csv":   "id,email,name\n1,not@example.com,Not this one\n",
			"people.csv":  "id,email,name\n1,ada@example.com,Ada\n",
			"tenants.csv": "id,name,owner_email\nc1,Engines,ada@example.com\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		params := app.ImportParams{Dir: dir, Users: filepath.Join(dir, "people.csv"), Out: &out, Notes: &out}
		if err := app.Import(t.Context(), s.CLISettings(), params); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'not@example.com'`); n != 0 {
			t.Error("file of the folder was imported as well")
		}
		if n := s.CountRows(`SELECT count(*) FROM tenants WHERE name = 'Engines'`); n != 1 {
			t.Errorf("the folder's other file was not imported:\n%s", out.String())
		}
		params.Users = filepath.Join(dir, "none.csv")
		if err := app.Import(t.Context(), s.CLISettings(), params); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a missing file: %v", err)
		}
	})
}
