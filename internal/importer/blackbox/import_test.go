package blackbox_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/importer"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// files maps the names of CSV files, without ".csv", to their content.
type files map[string]string

// run imports the files while the server runs. It returns the output, with file names relative to
// the directory.
func run(s *apptest.Server, f files, dryRun bool) (string, error) {
	s.T.Helper()
	dir := s.T.TempDir()
	for name, text := range f {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o600); err != nil {
			s.T.Fatal(err)
		}
	}
	var out strings.Builder
	err := app.Import(s.T.Context(), s.CLISettings(), app.ImportParams{Dir: dir, DryRun: dryRun, Out: &out, Notes: &out})
	return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), ""), err
}

// want imports the files and checks that the output contains the lines.
func want(s *apptest.Server, f files, lines ...string) {
	s.T.Helper()
	said, err := run(s, f, false)
	if err != nil {
		s.T.Fatalf("%v\n%s", err, said)
	}
	for _, line := range lines {
		if !strings.Contains(said, line+"\n") {
			s.T.Errorf("%q is missing in\n%s", line, said)
		}
	}
}

func hash(t testing.TB, password string) string {
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// company returns the files of a tenant with two members.
func company(t testing.TB) files {
	return files{
		"users": "\ufeffid,email,name,locale,verified,password_hash\r\n" +
			"7,Grace@Example.com,\"Hopper, Grace\",fr,true," + hash(t, "nanoseconds and more") + "\r\n" +
			"8,bob@example.com,Bob,,false,\r\n",
		"tenants": "id,name,owner_email,slug,legal_name,address,city,postal_code,country,billing_email\n" +
			"c1,Cobol & Co,grace@example.com,cobol,Cobol Ltd,\"1 Main Street\nFloor 2\",London,N1,GB,Bills@example.com\n",
		"memberships": "tenant,email,role\nc1,grace@example.com,owner\nc1,bob@example.com,admin\n",
	}
}

func counts(s *apptest.Server) string {
	return fmt.Sprint(s.CountRows(`SELECT count(*) FROM users`), s.CountRows(`SELECT count(*) FROM tenants`),
		s.CountRows(`SELECT count(*) FROM memberships`), s.CountRows(`SELECT count(*) FROM imported`),
		s.CountRows(`SELECT count(*) FROM audit_logs`), s.CountRows(`SELECT count(*) FROM psp_customers`))
}

// Searches find imported tenants and users.
func TestImportedAreFound(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		want(s, company(t))
		for q, group := range map[string]string{"cobol": "tenants", "bob@example.com": "tenants", "hopper gra": "users", "grace@ex": "users"} {
			found, _ := s.Call("GET", "/api/v1/admin/search?q="+url.QueryEscape(q), s.Admin(), nil).Want(200).At("data." + group).([]any)
			if len(found) != 1 {
				t.Errorf("%q finds %v", q, found)
			}
		}
	})
}

