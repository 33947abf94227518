package account

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/lastused"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/secrets"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps holds the dependencies of the Service.
type Deps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Passwords *PasswordHasher
	Tenants   tenantStore
	Jobs      *jobs.Queue // nil in the CLI
	Notices   noticeMailer
	Lifetimes Lifetimes
	// OwnerLinks is how long the link to a new owner's account is valid.
	OwnerLinks time.Duration
	// Impersonations ends impersonations together with the credentials that they depend on. It is
	// nil if impersonation is not available.
	Impersonations impersonationStore
	Audit          auditTrail  // nil disables auditing
	Domains        domainStore // nil in the CLI
	SignOn         signOnStore // nil in the CLI
	// WrongPasswords is the number of wrong passwords for an account within 15 minutes after which
	// its logins are delayed. 0 disables the limit.
	WrongPasswords int
	Log            *slog.Logger // nil disables logging
	// EmailCodes means that users can log in with codes from mails, and register without a password.
	// LimitCodes limits the number of code mails per address. Secrets is nil in the CLI.
	EmailCodes, LimitCodes bool
	Secrets                *secrets.Key
	// Limiter limits the mail that unauthenticated requests can trigger. nil means no limit.
	Limiter rateLimiter
}

// rateLimiter decides whether a request of a group is within the limit of a key. *limit.Limiter
// implements it.
type rateLimiter interface {
	Allow(ctx context.Context, group, key string) limit.Decision
}

// Service manages users and their credentials.
type Service struct {
	deps        Deps
	store       store
	credentials *querycache.Cache[string, credential] // by token hash
	uses        *lastused.Recorder                    // last-used times of credentials
}

// NewService returns a new Service.
func NewService(d Deps) *Service {
	if d.Impersonations == nil {
		d.Impersonations = noImpersonations{}
	}
	s := &Service{deps: d, store: store{d.DB}}
	s.uses = lastused.New(s.store.markUsed, d.Log)
	s.credentials = querycache.New(querycache.Config[string, credential]{
		DB: d.DB, Tables: credentialTables(), Load: s.store.credentialsByHash,
	})
	return s
}

// Registration holds the data of a new user.
type Registration struct {
	Name, Email, Password string
	// TenantName is the name of the first tenant. It defaults to the user's name followed by "'s
	// Organization".
	TenantName string
	// WithoutTenant creates no tenant, for a user who is about to accept an invitation.
	WithoutTenant bool
	// EmailVerified means that the user has proved ownership of the email by receiving mail there.
	EmailVerified bool
}

// maxTenantName is the maximum length of a tenant's name, in characters.
const maxTenantName = 255

// Register creates an account, its first tenant and its first login in one transaction. It returns
// a validation error on email if an account uses the email.
func (s *Service) Register(ctx context.Context, r Registration, grant Grant) (User, Tokens, error) {
	return s.RegisterWith(ctx, r, grant, s.firstTenant(r))
}

// firstTenant returns a function that creates the first tenant of a new user.
func (s *Service) firstTenant(r Registration) func(context.Context, User) error {
	return func(ctx context.Context, user User) error {
		if r.WithoutTenant {
			return nil
		}
		_, err := s.deps.Tenants.Create(ctx, user.ID, firstTenantName(r))
		return err
	}
}

// CheckRegistration returns the validation errors that Register would return. It accepts a
// malformed email.
func (s *Service) CheckRegistration(ctx context.Context, email, password string) error {
	return fault.Join(s.CheckEmail(ctx, email), CheckNewPassword(password))
}

// CheckEmail returns a validation error if an account uses the email. It accepts a malformed email.
func (s *Service) CheckEmail(ctx context.Context, email string) error {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return nil //nolint:nilerr // the registration refuses it
	}
	taken, err := s.Exists(ctx, normalized)
	if err == nil && taken {
		err = errEmailTaken
	}
	return err
}

// RegisterWith creates an account and its first login. In the same transaction, it calls the
// function also, for example to add the user to a tenant.
func (s *Service) RegisterWith(ctx context.Context, r Registration, grant Grant, also func(context.Context, User) error) (User, Tokens, error) {
	hash, err := s.deps.Passwords.HashNew(ctx, r.Password) // hash before the transaction, because it is slow
	if err != nil {
		return User{}, Tokens{}, err
	}
	var user User
	var tokens Tokens
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		// The new user needs no lock, because no other transaction can see the row.
		if err := s.lockReplaced(ctx, grant); err != nil {
			return err
		}
		if user, err = s.createAccount(ctx, r, &hash, also); err != nil {
			return err
		}
		grant.Methods = []string{authz.Password}
		tokens, err = s.issue(ctx, lockedUser{User: user}, grant, s.deps.Clock.Now())
		return err
	})
	return user, tokens, err
}

