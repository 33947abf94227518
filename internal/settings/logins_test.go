package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
)

func TestLoginProviders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := settings.LoginProviders([]string{
		"TENANTRY_OAUTH_GOOGLE_CLIENT_ID=g", "TENANTRY_OAUTH_GOOGLE_CLIENT_SECRET=gs=x",
		"TENANTRY_OAUTH_GITHUB_CLIENT_ID=h", "TENANTRY_OAUTH_GITHUB_CLIENT_SECRET_FILE=" + file,
		"TENANTRY_OIDC_ACME_CORP_2_ISSUER=https://id.acme.test/realm/", "TENANTRY_OIDC_ACME_CORP_2_CLIENT_ID=a",
		"TENANTRY_OIDC_ACME_CORP_2_CLIENT_SECRET=as",
		"TENANTRY_OAUTH_MICROSOFT_CLIENT_ID=", "HOME=/", "TENANTRY_ADDR=:1",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []settings.LoginProvider{
		{Kind: "oidc", Name: "acme-corp-2", Issuer: "https://id.acme.test/realm/", ClientID: "a", ClientSecret: "as"},
		{Kind: "github", Name: "github", ClientID: "h", ClientSecret: "from a file"},
		{Kind: "google", Name: "google", ClientID: "g", ClientSecret: "gs=x"},
	}
	if !cmp.Equal(want, got) {
		t.Errorf("%d providers: %v", len(got), got)
	}
	if dump := fmt.Sprintf("%+v %#v", got, got); strings.Contains(dump, "gs=x") {
		t.Errorf("a secret is printed: %s", dump)
	}
	if got, err := settings.LoginProviders(nil); got != nil || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}

func TestWrongLoginProvidersAreNamed(t *testing.T) {
	t.Parallel()
	const half = "required with the other settings of this provider"
	whole := func(name, issuer string) []string {
		return []string{
			"TENANTRY_OIDC_" + name + "_ISSUER=" + issuer, "TENANTRY_OIDC_" + name + "_CLIENT_ID=i", "TENANTRY_OIDC_" + name + "_CLIENT_SECRET=hush",
		}
	}
	for name, c := range map[string]struct {
		environ []string
		want    map[string]string
	}{
		"no secret":      {[]string{"TENANTRY_OAUTH_GOOGLE_CLIENT_ID=g"}, map[string]string{"TENANTRY_OAUTH_GOOGLE_CLIENT_SECRET": half}},
		"no id":          {[]string{"TENANTRY_OAUTH_MICROSOFT_CLIENT_SECRET=hush"}, map[string]string{"TENANTRY_OAUTH_MICROSOFT_CLIENT_ID": half}},
		"no issuer":      {whole("ACME", ""), map[string]string{"TENANTRY_OIDC_ACME_ISSUER": half}},
		"only an issuer": {whole("ACME", "https://id.test")[:1], map[string]string{"TENANTRY_OIDC_ACME_CLIENT_ID": half, "TENANTRY_OIDC_ACME_CLIENT_SECRET": half}},
		"two secrets": {
			append(whole("ACME", "https://id.test"), "TENANTRY_OIDC_ACME_CLIENT_SECRET_FILE=/none"),
			map[string]string{"TENANTRY_OIDC_ACME_CLIENT_SECRET": "set together with TENANTRY_OIDC_ACME_CLIENT_SECRET_FILE; set only one of them"},
		},
		"no file": {
			append(whole("ACME", "https://id.test")[:2], "TENANTRY_OIDC_ACME_CLIENT_SECRET_FILE=/none"),
			map[string]string{"TENANTRY_OIDC_ACME_CLIENT_SECRET_FILE": "open /none: no such file or directory"},
		},
		"misspelt":          {[]string{"TENANTRY_OAUTH_GOOGLE_CLIENTID=g"}, map[string]string{"TENANTRY_OAUTH_GOOGLE_CLIENTID": "unknown setting"}},
		"unknown provider":  {[]string{"TENANTRY_OAUTH_ACME_CLIENT_ID=g"}, map[string]string{"TENANTRY_OAUTH_ACME_CLIENT_ID": "unknown setting"}},
		"issuer of Google":  {[]string{"TENANTRY_OAUTH_GOOGLE_ISSUER=g"}, map[string]string{"TENANTRY_OAUTH_GOOGLE_ISSUER": "unknown setting"}},
		"nameless":          {[]string{"TENANTRY_OIDC_CLIENT_ID=g"}, map[string]string{"TENANTRY_OIDC_CLIENT_ID": "unknown setting"}},
		"empty name":        {[]string{"TENANTRY_OIDC__CLIENT_ID=g"}, map[string]string{"TENANTRY_OIDC__CLIENT_ID": "unknown setting"}},
		"strange name":      {whole("ÄCME", "https://id.test"), map[string]string{"TENANTRY_OIDC_ÄCME_ISSUER": `the name "äcme" must have at most 40 letters, digits and inner underscores`}},
		"taken name":        {whole("GOOGLE", "https://id.test"), map[string]string{"TENANTRY_OIDC_GOOGLE_ISSUER": "the name google is used by another provider"}},
		"the sandbox's":     {whole("SANDBOX", "https://id.test"), map[string]string{"TENANTRY_OIDC_SANDBOX_ISSUER": "the name sandbox is used by another provider"}},
		"no URL":            {whole("ACME", "id.test"), map[string]string{"TENANTRY_OIDC_ACME_ISSUER": "not an absolute https URL"}},
		"without TLS":       {whole("ACME", "http://id.test"), map[string]string{"TENANTRY_OIDC_ACME_ISSUER": "must begin with https://"}},
		"on this machine":   {whole("ACME", "http://127.0.0.1:9/x"), nil},
		"issuer with query": {whole("ACME", "https://id.test?x=1"), map[string]string{"TENANTRY_OIDC_ACME_ISSUER": "must not have a user, a query or a fragment"}},
	} {
		_, err := settings.LoginProviders(c.environ)
		if err == nil && c.want == nil {
			continue
		}
		if diff := cmp.Diff(c.want, reasons(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error has the secret: %v", name, err)
		}
	}
}
