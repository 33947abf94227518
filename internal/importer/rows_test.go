package importer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/tenant"
)

// with returns a line with some values replaced.
func with(values map[string]string, changes ...string) row {
	r := row{line: 2, values: map[string]string{}}
	for name, value := range values {
		r.values[name] = value
	}
	for i := 0; i < len(changes); i += 2 {
		r.values[changes[i]] = changes[i+1]
	}
	return r
}

// wantProblems checks that the problems start with the wanted texts, in order.
func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	got, ours := problemsOf(err)
	if !ours || len(got) != len(want) {
		t.Fatalf("%v, want %q", err, want)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

var someUser = map[string]string{"id": "7", "email": "grace@example.com", "name": "Grace Hopper"}

func TestUserOf(t *testing.T) {
	t.Parallel()
	u, err := userOf(with(someUser, "email", "Grace@EXAMPLE.com", "locale", "fr", "verified", "TRUE"))
	if err != nil || u.Email != "grace@example.com" || u.Name != "Grace Hopper" || *u.Locale != "fr" || !u.Verified || u.PasswordHash != nil {
		t.Errorf("%+v, %v", u, err)
	}
	for _, c := range []struct {
		name    string
		changes []string
		want    []string
	}{
		{"as little as possible", nil, nil},
		{"not verified", []string{"verified", "false"}, nil},
		{"not verified, in a spreadsheet", []string{"verified", "FALSE"}, nil},
		{"a long name", []string{"name", strings.Repeat("é", 255)}, nil},
		{"a name that is too long", []string{"name", strings.Repeat("é", 256)}, []string{"name: must have at most 255"}},
		{"a name of two lines", []string{"name", "Grace\nHopper"}, []string{"name: must have"}},
		{"a name with a character that turns text around", []string{"name", "Grace\u202eHopper"}, []string{"name: must have"}},
		{"an id that is too long", []string{"id", strings.Repeat("7", 256)}, []string{"id: must have at most 255"}},
		{"no address", []string{"email", "grace"}, []string{"email: is not an email address"}},
		{"a name next to the address", []string{"email", "Grace <grace@example.com>"}, []string{"email: is not an email address"}},
		{"an unknown language", []string{"locale", "de"}, []string{"locale: must be one of en, fr, es, it"}},
		{"a region", []string{"locale", "fr-FR"}, []string{"locale: must be one of"}},
		{"another word for yes", []string{"verified", "1"}, []string{"verified: must be true or false"}},
		{"a password in place of its hash", []string{"password_hash", "secret"}, []string{"password_hash: must be a bcrypt hash"}},
		{"a secret of an authenticator app", []string{"verified", "true", "totp_secret", "gezd gnbv gy3t qojq"}, nil},
		{"no base32", []string{"verified", "true", "totp_secret", "0189"}, []string{"totp_secret: must be the secret"}},
		{"a secret that is too short", []string{"verified", "true", "totp_secret", "GEZDGNBVGY3TQ"}, []string{"totp_secret: must be the secret"}},
		{"a secret without a verified address", []string{"totp_secret", "GEZDGNBVGY3TQOJQ"}, []string{"totp_secret: needs a verified address"}},
		{
			"all at once",
			[]string{"email", "x", "name", "\x00", "locale", "xx", "verified", "yes", "password_hash", "x", "totp_secret", "x"},
			[]string{"email:", "name:", "locale:", "verified:", "password_hash:", "totp_secret:"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := userOf(with(someUser, c.changes...))
			wantProblems(t, err, c.want...)
		})
	}
}

// euros is a catalog whose only currency is EUR.
type euros struct{ broken error }

func (e euros) CurrencyExists(_ context.Context, code string) (bool, error) {
	return code == "EUR", e.broken
}

func (e euros) Plan(context.Context, uuid.UUID) (catalog.Plan, error) {
	return catalog.Plan{}, catalog.ErrNotFound
}

var someTenant = map[string]string{"id": "c1", "name": "Cobol & Co", "owner_email": "grace@example.com"}

func TestTenantFields(t *testing.T) {
	t.Parallel()
	s := New(Deps{Catalog: euros{}})
	b, err := s.tenantFields(t.Context(), with(someTenant,
		"legal_name", "Cobol Ltd", "address", "1 Main Street\nFloor 2", "city", "London", "postal_code", "N1", "country", "GB",
		"billing_email", "Bills@Example.com", "currency", "EUR", "slug", "cobol_1",
	))
	if err != nil || !b.Complete() || *b.BillingEmail != "bills@example.com" || *b.Address != "1 Main Street\nFloor 2" || b.VATNumber != nil {
		t.Errorf("%+v, %v", b, err)
	}
	for _, c := range []struct {
		name    string
		changes []string
		want    []string
	}{
		{"as little as possible", nil, nil},
		{"a name that is too long", []string{"name", strings.Repeat("n", 256)}, []string{"name:"}},
		{"a legal name of two lines", []string{"legal_name", "A\nB"}, []string{"legal_name:"}},
		{"a long address", []string{"address", strings.Repeat("a", 500)}, nil},
		{"an address that is too long", []string{"address", strings.Repeat("a", 501)}, []string{"address: must have at most 500"}},
		{"an address with a control character", []string{"address", "a\x07"}, []string{"address:"}},
		{"a postal code that is too long", []string{"postal_code", strings.Repeat("1", 21)}, []string{"postal_code: must have at most 20"}},
		{"a VAT number that is too long", []string{"vat_number", strings.Repeat("1", 51)}, []string{"vat_number: must have at most 50"}},
		{"a city that is too long", []string{"city", strings.Repeat("c", 256)}, []string{"city:"}},
		{"a country in lower case", []string{"country", "gb"}, []string{"country: must be an uppercase ISO 3166-1 code"}},
		{"the name of a country", []string{"country", "France"}, []string{"country:"}},
		{"a currency that the catalog lacks", []string{"currency", "JPY"}, []string{"currency: is not a currency of the catalog"}},
		{"a slug with a space", []string{"slug", "a b"}, []string{"slug: must only contain letters, digits, - and _"}},
		{"a slug with a slash", []string{"slug", "a/b"}, []string{"slug: must only contain letters, digits, - and _"}},
		{"an invalid billing address", []string{"billing_email", "bills"}, []string{"billing_email: is not an email address"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := s.tenantFields(t.Context(), with(someTenant, c.changes...))
			wantProblems(t, err, c.want...)
		})
	}
	away := errors.New("the database is away")
	_, err = New(Deps{Catalog: euros{away}}).tenantFields(t.Context(), with(someTenant, "currency", "EUR"))
	if !errors.Is(err, away) {
		t.Errorf("a database failure became %v", err)
	}
}

// An empty field does not clear a billing detail.
func TestMerge(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	b := tenant.BillingDetails{LegalName: text("Cobol Ltd"), City: text("London"), VATNumber: text("GB1")}
	merge(&b, tenant.BillingDetails{City: text("Leeds"), Country: text("GB")})
	var got []string
	for _, field := range []*string{b.LegalName, b.Address, b.City, b.PostalCode, b.Country, b.VATNumber, b.BillingEmail} {
		if field == nil {
			field = text("-")
		}
		got = append(got, *field)
	}
	if want := []string{"Cobol Ltd", "-", "Leeds", "-", "GB", "GB1", "-"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The hash covers every column except the excluded one. The same value in another column changes
// the hash.
func TestLineHash(t *testing.T) {
	t.Parallel()
	full := map[string]string{}
	for _, c := range tenantColumns {
		full[c.name] = "x"
	}
	first := lineHash(with(full), tenantColumns, "slug")
	if again := lineHash(with(full), tenantColumns, "slug"); again != first {
		t.Error("the same line has two hashes")
	}
	seen := map[string]string{first: "none"}
	for _, c := range tenantColumns {
		changed := lineHash(with(full, c.name, "y"), tenantColumns, "slug")
		if c.name == "slug" {
			if changed != first {
				t.Error("the hash depends on the excluded slug")
			}
			continue
		}
		if other, ok := seen[changed]; ok {
			t.Errorf("%s and %s make the same hash", c.name, other)
		}
		seen[changed] = c.name
	}
	if hashOf("ab", "c") == hashOf("a", "bc") || hashParts("ab", "c") == hashParts("a", "bc") {
		t.Error("different parts with the same concatenation have the same hash")
	}
}

func TestPass(t *testing.T) {
	t.Parallel()
	p := newPass(false)
	if err := p.checkUnique("id", kindUser, "7"); err != nil || !p.has(kindUser, "7") || p.has(kindTenant, "7") {
		t.Errorf("%v, %t, %t", err, p.has(kindUser, "7"), p.has(kindTenant, "7"))
	}
	wantProblems(t, p.checkUnique("id", kindUser, "7"), `id: "7" also appears in an earlier line`)
	if err := p.checkUnique("id", kindTenant, "7"); err != nil {
		t.Errorf("another kind: %v", err)
	}
	p.addMembership("grace@example.com", "c1")
	p.addMembership("bob@example.com", "c1")
	if got := p.added[hashParts("c1")]; got != 2 {
		t.Errorf("%d members", got)
	}
	// In the second pass the database already counts the members.
	made := newPass(true)
	made.addMembership("grace@example.com", "c1")
	if len(made.added) != 0 || made.places[hashParts("grace@example.com")] != hashParts("c1") {
		t.Errorf("%v, %v", made.added, made.places)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newPass(false)
	for range 2*progressLines + 1 {
		if err := p.progress(&out, "users", "checked"); err != nil {
			t.Fatal(err)
		}
	}
	if want := "users: 5000 lines checked in total\nusers: 10000 lines checked in total\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	quiet := newPass(false)
	for range progressLines {
		if err := quiet.progress(nil, "users", "checked"); err != nil {
			t.Fatal(err)
		}
	}
}
