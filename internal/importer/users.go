package importer

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/factor"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// kindGone marks the emails of users who were imported and whose accounts no longer exist.
const kindUser, kindEmail, kindGone = "user", "email", "gone"

var userColumns = []column{
	{"id", true}, {"email", true}, {"name", true}, {"locale", false}, {"verified", false}, {"password_hash", false}, {"totp_secret", false},
}

// importedUser is a line of the users file.
type importedUser struct {
	account.ImportedUser

	totpSecret string // "" for a user without an authenticator app
}

// user decides how to import a line of the users file.
func (s *Service) user(ctx context.Context, p *pass, r row) (decision, error) {
	u, err := userOf(r)
	if err == nil && u.totpSecret != "" && s.deps.SecretsKeyErr != nil {
		err = newProblem("totp_secret", "needs the service's secrets key (TENANTRY_SECRETS_KEY_FILE): %v", s.deps.SecretsKeyErr)
	}
	if err != nil {
		return decision{}, err
	}
	if err := errors.Join(p.checkUnique("id", kindUser, r.get("id")), p.checkUnique("email", kindEmail, u.Email)); err != nil {
		return decision{}, err
	}
	known, found, err := s.deps.Accounts.Find(ctx, u.Email)
	if err != nil {
		return decision{}, err
	}
	before, again, err := s.store.findImported(ctx, kindUser, r.get("id"))
	if err != nil {
		return decision{}, err
	}
	// Leave the password hash and the TOTP secret out of the digest: they are only used for new
	// accounts, because users change them.
	now := importedLine{kind: kindUser, key: r.get("id"), digest: lineHash(r, userColumns, "password_hash", "totp_secret"), made: true}
	id := strconv.FormatInt(known.ID, 10)
	switch {
	case again && before.digest == now.digest:
		if !found {
			err = p.checkUnique("email", kindGone, u.Email)
		}
		return decision{}, err
	case again && (!found || before.resourceID != id):
		return decision{}, newProblem("email", "the user with this ID has a different address; users change their address themselves")
	case again && !before.made:
		return s.keepUnchanged(now, id, "there was an account with this address before; it stays as it is"), nil
	case again:
		return s.updateUser(now, known, u.ImportedUser), nil
	case found && !known.Verified:
		return decision{}, newProblem("email", "an account with this address exists, but the address is not verified, so it can belong to a different person")
	case found:
		now.made = false
		return s.keepUnchanged(now, id, "there is an account with this address, which stays as it is"), nil
	}
	return decision{action: create, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			made, err := s.deps.Accounts.Import(ctx, u.ImportedUser)
			if err == nil && u.totpSecret != "" {
				err = s.deps.Factors.ImportTOTP(ctx, made, u.totpSecret)
			}
			if err != nil {
				return err
			}
			now.resourceID = strconv.FormatInt(made, 10)
			return s.finish(ctx, now, &audit.Entry{
				Action: "user.imported", Resource: "user", ResourceID: now.resourceID,
				After: map[string]any{"email_verified": u.Verified, "has_password": u.PasswordHash != nil, "mfa_enabled": u.totpSecret != ""},
			})
		})
	}}, nil
}

func (s *Service) updateUser(now importedLine, known account.ExistingUser, u account.ImportedUser) decision {
	now.resourceID = strconv.FormatInt(known.ID, 10)
	if known.IsPlatformAdmin {
		return s.keepUnchanged(now, now.resourceID, "is a platform admin by now, whom no import changes")
	}
	var notes []string
	if known.Verified && !u.Verified {
		notes = append(notes, "verified: the address is confirmed here, and stays so")
	}
	if u.Locale != nil && (known.Locale == nil || *known.Locale != *u.Locale) {
		notes = append(notes, "locale: counts for new accounts alone; people choose their language themselves")
	}
	if known.Name == u.Name && (known.Verified || !u.Verified) {
		return s.keepUnchanged(now, now.resourceID, notes...)
	}
	return decision{action: update, notes: notes, do: func(ctx context.Context) error {
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.deps.Accounts.UpdateImported(ctx, known.ID, u); err != nil {
				return err
			}
			return s.finish(ctx, now, &audit.Entry{
				Action: "user.imported", Resource: "user", ResourceID: now.resourceID,
				Before: map[string]any{"email_verified": known.Verified}, After: map[string]any{"email_verified": known.Verified || u.Verified},
			})
		})
	}}
}

