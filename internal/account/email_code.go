package account

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
)

const (
	// emailCodeLifetime is how long a code is valid.
	emailCodeLifetime = 10 * time.Minute
	// emailCodeAttempts is the number of attempts at one code.
	emailCodeAttempts = 5
	// emailCodeLength is the number of digits of a code.
	emailCodeLength = 8
	// emailCodeInterval is the time between two mails to an address, and emailCodesPerHour the
	// number of mails in codeMailWindow.
	emailCodeInterval = time.Minute
	emailCodesPerHour = 5
	codeMailWindow    = time.Hour
)

// codeRequest is a request for a login code (rules: account#email-codes). It is not a credential: a
// login needs the code from the mail, too.
type codeRequest struct {
	id        string // only in the response; its hash is stored
	expiresAt time.Time
}

func newCodeRequest(now time.Time) codeRequest {
	return codeRequest{id: uuid.New().String(), expiresAt: now.Add(emailCodeLifetime)} // all of the ID must be random
}

// newEmailCode returns a random code.
func newEmailCode() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(100_000_000)) // crypto/rand never fails: it crashes the program instead
	return fmt.Sprintf("%0*d", emailCodeLength, n)
}

func isEmailCode(text string) bool {
	return len(text) == emailCodeLength && strings.Trim(text, "0123456789") == ""
}

// hashEmailCode returns the hash under which the code of a request is stored.
func (s *Service) hashEmailCode(request, code string) string {
	return s.deps.Secrets.Hash("email_codes:"+request, code)
}

// codeMail is the payload of JobEmailCode.
type codeMail struct {
	Request string `json:"request"` // hash of the ID
	Email   string `json:"email"`
	Locale  string `json:"locale"` // requested language; "" if none
}

// requestCode mails a login code if an account uses the email. The response does not reveal whether
// there is such an account: the lookup runs in the background, so both cases take the same time and
// count toward the same limits. Over the limits, the new request gets no code, and the earlier
// request stays valid.
func (s *Service) requestCode(ctx context.Context, email string, grant Grant) (codeRequest, error) {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return codeRequest{}, errEmail
	}
	r := newCodeRequest(s.deps.Clock.Now())
	return r, s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		isMailed, err := s.putCodeRequest(ctx, normalized, r, grant, false)
		if err != nil || !isMailed {
			return err
		}
		return s.deps.Jobs.Enqueue(ctx, JobEmailCode, codeMail{Request: hashToken(r.id), Email: normalized, Locale: i18n.RequestedLocale(ctx)})
	})
}

// putCodeRequest makes a request the only valid request of an email, and counts it as a mail. If
// too many mails were sent to the address, it reports false and changes nothing. isNew means that
// the account is new: earlier requests for the email do not count unless a code was mailed.
func (s *Service) putCodeRequest(ctx context.Context, email string, r codeRequest, grant Grant, isNew bool) (isMailed bool, err error) {
	wasMailed, mails, err := s.store.lockEmailCode(ctx, email, r, grant)
	if err != nil {
		return false, err
	}
	now := s.deps.Clock.Now()
	if mails = recentMails(mails, now); !s.deps.LimitCodes || isNew && !wasMailed {
		mails = nil
	}
	if len(mails) >= emailCodesPerHour || len(mails) > 0 && now.Sub(mails[len(mails)-1]) < emailCodeInterval {
		return false, nil
	}
	return true, s.store.replaceEmailCode(ctx, email, r, grant, append(mails, now))
}

// recentMails returns the times that are less than codeMailWindow from now. It drops times further
// in the future, which mean that the clock was set back.
func recentMails(mails []time.Time, now time.Time) []time.Time {
	var recent []time.Time
	for _, at := range mails {
		if now.Sub(at).Abs() < codeMailWindow {
			recent = append(recent, at)
		}
	}
	return recent
}

// HandleEmailCode handles JobEmailCode. A retry mails nothing if the first attempt was committed.
func (s *Service) HandleEmailCode(ctx context.Context, job jobs.Job) error {
	var m codeMail
	if err := job.Decode(&m); err != nil {
		return err
	}
	user, _, err := s.store.userByEmail(ctx, m.Email)
	if errors.Is(err, errNoUser) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		present, err := s.lock(ctx, user.ID)
		if errors.Is(err, errNoUser) || err == nil && present.Email != m.Email { // deleted or changed since
			return nil
		}
		if err != nil {
			return err
		}
		return s.mailCode(ctx, present.User, m.Request, cmp.Or(m.Locale, i18n.Default))
	})
}

