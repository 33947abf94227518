package blackbox_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

// race calls f concurrently with 0 to n-1. It returns the number of calls per status, and the
// status of each call.
func race(n int, f func(i int) int) (statuses map[int]int, order []int) {
	order = make([]int, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { order[i] = f(i) })
	}
	group.Wait()
	statuses = map[int]int{}
	for _, status := range order {
		statuses[status]++
	}
	return statuses, order
}

// A code, a recovery code and a challenge are accepted once, even if several logins and
// confirmations send them concurrently.
func TestFactorsAreUsedOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		for factor, value := range map[string]string{"code": ada.code(), "recovery_code": ada.codes[0]} {
			challenges := []string{ada.challenge(), ada.challenge(), ada.challenge(), ada.challenge()}
			got, _ := race(8, func(i int) int {
				if i < 4 {
					return complete(s, challenges[i], factor, value).Status
				}
				return ada.call("POST", "/user/factors/totp", object{"current_password": password, "code": value}).Status
			})
			if got[200]+got[409] != 1 && got[200] != 1 || got[401]+got[422]+got[200]+got[409] != 8 || got[200] > 1 {
				t.Errorf("%s: %v", factor, got)
			}
		}
		challenge, codes := ada.challenge(), ada.codes[1:5]
		got, _ := race(4, func(i int) int { return complete(s, challenge, "recovery_code", codes[i]).Status })
		if got[200] != 1 || got[400] != 3 {
			t.Errorf("one challenge: %v", got)
		}
	})
}

// If two first factors are added concurrently, only one addition returns recovery codes.
func TestFirstFactorBringsTheCodesOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com")
		secret := ada.call("POST", "/user/factors/totp", ada.confirmed(nil)).Want(201).Str("data.secret")
		o := ada.call("POST", "/user/passkeys/options", ada.confirmed(nil)).Want(200)
		passkey := object{"challenge_id": o.Str("data.challenge_id"), "name": "key", "credential": factortest.New(t, s.URL).Register(o.At("data.options").(object))}
		code := object{"code": factortest.Code(t, secret, s.Now())}
		var app, key apptest.Reply
		race(2, func(i int) int {
			if i == 0 {
				app = ada.call("POST", "/user/factors/totp/confirm", code)
				return 0
			}
			key = ada.call("POST", "/user/passkeys", passkey)
			return 0
		})
		app.Want(200)
		key.Want(201)
		if (app.At("data.recovery_codes") == nil) == (key.At("recovery_codes") == nil) {
			t.Errorf("%s and %s", app.Text, key.Text)
		}
		ada.call("GET", "/user/factors", nil).Want(200).WantAt("data.recovery_codes.remaining", 10.0)
	})
}

// Only five attempts are checked, even if more are sent concurrently.
func TestFiveAttempts(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		challenge := ada.challenge()
		got, _ := race(12, func(i int) int {
			if i%2 == 0 {
				return complete(s, challenge, "code", "000000").Status
			}
			return complete(s, challenge, "recovery_code", "AAAAA-AAAAA").Status
		})
		if got[401] != 5 || got[400] != 7 {
			t.Errorf("%v", got)
		}
		complete(s, challenge, "code", ada.code()).WantRefused(400, "MFA_CHALLENGE_EXPIRED")
	})
}

// Concurrent wrong codes of several logins cannot together exceed the limit of the account.
func TestWrongCodesTogether(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		challenges := []string{ada.challenge(), ada.challenge(), ada.challenge(), ada.challenge()}
		got, _ := race(20, func(i int) int { return complete(s, challenges[i%4], "code", "000000").Status })
		if got[401] != 10 || got[429] != 10 {
			t.Errorf("%v", got)
		}
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{limit.LoginAccount: 10} })
}

// A login that is completed during a reset is ended by the reset, or is rejected.
func TestLoginDuringAReset(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, admin := register(s, "ada@example.com"), s.Admin()
		path := "/api/v1/admin/tenants/" + ada.Tenant + "/members/" + strconv.FormatInt(s.UserID(ada.Token), 10) + "/factors"
		for range 3 {
			ada.secret, ada.codes = "", nil
			ada.enroll()
			challenge := ada.challenge()
			var login apptest.Reply
			race(2, func(i int) int {
				if i == 0 {
					login = complete(s, challenge, "recovery_code", ada.codes[0])
					return 0
				}
				return s.Call("DELETE", path, admin, nil).Status
			})
			if login.Status == 200 {
				s.Call("GET", "/api/v1/auth/me", login.Str("accessToken"), nil).WantRefused(401, "")
			} else {
				login.WantRefused(400, "MFA_CHALLENGE_EXPIRED")
			}
			ada.Token = ada.login(nil).Want(200).Str("accessToken")
		}
	})
}

// A caller whose last factor is removed concurrently cannot require a factor of the members.
func TestRequirementDuringARemoval(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := register(s, "ada@example.com").enroll()
		var update apptest.Reply
		var group sync.WaitGroup
		err := s.DB().Tx(t.Context(), func(ctx context.Context) error {
			for _, query := range []string{"UPDATE users SET mfa_enabled = false WHERE email = $1", "DELETE FROM user_totp WHERE user_id = (SELECT id FROM users WHERE email = $1)"} {
				if _, err := s.DB().Conn(ctx).ExecContext(ctx, query, ada.email); err != nil {
					return err
				}
			}
			group.Go(func() { update = ada.call("PATCH", "/tenant", object{"require_mfa": true}) })
			time.Sleep(100 * time.Millisecond) // the request must not end in this time: it waits for the lock
			return nil
		})
		group.Wait()
		if err != nil {
			t.Fatal(err)
		}
		update.WantInvalid("require_mfa")
		ada.call("GET", "/tenant", nil).Want(200).WantAt("data.require_mfa", false)

		for range dbtest.Rounds(3, 30) { // with the real removal, in either order
			ada.secret, ada.codes, ada.Token = "", nil, ada.login(nil).Want(200).Str("accessToken")
			ada.enroll()
			remove := ada.confirmed(nil)
			race(2, func(i int) int {
				if i == 0 {
					update = ada.call("PATCH", "/tenant", object{"require_mfa": true})
					return update.Status
				}
				return ada.call("DELETE", "/user/factors/totp", remove).Want(204).Status
			})
			switch update.Status {
			case 200: // the requirement came first and now locks the caller out
				ada.call("GET", "/tenant", nil).WantRefused(403, "MFA_ENROLLMENT_REQUIRED")
				apptest.Exec(t, s.DB(), "UPDATE tenants SET require_mfa_from = NULL")
			default:
				update.WantInvalid("require_mfa")
			}
		}
	})
}
