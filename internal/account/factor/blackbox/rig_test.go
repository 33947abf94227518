package blackbox_test

import (
	"os"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/factortest"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

type object = apptest.Object

const password = "correct horse"

// step is the duration of a time step of an authenticator app.
const step = 30 * time.Second

// person is a user with a verified email.
type person struct {
	apptest.Owner
	s             *apptest.Server
	email, secret string
	codes         []string // recovery codes
}

// register registers a user and verifies the email.
func register(s *apptest.Server, email string) *person {
	s.T.Helper()
	p := &person{Owner: s.Register(email, true), s: s, email: email}
	verify(s, email)
	return p
}

func verify(s *apptest.Server, email string) {
	s.T.Helper()
	apptest.Exec(s.T, s.DB(), `UPDATE users SET email_verified_at = created_at WHERE email = $1`, email)
}

// confirmed returns a body that contains the password and, if the user has an authenticator app, a
// code.
func (p *person) confirmed(more object) object {
	p.s.T.Helper()
	body := object{"current_password": password}
	if p.secret != "" {
		body["code"] = p.code()
	}
	for k, v := range more {
		body[k] = v
	}
	return body
}

// code returns an unused code of the authenticator app.
func (p *person) code() string {
	p.s.T.Helper()
	p.s.Advance(step)
	return factortest.Code(p.s.T, p.secret, p.s.Now())
}

// enroll adds an authenticator app.
func (p *person) enroll() *person {
	p.s.T.Helper()
	secret := p.call("POST", "/user/factors/totp", p.confirmed(nil)).Want(201).Str("data.secret")
	p.secret = secret
	codes, _ := p.call("POST", "/user/factors/totp/confirm", object{"code": p.code()}).Want(200).At("data.recovery_codes").([]any)
	p.keep(codes)
	return p
}

func (p *person) keep(codes []any) {
	for _, code := range codes {
		p.codes = append(p.codes, code.(string))
	}
}

func (p *person) call(method, path string, body any) apptest.Reply {
	p.s.T.Helper()
	return p.s.Call(method, "/api/v1"+path, p.Token, body)
}

// addPasskey registers a new passkey.
func (p *person) addPasskey(name string) *factortest.Key {
	p.s.T.Helper()
	key := factortest.New(p.s.T, p.s.URL)
	a := p.addKey(key, name).Want(201)
	codes, _ := a.At("recovery_codes").([]any)
	p.keep(codes)
	return key
}

func (p *person) addKey(key *factortest.Key, name string) apptest.Reply {
	p.s.T.Helper()
	o := p.call("POST", "/user/passkeys/options", p.confirmed(nil)).Want(200)
	return p.call("POST", "/user/passkeys", object{
		"challenge_id": o.Str("data.challenge_id"), "name": name, "credential": key.Register(o.At("data.options").(object)),
	})
}

// assertion returns the confirmation of a request by a passkey.
func (p *person) assertion(key *factortest.Key) object {
	p.s.T.Helper()
	o := p.call("POST", "/user/passkeys/assertion-options", nil).Want(200)
	return object{"challenge_id": o.Str("data.challenge_id"), "credential": key.Assert(o.At("data.options").(object))}
}

// login starts a login with the password and returns the response.
func (p *person) login(more object) apptest.Reply {
	p.s.T.Helper()
	body := object{"email": p.email, "password": password}
	for k, v := range more {
		body[k] = v
	}
	return p.s.Call("POST", "/api/v1/auth/login", "", body)
}

// challenge starts a login and returns its challenge.
func (p *person) challenge() string {
	p.s.T.Helper()
	return p.login(nil).Want(403).WantAt("code", "MFA_REQUIRED").Str("challenge")
}

// complete completes a login.
func complete(s *apptest.Server, challenge, factor string, value any) apptest.Reply {
	s.T.Helper()
	return s.Call("POST", "/api/v1/auth/mfa", "", object{"challenge": challenge, factor: value})
}

// secondFactor returns the credential of a passkey for a challenge.
func secondFactor(s *apptest.Server, challenge string, key *factortest.Key) object {
	s.T.Helper()
	o := s.Call("POST", "/api/v1/auth/mfa/passkey-options", "", object{"challenge": challenge}).Want(200)
	return key.Assert(o.At("data").(object))
}

// passkeyLogin logs in with a passkey, without an email.
func passkeyLogin(s *apptest.Server, key *factortest.Key) apptest.Reply {
	s.T.Helper()
	o := s.Call("POST", "/api/v1/auth/passkey/options", "", nil).Want(200)
	return s.Call("POST", "/api/v1/auth/passkey", "", object{
		"challenge_id": o.Str("data.challenge_id"), "credential": key.Assert(o.At("data.options").(object)),
	})
}