// mailCode mails the code of a request, unless a newer request has replaced it. The caller has
// locked the user. request is the hash of the ID.
func (s *Service) mailCode(ctx context.Context, user User, request, locale string) error {
	code := newEmailCode()
	isStored, err := s.store.setEmailCode(ctx, request, user.ID, s.hashEmailCode(request, code), s.deps.Clock.Now())
	if err != nil || !isStored {
		return err
	}
	locale, err = s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, locale)
	if err != nil {
		return err
	}
	return s.deps.Notices.EmailCode(ctx, locale, user.Email, user.Name, code)
}

// codeLogin is an attempt to log in with a code.
type codeLogin struct {
	request, code string
	// keepTenant means that an account whose email was never verified keeps its tenant. Only the
	// user knows whether the tenant is theirs.
	keepTenant bool
}

// logInWithCode issues the credentials of a login with a code from a mail. Every code that does not
// work returns the same error (INVALID_CREDENTIALS).
//
// Invariant: an attempt is counted, and committed, before its code is compared, so concurrent
// attempts cannot exceed emailCodeAttempts together. The code is used up under the user's lock, in
// the transaction that issues the credentials. So it completes at most one login, and cannot be
// used after an event that invalidates codes.
func (s *Service) logInWithCode(ctx context.Context, l codeLogin, grant Grant) (user User, tokens Tokens, err error) {
	if !isEmailCode(l.code) {
		return User{}, Tokens{}, errEmailCode
	}
	request := hashToken(l.request)
	reserved, err := s.store.reserveEmailCode(ctx, request, grant, s.deps.Clock.Now())
	if err != nil {
		return User{}, Tokens{}, err
	}
	hash := s.hashEmailCode(request, l.code)
	if !hmac.Equal([]byte(hash), []byte(reserved.hash)) {
		return User{}, Tokens{}, errEmailCode
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		present, err := s.lockForCode(ctx, reserved.userID, grant)
		if errors.Is(err, errNoUser) {
			return errEmailCode
		}
		if err != nil {
			return err
		}
		if err := s.store.useEmailCode(ctx, request, hash); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		if !present.verified {
			if err := s.proveEmail(ctx, present, l.keepTenant, now); err != nil {
				return err
			}
		}
		user, grant.Methods = present.User, []string{authz.Email}
		tokens, err = s.logIn(ctx, present, grant, now)
		return err
	})
	return user, tokens, err
}

// lockForCode locks a user with everything that a login with a code changes: the tenant and the
// impersonators if the email was never verified (see lockByVerifiedEmail), and the owner of the
// session that the grant replaces.
func (s *Service) lockForCode(ctx context.Context, userID int64, grant Grant) (lockedUser, error) {
	verified, err := s.store.isVerified(ctx, userID)
	if err != nil {
		return lockedUser{}, err
	}
	if verified { // a verified email stays verified
		return s.lockFor(ctx, userID, grant)
	}
	if err := s.deps.Tenants.LockTenantOf(ctx, userID); err != nil {
		return lockedUser{}, err
	}
	others, err := s.deps.Impersonations.ImpersonatorsOf(ctx, userID)
	if err != nil {
		return lockedUser{}, err
	}
	owner, err := s.replacedOwner(ctx, grant)
	if err == nil {
		others = append(others, owner)
	} else if !errors.Is(err, errNoCredential) {
		return lockedUser{}, err
	}
	return s.lock(ctx, userID, others...)
}

// proveEmail marks the email of a user as verified after the first login with a code. If the
// account has a password, another person may have registered it with the user's email, so
// proveEmail claims the account. Without a password, only the owner of the email could log in, so
// nothing is removed. The caller has locked the user with lockForCode.
func (s *Service) proveEmail(ctx context.Context, user lockedUser, keepTenant bool, now time.Time) error {
	if user.passwordHash == nil {
		if err := s.store.verifyEmail(ctx, user.ID, now); err != nil {
			return err
		}
		return s.Record(ctx, user.ID, "email.verified", nil, nil)
	}
	if err := s.store.clearGuesses(ctx, user.Email); err != nil {
		return err
	}
	if err := s.removeIdentities(ctx, user.ID); err != nil {
		return err
	}
	if err := s.claim(ctx, user.ID, keepTenant); err != nil {
		return err
	}
	return s.Record(ctx, user.ID, "email.verified", nil, nil)
}

// registerWithoutPassword creates an account and its first tenant, and mails a code for its first
// login. It issues no credential.
func (s *Service) registerWithoutPassword(ctx context.Context, r Registration, grant Grant) (user User, request codeRequest, err error) {
	request = newCodeRequest(s.deps.Clock.Now())
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if user, err = s.createAccount(ctx, r, nil, s.firstTenant(r)); err != nil {
			return err
		}
		isMailed, err := s.putCodeRequest(ctx, user.Email, request, grant, true)
		if err != nil || !isMailed {
			return err
		}
		return s.mailCode(ctx, user, hashToken(request.id), i18n.Locale(ctx))
	})
	return user, request, err
}

var errEmail = fault.OnField("email", "validation.email")
