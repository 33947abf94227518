package account

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/lastused"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps is what the service needs.
type Deps struct {
	DB        *sqldb.DB
	Clock     clock.Clock
	Passwords *passwordHasher
	Tenants   tenantStore
	Jobs      *jobs.Queue // nil on the command line
	Notices   noticeMailer
	Lifetimes Lifetimes
	// Impersonations end with the credentials that they depend on; nil where nobody
	// can impersonate.
	Impersonations impersonationStore
	Audit          auditTrail // nil records nothing
	// WrongPasswords is how many wrong passwords of one account are free in 15 minutes;
	// 0 does not count them.
	WrongPasswords int
	Log            *slog.Logger // nil logs nothing
	// Limiter limits the mails that strangers can cause; nil does not.
	Limiter rateLimiter
}

// rateLimiter decides whether one more of a group may pass for a key; *limit.Limiter is one.
type rateLimiter interface {
	Allow(ctx context.Context, group, key string) limit.Decision
}

// Service has the users and what authenticates them.
type Service struct {
	deps        Deps
	store       store
	credentials *querycache.Cache[string, credential] // by token hash
	uses        *lastused.Recorder                    // of credentials
}

// NewService returns the service.
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

// Registration is what a new user gives.
type Registration struct {
	Name, Email, Password string
	// TenantName is the name of the first tenant; "" is the user's name followed by
	// "'s Organization".
	TenantName string
	// WithoutTenant makes no first tenant, for a user who is going to accept an
	// invitation.
	WithoutTenant bool
	// EmailVerified says that the email is known to be the user's, because they have
	// received mail there.
	EmailVerified bool
}

// maxTenantName is the longest name of a tenant, in characters.
const maxTenantName = 255

// Register makes an account, its first tenant and its first login, all or nothing.
// An email that has an account is a validation error on email.
func (s *Service) Register(ctx context.Context, r Registration, grant Grant) (User, Tokens, error) {
	return s.RegisterWith(ctx, r, grant, func(ctx context.Context, user User) error {
		if r.WithoutTenant {
			return nil
		}
		_, err := s.deps.Tenants.Create(ctx, user.ID, firstTenantName(r))
		return err
	})
}

// CheckRegistration refuses the fields of a registration that Register refuses. A malformed
// email is accepted here.
func (s *Service) CheckRegistration(ctx context.Context, email, password string) error {
	return fault.Join(s.CheckEmail(ctx, email), CheckNewPassword(password))
}

// CheckEmail refuses an email that has an account. A malformed email is accepted here.
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

// RegisterWith makes an account and its first login, and calls also in the same
// transaction, for what belongs to the registration, such as joining a tenant.
func (s *Service) RegisterWith(ctx context.Context, r Registration, grant Grant, also func(context.Context, User) error) (User, Tokens, error) {
	email, err := mail.NormalizeAddress(r.Email)
	if err != nil {
		return User{}, Tokens{}, err
	}
	hash, err := s.deps.Passwords.HashNew(ctx, r.Password) // before the transaction, because it takes long
	if err != nil {
		return User{}, Tokens{}, err
	}
	user := User{Name: r.Name, Email: email, Locale: requestedLocale(ctx)}
	var tokens Tokens
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		// Nobody else sees the new user's row, which is as good as its lock.
		if err := s.lockReplaced(ctx, grant); err != nil {
			return err
		}
		id, err := s.store.insertUser(ctx, newUser{
			name: r.Name, email: email, passwordHash: &hash, verified: r.EmailVerified, locale: user.Locale,
		}, now)
		if err != nil {
			return err
		}
		user.ID = id
		if err := also(ctx, user); err != nil {
			return err
		}
		if err := s.welcome(ctx, email, r.Name); err != nil {
			return err
		}
		tokens, err = s.issue(ctx, id, grant, now)
		return err
	})
	return user, tokens, err
}

// welcome greets a new user in the language of the request.
func (s *Service) welcome(ctx context.Context, email, name string) error {
	if s.deps.Notices == nil { // on the command line
		return nil
	}
	return s.deps.Notices.Welcome(ctx, i18n.Locale(ctx), email, name)
}

// requestedLocale returns the language that a new user has asked for, nil for none.
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

// Login checks an email and a password and issues what grant asks for. A wrong
// password, an unknown email and an account without a password get the same refusal
// (INVALID_CREDENTIALS) and take the same time. revokePrevious ends every older
// credential of the user in the same transaction.
//
// Invariant: what is issued follows from the password that holds when it is issued. The
// hash that was checked is compared with the present one under the user's lock, and the
// password is checked anew if it has changed; so another login may renew the hash, and a
// reset makes this one a refusal.
func (s *Service) Login(ctx context.Context, email, password string, grant Grant, revokePrevious bool) (user User, tokens Tokens, err error) {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		normalized = "" // no account has it, and the login takes the same time
	}
	guess, err := s.countGuess(ctx, normalized)
	if err != nil {
		return User{}, Tokens{}, err
	}
	for range loginTries {
		user, tokens, err = s.login(ctx, normalized, password, grant, revokePrevious)
		if err == nil {
			return user, tokens, guess.recordRight(ctx)
		}
		if !errors.Is(err, errPasswordChanged) {
			break
		}
		err = errCredentials
	}
	if errors.Is(err, errCredentials) {
		if err := guess.recordWrong(ctx); err != nil {
			return User{}, Tokens{}, err
		}
	}
	return User{}, Tokens{}, err
}