// A company is imported while the server runs. Its users log in with their existing passwords, and
// a second import changes nothing.
func TestImport(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f, before := company(t), counts(s)
		said, err := run(s, f, true)
		if err != nil || !strings.Contains(said, "users: 2 to create, 0 to update, 0 unchanged\ntenants: 1 to create, 0 to update, 0 unchanged\nmemberships: 1 to create") {
			t.Fatalf("%v\n%s", err, said)
		}
		if after := counts(s); after != before {
			t.Errorf("the dry run changed %s to %s", before, after)
		}
		want(s, f, "users: 2 created, 0 updated, 0 unchanged", "tenants: 1 created, 0 updated, 0 unchanged", "memberships: 1 created, 0 updated, 1 unchanged")

		login := apptest.Object{"email": "grace@example.com", "password": "not this one"}
		s.Call("POST", "/api/v1/auth/login", "", login).Want(401)
		login["password"] = "nanoseconds and more"
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'grace@example.com' AND password_hash LIKE '$2a$%'`); n != 1 {
			t.Error("the stored password hash differs from the imported hash")
		}
		token := s.Call("POST", "/api/v1/auth/login", "", login).Want(200).Str("accessToken")
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'grace@example.com' AND password_hash LIKE '$argon2id$%'`); n != 1 {
			t.Error("the hash was not renewed at the login")
		}
		s.Call("POST", "/api/v1/auth/login", "", login).Want(200)
		s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).WantAt("user.name", "Hopper, Grace")
		tenant := s.Call("GET", "/api/v1/tenant", token, nil).Want(200).
			WantAt("data.slug", "cobol").WantAt("data.address", "1 Main Street\nFloor 2").WantAt("data.billing_email", "bills@example.com").
			WantAt("data.has_billing_details", true).WantAt("data.user_role", "owner")
		if len(tenant.At("data.users").([]any)) != 2 || tenant.At("data.onboarding_completed_at") == nil {
			t.Errorf("the tenant is %s", tenant.Text)
		}
		if mails := s.Mails("bob@example.com"); len(mails) != 0 {
			t.Errorf("mails were sent: %v", mails)
		}
		s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "bob@example.com", "password": "nanoseconds and more"}).Want(401)

		before = counts(s)
		want(s, f, "users: 0 created, 0 updated, 2 unchanged", "tenants: 0 created, 0 updated, 1 unchanged", "memberships: 0 created, 0 updated, 2 unchanged")
		if after := counts(s); after != before {
			t.Errorf("the repetition changed %s to %s", before, after)
		}
	})
}

// A second import applies changed lines, except to fields that users have changed since the first
// import.
func TestImportAgain(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		f := company(t)
		want(s, f)
		token := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "grace@example.com", "password": "nanoseconds and more"}).
			Want(200).Str("accessToken")
		s.Call("PATCH", "/api/v1/tenant", token, apptest.Object{"name": "Renamed here"}).Want(200)
		f["users"] = strings.ReplaceAll(f["users"], ",Bob,,false,", ",Robert,it,true,")
		f["memberships"] = strings.ReplaceAll(f["memberships"], "bob@example.com,admin", "bob@example.com,member")
		want(s, f, "users: 0 created, 1 updated, 1 unchanged", "tenants: 0 created, 0 updated, 1 unchanged", "memberships: 0 created, 1 updated, 1 unchanged",
			"users.csv:3: note: locale: counts for new accounts alone; people choose their language themselves")
		s.Call("GET", "/api/v1/tenant", token, nil).Want(200).WantAt("data.name", "Renamed here")
		if n := s.CountRows(`SELECT count(*) FROM users WHERE email = 'bob@example.com' AND name = 'Robert' AND email_verified_at IS NOT NULL`); n != 1 {
			t.Error("Bob did not change")
		}
		f["tenants"] = strings.ReplaceAll(strings.ReplaceAll(f["tenants"], "Cobol & Co", "Fortran & Co"), ",cobol,", ",fortran,")
		want(s, f, "tenants: 0 created, 1 updated, 0 unchanged", "tenants.csv:2: note: slug: stays cobol, because links contain it")
		s.Call("GET", "/api/v1/tenant", token, nil).Want(200).WantAt("data.name", "Fortran & Co").WantAt("data.slug", "cobol")
	})
}