// createAccount creates an account in the transaction of ctx, and calls the function also. hash is
// nil for an account without a password.
func (s *Service) createAccount(ctx context.Context, r Registration, hash *string, also func(context.Context, User) error) (User, error) {
	email, err := mail.NormalizeAddress(r.Email)
	if err != nil {
		return User{}, err
	}
	now := s.deps.Clock.Now()
	user := User{Name: r.Name, Email: email, Locale: requestedLocale(ctx)}
	user.ID, err = s.store.insertUser(ctx, newUser{
		name: r.Name, email: email, passwordHash: hash, verified: r.EmailVerified, locale: user.Locale,
	}, now)
	if err != nil {
		return User{}, err
	}
	if err := also(ctx, user); err != nil {
		return User{}, err
	}
	if err := s.welcome(ctx, user); err != nil {
		return User{}, err
	}
	return user, s.noteDevice(ctx, user, true, now)
}

// welcome sends the welcome mail to a new user, who has joined their tenant.
func (s *Service) welcome(ctx context.Context, user User) error {
	if s.deps.Notices == nil { // in the CLI
		return nil
	}
	locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, i18n.Locale(ctx))
	if err != nil {
		return err
	}
	return s.deps.Notices.Welcome(ctx, locale, user.Email, user.Name)
}

// requestedLocale returns the language that the request asks for, or nil.
func requestedLocale(ctx context.Context) *string {
	if locale := i18n.RequestedLocale(ctx); locale != "" {
		return &locale
	}
	return nil
}

func firstTenantName(r Registration) string {
	name := r.TenantName
	if name == "" {
		name = r.Name + "'s Organization"
	}
	if runes := []rune(name); len(runes) > maxTenantName {
		name = string(runes[:maxTenantName])
	}
	return name
}

// Login checks an email and a password and issues the credentials of grant. A wrong password, an
// unknown email and an account without a password return the same error (INVALID_CREDENTIALS) and
// take the same time.
//
// Invariant: credentials are only issued for the current password. Login compares the hash that it
// checked with the current hash under the user's lock, and checks the password again if the hash
// has changed. A concurrent login may therefore rehash the password, while a concurrent reset makes
// this login fail.
func (s *Service) Login(ctx context.Context, email, password string, grant Grant) (user User, tokens Tokens, err error) {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		normalized = "" // no account matches, and the login takes the same time
	}
	guess, err := s.countGuess(ctx, normalized, errTooManyGuesses, func(ctx context.Context) error { return s.recordBlocked(ctx, normalized) })
	if err != nil {
		return User{}, Tokens{}, err
	}
	for range loginTries {
		user, tokens, err = s.login(ctx, normalized, password, grant)
		if err == nil {
			return user, tokens, guess.recordRight(ctx)
		}
		if !errors.Is(err, errPasswordChanged) {
			break
		}
		err = errCredentials
	}
	if errors.Is(err, errCredentials) {
		return User{}, Tokens{}, cmp.Or(guess.recordWrong(ctx), err)
	}
	return User{}, Tokens{}, errors.Join(guess.recordRight(ctx), err)
}

// loginTries is the number of attempts if the password changes while it is checked.
const loginTries = 3

// login is one attempt of Login. It returns errPasswordChanged if the password has changed since it
// was checked.
func (s *Service) login(ctx context.Context, email, password string, grant Grant) (User, Tokens, error) {
	user, hash, err := s.store.userByEmail(ctx, email)
	if err != nil && !errors.Is(err, errNoUser) {
		return User{}, Tokens{}, err
	}
	ok, isOutdated, err := s.deps.Passwords.check(ctx, password, hash)
	if err != nil {
		return User{}, Tokens{}, err
	}
	if !ok {
		return User{}, Tokens{}, errCredentials
	}
	renewed := ""
	if isOutdated {
		if renewed, err = s.deps.Passwords.Hash(ctx, password); err != nil {
			return User{}, Tokens{}, err
		}
	}
	var tokens Tokens
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		present, err := s.lockFor(ctx, user.ID, grant)
		switch {
		case errors.Is(err, errNoUser): // the account was deleted since the check
			return errPasswordChanged
		case err != nil:
			return err
		case present.passwordHash == nil || *present.passwordHash != *hash:
			return errPasswordChanged
		}
		user = present.User
		if renewed != "" {
			if err := s.store.updatePassword(ctx, user.ID, renewed, now); err != nil {
				return err
			}
		}
		grant.Methods = []string{authz.Password}
		tokens, err = s.logIn(ctx, present, grant, now)
		return err
	})
	return user, tokens, err
}

// maxLogins is the maximum number of concurrent logins of a user (rules: account#logins).
const maxLogins = 100

// logIn issues the credentials of a login and records the login, unless it needs a second factor.
// See issue.
func (s *Service) logIn(ctx context.Context, user lockedUser, grant Grant, now time.Time) (Tokens, error) {
	tokens, err := s.issue(ctx, user, grant, now)
	if err != nil || tokens.Challenge != nil {
		return tokens, err
	}
	if err := s.noteDevice(ctx, user.User, grant.IsNewUser, now); err != nil {
		return Tokens{}, err
	}
	if err := s.recordExempt(ctx, user.User, grant); err != nil {
		return Tokens{}, err
	}
	return tokens, s.Record(ctx, user.ID, "login.succeeded", nil, map[string]any{"method": grant.method()})
}

