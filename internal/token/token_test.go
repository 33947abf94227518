package token

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/authz"
)

func TestMethodsOfCallers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		methods []string
		passed  bool
		want    []string
	}{
		{nil, false, []string{}},
		{[]string{"pwd"}, false, []string{"pwd"}},
		{[]string{"pwd"}, true, []string{"pwd"}}, // enrolled a factor
		{[]string{"pwd", "otp"}, true, []string{"pwd", "otp", "mfa"}},
		{[]string{"pwd", "passkey"}, true, []string{"pwd", "passkey", "mfa"}},
		{[]string{"passkey"}, true, []string{"passkey", "mfa"}},
		{[]string{"sso"}, true, []string{"sso", "mfa"}},
		{[]string{"sso"}, false, []string{"sso"}},
		{[]string{"email", "recovery_code"}, true, []string{"email", "recovery_code", "mfa"}},
	} {
		if got := methods(&authz.Caller{Methods: tt.methods, FactorPassed: tt.passed}); got == nil || !slices.Equal(got, tt.want) {
			t.Errorf("%v, %t: %v, want %v", tt.methods, tt.passed, got, tt.want)
		}
	}
}