// An import with invalid lines reports all problems with line and field, and imports nothing.
func TestWrongLines(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.Register("taken@example.com", true)
		s.RegisterAlone("Mallory", "mallory@example.com")
		before := counts(s)
		said, err := run(s, files{
			"users": "id,email,name,verified,password_hash,locale\n" +
				"1,ok@example.com,Ok,true,,en\n" +
				"2,nowhere,Name,yes,plain,xx\n" +
				"1,other@example.com,Other,true,,\n" +
				"3,OK@example.com,Again,true,,\n" +
				"4,short@example.com\n" +
				"5,mallory@example.com,Mallory,true,,\n" +
				"6,bad@example.com,\xff,true,,\n" +
				"7,,Empty,true,,\n" +
				"8,dear@example.com,Dear,true," + "$2a$20$" + strings.Repeat("a", 53) + ",\n",
			"tenants": "id,name,owner_email,country,currency,slug\n" +
				"a,A,ok@example.com,gb,XXX,no spaces\n" +
				"b,B,ok@example.com,GB,EUR,b\n" +
				"c,C,ok@example.com,GB,EUR,c\n" +
				"d,D,nobody@example.com,,,\n",
			"memberships": "tenant,email,role\n" +
				"b,taken@example.com,member\n" +
				"x,ok@example.com,member\n" +
				"b,mallory@example.com,member\n",
			"subscriptions": "tenant,psp_subscription_id\n" +
				"b,local-17\n" +
				"b,sub_unknown\n",
		}, false)
		if !errors.Is(err, importer.ErrInvalidLines) {
			t.Errorf("the error is %v", err)
		}
		for _, line := range []string{
			`users.csv:3: email: is not an email address: "nowhere"`,
			`users.csv:3: locale: must be one of en, fr, es, it: "xx"`,
			`users.csv:3: verified: must be true or false: "yes"`,
			`users.csv:3: password_hash: must be a bcrypt hash`,
			`users.csv:4: id: "1" also appears in an earlier line`,
			`users.csv:5: email: "ok@example.com" also appears in an earlier line`,
			`users.csv:6: has 2 fields; the header has 6`,
			`users.csv:7: email: an account with this address exists, but the address is not verified`,
			`users.csv:8: name: is not UTF-8`,
			`users.csv:9: email: is empty`,
			`users.csv:10: password_hash: too expensive to verify`,
			`users: 1 to create, 0 to update, 0 unchanged, 8 wrong`,
			`tenants.csv:2: country: must be an uppercase ISO 3166-1 code`,
			`tenants.csv:2: slug: must only contain letters`,
			`tenants.csv:2: currency: is not a currency of the catalog: "XXX"`,
			`tenants.csv:4: owner_email: is already a member of another organization`,
			`tenants.csv:5: owner_email: no user with this address`,
			`memberships.csv:2: email: an account with this address exists`,
			`memberships.csv:3: tenant: no organization with this ID`,
			`memberships.csv:4: email: an account with this address exists`,
			`subscriptions.csv:2: psp_subscription_id: must be the ID of a Stripe subscription`,
			`subscriptions.csv:3: psp_subscription_id: does not exist at Stripe: "sub_unknown"`,
		} {
			if !strings.Contains(said, line) {
				t.Errorf("%q is missing", line)
			}
		}
		if t.Failed() {
			t.Log(said)
		}
		if strings.Contains(said, "plain") || strings.Contains(said, "$2a$") && strings.Contains(said, "aaaa") {
			t.Errorf("a hash is shown:\n%s", said)
		}
		if after := counts(s); after != before {
			t.Errorf("%s became %s", before, after)
		}
	})
}

// A file with a syntax error or a wrong header is rejected with its position.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for text, reason := range map[string]string{
			"":                                   `column "id" is missing`,
			"id,email\n":                         `column "name" is missing`,
			"id,email,name,shoe\n":               `users: unknown column "shoe"`,
			"id,email,name,id\n":                 `column "id" appears twice`,
			"id,email,name\n1,a@example.com,\"A": "users.csv:2:",
		} {
			if said, err := run(s, files{"users": text}, false); err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%q: %v\n%s", text, err, said)
			}
		}
		if _, err := run(s, nil, false); err == nil || !strings.Contains(err.Error(), "nothing to import") {
			t.Errorf("an empty folder: %v", err)
		}
	})
}