// keepUnchanged returns a decision that only updates the record of the line.
func (s *Service) keepUnchanged(now importedLine, resourceID string, notes ...string) decision {
	now.resourceID = resourceID
	return decision{notes: notes, do: func(ctx context.Context) error { return s.finish(ctx, now, nil) }}
}

// finish records that a line was imported, and adds the audit entry e unless it is nil.
func (s *Service) finish(ctx context.Context, now importedLine, e *audit.Entry) error {
	if e != nil {
		if err := s.deps.Audit.Record(ctx, *e); err != nil {
			return err
		}
	}
	return s.store.put(ctx, now, s.deps.Clock.Now())
}

// userOf parses a line of the users file.
func userOf(r row) (u importedUser, err error) {
	var problems []error
	if u.Email, err = mail.NormalizeAddress(r.get("email")); err != nil {
		problems = append(problems, newProblem("email", "is not an email address: %q", r.get("email")))
	}
	u.Name = r.get("name")
	problems = append(problems, oneLine("name", u.Name, 255), oneLine("id", r.get("id"), 255))
	if u.Locale = r.optional("locale"); u.Locale != nil && !slices.Contains(i18n.Locales(), *u.Locale) {
		problems = append(problems, newProblem("locale", "must be one of %s: %q", strings.Join(i18n.Locales(), ", "), *u.Locale))
	}
	switch strings.ToLower(r.get("verified")) { // spreadsheets write TRUE
	case "true":
		u.Verified = true
	case "false", "":
	default:
		problems = append(problems, newProblem("verified", "must be true or false: %q", r.get("verified")))
	}
	u.PasswordHash = r.optional("password_hash")
	if err := u.CheckPasswordHash(); err != nil {
		problems = append(problems, newProblem("password_hash", "%v", err)) // the message never contains the hash
	}
	if secret := r.get("totp_secret"); secret != "" {
		if u.totpSecret, err = factor.ParseSecret(secret); err != nil {
			problems = append(problems, newProblem("totp_secret", "%v", err)) // the message never contains the secret
		} else if !u.Verified {
			problems = append(problems, newProblem("totp_secret", "needs a verified address"))
		}
	}
	return u, errors.Join(problems...)
}

// oneLine returns a problem if the text is too long or contains invisible characters.
func oneLine(field, text string, longest int) error {
	if utf8.RuneCountInString(text) > longest || !shape.IsName(text) {
		return newProblem(field, "must have at most %d characters, without control, format or private-use characters", longest)
	}
	return nil
}

// findUser returns the normalized email and the ID of its user. The ID is 0 if this import will
// create the user first. An unverified account that was not imported is a problem, because the
// address may belong to another person.
func (s *Service) findUser(ctx context.Context, p *pass, field, email string) (address string, id int64, err error) {
	address, err = mail.NormalizeAddress(email)
	if err != nil {
		return "", 0, newProblem(field, "is not an email address: %q", email)
	}
	known, found, err := s.deps.Accounts.Find(ctx, address)
	switch {
	case err != nil:
		return "", 0, err
	case !found && p.has(kindEmail, address):
		return address, 0, nil
	case !found:
		return "", 0, newProblem(field, "no user with this address exists or is in the users file: %q", email)
	case known.Verified:
		return address, known.ID, nil
	}
	made, err := s.store.isImported(ctx, kindUser, strconv.FormatInt(known.ID, 10))
	if err == nil && !made {
		err = newProblem(field, "an account with this address exists, but the address is not verified, so it can belong to a different person: %q", email)
	}
	return address, known.ID, err
}