// loginTries is how often a login checks a password that changes meanwhile.
const loginTries = 3

// login is one try of Login; errPasswordChanged where the password has changed since it
// was checked.
func (s *Service) login(ctx context.Context, email, password string, grant Grant, revokePrevious bool) (User, Tokens, error) {
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
		case errors.Is(err, errNoUser): // who has deleted the account meanwhile
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
		if revokePrevious {
			if err := s.endAll(ctx, user.ID, now); err != nil {
				return err
			}
		}
		if tokens, err = s.issue(ctx, user.ID, grant, now); err != nil {
			return err
		}
		return s.Record(ctx, user.ID, "login.succeeded", nil, map[string]any{"method": "password"})
	})
	return user, tokens, err
}

// maxLogins is how many logins of one user live at once (rules: account#logins).
const maxLogins = 100

// issue makes and stores what a new login hands out, and ends the oldest logins beyond
// maxLogins. The user and the owner of the session that the grant replaces are locked
// (see lockFor).
func (s *Service) issue(ctx context.Context, userID int64, grant Grant, now time.Time) (Tokens, error) {
	tokens, err := s.insertLogin(ctx, userID, grant, now)
	if err != nil {
		return Tokens{}, err
	}
	old, err := s.store.listOldLogins(ctx, userID, maxLogins, now)
	if err != nil || len(old) == 0 {
		return tokens, err
	}
	for _, family := range old {
		if _, err := s.store.revokeLogin(ctx, userID, family, now); err != nil {
			return Tokens{}, err
		}
	}
	return tokens, s.deps.Impersonations.EndOrphaned(ctx, userID)
}

func (s *Service) insertLogin(ctx context.Context, userID int64, grant Grant, now time.Time) (Tokens, error) {
	l := s.deps.Lifetimes
	of := login{userID: userID, family: uuid.New(), began: now, end: now.Add(l.Family), identity: grant.Identity}
	if !grant.Session {
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
	tokens := Tokens{Session: newAccessToken()}
	return tokens, s.store.insertSession(ctx, of, tokens.Session, now, idle)
}

// ExtendSession keeps a session alive while the sandbox's clock moves forward by d. It does nothing
// for a session that is not live.
func (s *Service) ExtendSession(ctx context.Context, secret string, d time.Duration) error {
	if secret == "" {
		return nil
	}
	return s.store.db.Tx(ctx, func(ctx context.Context) error {
		return s.store.extendSession(ctx, secret, s.deps.Clock.Now(), d)
	})
}

// Memberships lists the tenants that a user is in.
func (s *Service) Memberships(ctx context.Context, userID int64) ([]Membership, error) {
	return s.deps.Tenants.MembershipsOf(ctx, userID)
}

// pruneAfter is how long a dead credential is kept, so that whoever presents it is
// told that it has expired, not that it is unknown.
const pruneAfter = 30 * 24 * time.Hour

// Prune deletes credentials that expired long ago, user by user.
func (s *Service) Prune(ctx context.Context) error {
	if err := s.store.deleteOldGuesses(ctx, s.deps.Clock.Now().Add(-guessWindow)); err != nil {
		return err
	}
	before := s.deps.Clock.Now().Add(-pruneAfter)
	for {
		users, err := s.store.listUsersWithExpired(ctx, before)
		if err != nil || len(users) == 0 {
			return err
		}
		err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			_, err := s.lock(ctx, users[0], users[1:]...)
			if errors.Is(err, errNoUser) { // gone since, with its credentials
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

// Discard deletes an account that was just made and that nobody has used, with its
// credentials.
func (s *Service) Discard(ctx context.Context, userID int64) error {
	return s.store.deleteUser(ctx, userID)
}

// LocaleOfEmail returns the language that the user with an email has chosen, nil where
// they have chosen none, or where nobody has the email.
func (s *Service) LocaleOfEmail(ctx context.Context, email string) (*string, error) {
	user, _, err := s.store.userByEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return nil, nil //nolint:nilnil // nobody has chosen
	}
	return user.Locale, err
}

// Exists reports whether an email has an account.
func (s *Service) Exists(ctx context.Context, email string) (bool, error) {
	_, _, err := s.store.userByEmail(ctx, email)
	if errors.Is(err, errNoUser) {
		return false, nil
	}
	return err == nil, err
}