// The import enforces the rules of the API: seat limits, assignable roles, and one tenant per user.
func TestMembershipRules(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("small", "flat", "month", 100, 0, map[string]int{"team-members": 2})
		f := company(t)
		delete(f, "memberships")
		want(s, f)
		token := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "grace@example.com", "password": "nanoseconds and more"}).
			Want(200).Str("accessToken")
		o := apptest.Owner{Token: token, Tenant: s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).Str("currentTenant.id")}
		s.BuyPlan(o, "small")
		s.AwaitNotifications()
		f = files{
			"users":       "id,email,name\n8,bob@example.com,Bob\n9,carol@example.com,Carol\n",
			"memberships": "tenant,email,role\nc1,bob@example.com,Auditor\nc1,carol@example.com,owner\n",
		}
		f["users"] = "id,email,name,locale,verified,password_hash\n8,bob@example.com,Bob,,false,\n9,carol@example.com,Carol,,,\n"
		said, err := run(s, f, false)
		if !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, `memberships.csv:2: role: the organization does not have this role: "Auditor"`) ||
			!strings.Contains(said, `memberships.csv:3: role: set the owner of an organization in the tenants file`) {
			t.Errorf("%v\n%s", err, said)
		}
		s.CreateRole(o, "Auditor")
		f["memberships"] = "tenant,email,role\nc1,bob@example.com,Auditor\nc1,carol@example.com,\n"
		said, err = run(s, f, false)
		if !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "memberships.csv:3: tenant: all seats of the plan are taken: 2 of 2") {
			t.Errorf("%v\n%s", err, said)
		}
		f["memberships"] = "tenant,email,role\nc1,bob@example.com,Auditor\n"
		want(s, f, "memberships: 1 created, 0 updated, 0 unchanged")
		if n := s.CountAudited(o, "member.added"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

// Existing Stripe subscriptions are imported unchanged, even if their metadata names an unknown
// tenant, as after a restore.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.Customers()
		k.AddSubscriber("other", "starter")
		price := s.ProviderPriceOf(s.PlanID(k.Names["other"], "starter"))
		customer := s.AtProvider("POST", "/customers", "name", "Cobol Ltd").Str("id")
		sub := k.SubscribeAtProvider(customer, price, "metadata[tenant_id]", uuid.NewString(), "metadata[checkout_id]", uuid.NewString())
		unlinked := k.SubscribeAtProvider(s.AtProvider("POST", "/customers", "name", "Another").Str("id"), s.NewProviderPrice())
		s.AwaitNotifications()
		f := company(t)
		apptest.SameDifferences(t, "before the import", s.Reconcile(true), map[string][]string{sub: {"unknown_tenant"}})

		f["subscriptions"] = "tenant,psp_subscription_id,psp_customer_id\nc1," + unlinked + ",\n"
		if said, err := run(s, f, true); !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "its price is unknown here") {
			t.Errorf("%v\n%s", err, said)
		}
		f["subscriptions"] = "tenant,psp_subscription_id,psp_customer_id\nc1," + sub + ",cus_other\n"
		if said, err := run(s, f, true); !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, `subscriptions.csv:2: psp_customer_id: the subscription belongs to customer "`+customer) {
			t.Errorf("%v\n%s", err, said)
		}
		f["subscriptions"] = "tenant,psp_subscription_id,psp_customer_id\nc1," + sub + "," + customer + "\n"
		before := counts(s)
		if said, err := run(s, f, true); err != nil || !strings.Contains(said, "subscriptions: 1 to create") || counts(s) != before {
			t.Errorf("%v, %s became %s\n%s", err, before, counts(s), said)
		}
		want(s, f, "subscriptions: 1 created, 0 updated, 0 unchanged")
		token := s.Call("POST", "/api/v1/auth/login", "", apptest.Object{"email": "grace@example.com", "password": "nanoseconds and more"}).
			Want(200).Str("accessToken")
		o := apptest.Owner{Token: token, Tenant: s.Call("GET", "/api/v1/auth/me", token, nil).Want(200).Str("currentTenant.id")}
		s.Subscription(o).WantAt("data.status", "trialing").WantAt("data.plan.name", "Starter")
		s.AtProvider("GET", "/customers/"+customer).WantAt("name", "Cobol Ltd")
		if n := s.CountAudited(o, "subscription.imported"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
		if found := s.Reconcile(true); len(found[sub]) != 0 {
			t.Errorf("the comparison finds %v", found[sub])
		}
		s.AwaitNotifications()
		s.AwaitJobs() // the import enqueues jobs that complete the stored data
		stored := s.StoredBilling()
		want(s, f, "subscriptions: 0 created, 0 updated, 1 unchanged")
		if after := s.StoredBilling(); after != stored {
			t.Errorf("the repetition made\n%s\nof\n%s", after, stored)
		}

		// A Stripe customer belongs to one tenant, and a tenant has one subscription.
		second := k.SubscribeAtProvider(customer, price)
		f["users"] += "9,carol@example.com,Carol,,,\r\n"
		f["tenants"] += "c2,Carol,carol@example.com,,,,,,,\n"
		f["subscriptions"] += "c2," + second + ",\n"
		if said, err := run(s, f, false); !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "subscriptions.csv:3: tenant: is linked to a different Stripe customer") {
			t.Errorf("%v\n%s", err, said)
		}
	})
}