// issue creates and stores the credentials of a new login, and ends the oldest logins beyond
// maxLogins. It is the only source of credentials. If the user has a second factor that the login
// has not passed, it stores a challenge instead. The caller has locked the user and the owner of
// the session that the grant replaces (see lockFor).
func (s *Service) issue(ctx context.Context, user lockedUser, grant Grant, now time.Time) (Tokens, error) {
	if user.hasFactor && !grant.FactorPassed {
		return s.challenge(ctx, user.ID, grant, now)
	}
	if grant.RevokePrevious {
		if err := s.endAll(ctx, user.ID, now); err != nil {
			return Tokens{}, err
		}
	}
	if err := s.useIdentity(ctx, &grant, now); err != nil {
		return Tokens{}, err
	}
	tokens, err := s.insertLogin(ctx, user.ID, grant, now)
	if err != nil {
		return Tokens{}, err
	}
	if err := s.store.markLogin(ctx, user.ID, now); err != nil {
		return Tokens{}, err
	}
	old, err := s.store.listOldLogins(ctx, user.ID, maxLogins, now)
	if err != nil || len(old) == 0 {
		return tokens, err
	}
	for _, family := range old {
		if _, err := s.store.revokeLogin(ctx, user.ID, family, now); err != nil {
			return Tokens{}, err
		}
	}
	return tokens, s.deps.Impersonations.EndOrphaned(ctx, user.ID)
}

func (s *Service) insertLogin(ctx context.Context, userID int64, grant Grant, now time.Time) (Tokens, error) {
	l := s.deps.Lifetimes
	of := login{
		userID: userID, family: uuid.New(), began: now, end: now.Add(l.Family), identity: grant.Identity, connection: grant.Connection,
		methods: strings.Join(grant.Methods, " "), factorPassed: grant.FactorPassed,
	}
	if !grant.Session {
		of.limit(grant.MaxLife)
		tokens := Tokens{Access: newAccessToken(), Refresh: newRefreshToken()}
		return tokens, s.store.insertTokens(ctx, of, tokens, now, l)
	}
	if err := s.endReplacedSession(ctx, grant, now); err != nil {
		return Tokens{}, err
	}
	idle := l.Session
	of.end = now.Add(l.SessionEnd)
	if grant.Remember {
		idle, of.end = l.Remembered, now.Add(l.RememberedEnd)
	}
	of.limit(grant.MaxLife)
	tokens := Tokens{Session: newAccessToken()}
	return tokens, s.store.insertSession(ctx, of, tokens.Session, now, idle)
}

// ExtendSession extends a session by d when the sandbox clock moves forward by d. It does nothing
// if the session has ended.
func (s *Service) ExtendSession(ctx context.Context, secret string, d time.Duration) error {
	if secret == "" {
		return nil
	}
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		return s.store.extendSession(ctx, secret, s.deps.Clock.Now(), d)
	})
}

// Memberships returns the memberships of a user.
func (s *Service) Memberships(ctx context.Context, userID int64) ([]Membership, error) {
	return s.deps.Tenants.MembershipsOf(ctx, userID)
}

// pruneAfter is how long an expired credential is kept, so that an old refresh token is reported as
// expired and not as unknown.
const pruneAfter = 30 * 24 * time.Hour

// Prune deletes credentials that expired more than pruneAfter ago, in batches of users.
func (s *Service) Prune(ctx context.Context) error {
	now := s.deps.Clock.Now()
	if err := s.store.deleteOldGuesses(ctx, now.Add(-guessWindow)); err != nil {
		return err
	}
	if err := s.store.deleteOldChallenges(ctx, now); err != nil {
		return err
	}
	if err := s.store.deleteOldEmailCodes(ctx, now.Add(-codeMailWindow)); err != nil {
		return err
	}
	if err := s.store.deleteOldDevices(ctx, now.Add(-deviceMemory)); err != nil {
		return err
	}
	before := now.Add(-pruneAfter)
	for {
		users, err := s.store.listUsersWithExpired(ctx, before)
		if err != nil || len(users) == 0 {
			return err
		}
		err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			_, err := s.lock(ctx, users[0], users[1:]...)
			if errors.Is(err, errNoUser) { // the user was deleted, with the credentials
				return nil
			}
			if err != nil {
				return err
			}
			for _, id := range users {
				if err := s.store.deleteExpired(ctx, id, before); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// Discard deletes a new, unused account and its credentials.
func (s *Service) Discard(ctx context.Context, userID int64) error {
	return s.store.deleteUser(ctx, userID)
}

// LocaleOfEmail returns the language that the user with the email has chosen. It returns nil if the
// user has not chosen one or no account uses the email.
func (s *Service) LocaleOfEmail(ctx context.Context, email string) (*string, error) {
	user, _, err := s.store.userByEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return nil, nil //nolint:nilnil // no language was chosen
	}
	return user.Locale, err
}

// Exists reports whether an account uses the email.
func (s *Service) Exists(ctx context.Context, email string) (bool, error) {
	_, _, err := s.store.userByEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return false, nil
	}
	return err == nil, err
}
