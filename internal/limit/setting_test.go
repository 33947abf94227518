package limit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/limit"
)

func TestParseSetting(t *testing.T) {
	t.Parallel()
	off := limit.Defaults()
	for group := range off {
		off[group] = 0
	}
	changed := limit.Defaults()
	changed["login"], changed["default"], changed["usage"] = 50, 1_000_000_000, 0
	for text, want := range map[string]map[string]int{
		"":                                       limit.Defaults(),
		"on":                                     limit.Defaults(),
		" off":                                   off,
		"login=50, default = 1000000000,usage=0": changed,
	} {
		got, err := limit.ParseSetting(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestParseSettingReportsTheProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"logn=5":                     `unknown group "logn"; groups: account_mail, account_password, api_keys, avatar, catalog, default,`,
		"ON":                         `"ON" is not on, off or group=number`,
		"login=5,":                   `"" is not on, off or group=number`,
		"login=5,register":           `"register" is not on, off or group=number`,
		"login=":                     `"" of group "login" is not a number from 0 to 1000000000`,
		"login=-1":                   `"-1" of group "login"`,
		"login=1.5":                  `"1.5" of group "login"`,
		"login=1000000001":           `"1000000001" of group "login"`,
		"login=99999999999999999999": `"99999999999999999999" of group "login"`,
		"login=5,login=6":            `group "login" appears twice`,
	} {
		groups, err := limit.ParseSetting(text)
		if err == nil || groups != nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// The defaults match the table in the specification.
func TestDefaults(t *testing.T) {
	t.Parallel()
	want := map[string]int{
		"catalog": 60, "login": 5, "register": 10, "password": 5, "refresh": 10, "oauth": 10,
		"onboarding_start": 5, "onboarding": 10, "invitations": 30, "avatar": 10, "push": 10,
		"psp_prices": 30, "studio": 60, "login_address": 30, "default": 1200, "usage": 60000,
		"inviting": 20, "api_keys": 10, "usage_without_plan": 100_000, "login_account": 10, "account_mail": 1, "account_password": 5,
	}
	if diff := cmp.Diff(want, limit.Defaults()); diff != "" {
		t.Error(diff)
	}
	limit.Defaults()["login"] = 0
	if limit.Defaults()["login"] != 5 || !limit.IsGroup("login") || limit.IsGroup("logn") {
		t.Error("callers can change the defaults, or IsGroup is wrong")
	}
}