// A subscription that is billed for fewer seats than the team has is rejected, because the next
// change of the team would raise the price.
func TestTooFewSeats(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 500, 0, nil)
		other := s.Register("other@example.com", true)
		s.BuyPlan(other, "crew")
		price := s.ProviderPriceOf(s.PlanID(other, "crew"))
		customer := s.AtProvider("POST", "/customers", "name", "Cobol Ltd").Str("id")
		sub := s.Customers().SubscribeAtProvider(customer, price)
		f := company(t)
		f["subscriptions"] = "tenant,psp_subscription_id\nc1," + sub + "\n"
		if said, err := run(s, f, false); !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "is billed for 1 seats, but the team has 2 members") {
			t.Errorf("%v\n%s", err, said)
		}
		item := s.AtProvider("GET", "/subscriptions/"+sub).Str("items.data.0.id")
		s.AtProvider("POST", "/subscriptions/"+sub, "items[0][id]", item, "items[0][quantity]", "2", "proration_behavior", "none")
		want(s, f, "subscriptions: 1 created, 0 updated, 0 unchanged")
	})
}

// The subscription that the same import adds, or the default plan, limits the number of new members. The quantity at the provider stays as it is.
func TestSeatsOfAnImportedSubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("basic", "flat", "month", 0, 0, map[string]int{"team-members": 1})
		apptest.Exec(t, s.DB(), `UPDATE plans SET is_default = true WHERE slug = 'basic'`)
		s.AddPlan("crew", "seat", "month", 500, 0, map[string]int{"team-members": 5})
		other := s.Register("other@example.com", true)
		s.BuyPlan(other, "crew")
		f, before := company(t), counts(s)
		for _, dryRun := range []bool{true, false} {
			said, err := run(s, f, dryRun)
			if !errors.Is(err, importer.ErrInvalidLines) || !strings.Contains(said, "memberships.csv:3: tenant: all seats of the plan are taken: 1 of 1") || counts(s) != before {
				t.Errorf("%v, %s became %s\n%s", err, before, counts(s), said)
			}
		}
		customer := s.AtProvider("POST", "/customers", "name", "Cobol Ltd").Str("id")
		sub := s.Customers().SubscribeAtProvider(customer, s.ProviderPriceOf(s.PlanID(other, "crew")))
		item := s.AtProvider("GET", "/subscriptions/"+sub).Str("items.data.0.id")
		s.AtProvider("POST", "/subscriptions/"+sub, "items[0][id]", item, "items[0][quantity]", "3", "proration_behavior", "none")
		f["subscriptions"] = "tenant,psp_subscription_id\nc1," + sub + "\n"
		want(s, f, "subscriptions: 1 created, 0 updated, 0 unchanged", "memberships: 1 created, 0 updated, 1 unchanged")
		s.AwaitNotifications()
		s.AwaitJobs()
		if quantity := s.AtProvider("GET", "/subscriptions/"+sub).At("items.data.0.quantity"); quantity != 3.0 {
			t.Errorf("quantity %v", quantity)
		}
	})
}
