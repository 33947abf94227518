package account

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest/shape"
)

// FuzzAppendJSON holds that a profile writes itself as package json writes it.
func FuzzAppendJSON(f *testing.F) {
	f.Add("Ada", "ada@example.com", "owner", int64(7), uint16(0))
	f.Add("é\"\\\n\xff", "<&\u2028>", "", int64(-1), uint16(0xffff))
	f.Fuzz(func(t *testing.T, name, email, role string, id int64, has uint16) {
		tenant := uuid.NewSHA1(uuid.Nil, []byte(name))
		at := shape.T(time.UnixMicro(id % 1e15))
		p := Profile{User: ProfileUser{ID: id, Name: name, Email: email, IsPlatformAdmin: has&1 != 0, EmailVerified: has&2 != 0}}
		if has&4 != 0 {
			p.User.Avatar, p.User.Locale = &email, &role
		}
		for i := range has >> 3 & 3 {
			p.User.Roles, p.User.Permissions = append(p.User.Roles, role), append(p.User.Permissions, name, email)
			one := ProfileTenant{ID: tenant, Name: name, UserRole: role, HasActiveSubscription: i == 0, HasBillingDetails: i == 1}
			if i > 0 {
				one.OnboardingCompletedAt = &at
			}
			p.User.Tenants = append(p.User.Tenants, one)
		}
		if has&32 != 0 {
			p.CurrentTenant = &CurrentTenant{ID: tenant, Name: role}
		}
		if has&64 != 0 {
			p.Impersonation = &ProfileImpersonation{IsImpersonating: has&128 != 0, ImpersonatorID: id}
			if has&256 != 0 {
				p.Impersonation.ImpersonatorName = &name
			}
		}
		want, err := json.Marshal(p, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.AppendJSON([]byte("before")); string(got) != "before"+string(want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	})
}
