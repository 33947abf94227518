package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/tenantry/tenantry/internal/i18n"
)

// LocaleFor returns the language of mail about a tenant (rules: mail#language): the "locale" in the
// tenant's settings, or else the language that the reader has chosen, or else otherwise. own is the
// reader's language, or nil.
func (t Tenant) LocaleFor(own *string, otherwise string) string {
	var settings map[string]any // a struct would also accept the key LOCALE
	_ = json.Unmarshal(t.Settings, &settings)
	set, _ := settings["locale"].(string)
	personal := ""
	if own != nil {
		personal = *own
	}
	return cmp.Or(i18n.FirstSupported(set, personal), otherwise)
}

// Locale returns the language of mail and invoices to a tenant: LocaleFor with the owner's
// language.
func (s *Service) Locale(ctx context.Context, t Tenant, otherwise string) (string, error) {
	if set := t.LocaleFor(nil, ""); set != "" {
		return set, nil
	}
	own, err := s.store.ownerLocale(ctx, t.ID)
	if err != nil && !errors.Is(err, errNoOwner) {
		return "", err
	}
	return t.LocaleFor(own, otherwise), nil
}

// LocaleOf returns the language of mail to a user: LocaleFor for the user's tenant, if any. own is
// the language that the user has chosen, or nil.
func (s *Service) LocaleOf(ctx context.Context, userID int64, own *string, otherwise string) (string, error) {
	t, err := s.store.settingsOf(ctx, userID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", err
	}
	return t.LocaleFor(own, otherwise), nil
}
