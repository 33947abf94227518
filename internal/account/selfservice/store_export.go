package selfservice

import (
	"context"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/selfservice/selfservicesql"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// isInTenant reports whether the user is a member of a tenant.
func (s store) isInTenant(ctx context.Context, userID int64) (bool, error) {
	n, err := s.q(ctx).MembersOf(ctx, userID)
	return n > 0, sqldb.Wrap(err, "find tenant of user")
}

// erase deletes the data of a user and clears their row. It replaces the email with an invalid one,
// so that the address can be registered again.
func (s store) erase(ctx context.Context, user account.User, now time.Time) error {
	q := s.q(ctx)
	for _, remove := range []func() error{
		func() error { return q.DeleteCredentials(ctx, user.ID) },
		func() error { return q.DeleteIdentities(ctx, user.ID) },
		func() error { return q.DeletePushes(ctx, user.ID) },
		func() error { return q.DeleteFormerPlaces(ctx, user.ID) },
		func() error { return q.ForgetMaker(ctx, &user.ID) },
		func() error { return s.eraseAuthor(ctx, user.ID) },
		func() error { return q.DeleteInvitationsTo(ctx, user.Email) },
		func() error { return q.DeleteGuesses(ctx, account.HashSecret(user.Email)) },
		func() error { return q.DeleteDevices(ctx, user.ID) },
		func() error { return search.NewIndex(s.db).RemoveUser(ctx, user.ID) },
		func() error {
			return q.EmptyUser(ctx, selfservicesql.EmptyUserParams{
				ID: user.ID, Email: "deleted:" + strconv.FormatInt(user.ID, 10), DeletedAt: &now, Now: now,
			})
		},
	} {
		if err := remove(); err != nil {
			return sqldb.Wrap(err, "erase user")
		}
	}
	return nil
}

// mapRows converts rows of the export to views.
func mapRows[R, V any](list []R, err error, show func(R) V) ([]V, error) {
	views := make([]V, len(list))
	for i, row := range list {
		views[i] = show(row)
	}
	return views, sqldb.Wrap(err, "read personal data")
}

// loadExport loads the personal data of a user except the logins and the lists that are read in
// pages.
func (s store) loadExport(ctx context.Context, userID int64) (k Export, err error) {
	q := s.q(ctx)
	u, err := q.ExportUser(ctx, userID)
	if err != nil {
		return k, sqldb.Wrap(err, "read personal data")
	}
	k.Account = ExportAccount{
		ID: u.ID, Name: u.Name, Email: u.Email, ExternalID: u.ExternalID, EmailVerifiedAt: shape.TP(u.EmailVerifiedAt), Locale: u.Locale,
		HasPassword: u.HasPassword, IsPlatformAdmin: u.IsPlatformAdmin, LastLoginAt: shape.TP(u.LastLoginAt), CreatedAt: shape.T(u.CreatedAt), UpdatedAt: shape.T(u.UpdatedAt),
	}
	if u.AvatarHash != nil {
		path := "/api/v1/avatars/" + *u.AvatarHash
		k.Account.Avatar = &path
	}
	for _, read := range []func() error{
		func() error {
			list, err := q.ExportMemberships(ctx, userID)
			k.Tenants, err = mapRows(list, err, func(r selfservicesql.ExportMembershipsRow) ExportMembership {
				return ExportMembership{ID: r.ID, Name: r.Name, Role: r.RoleName, JoinedAt: shape.T(r.JoinedAt), DeletedAt: shape.TP(r.DeletedAt)}
			})
			return err
		},
		func() error {
			list, err := q.ExportIdentities(ctx, userID)
			k.Identities, err = mapRows(list, err, func(r selfservicesql.ExportIdentitiesRow) ExportIdentity {
				return ExportIdentity{Provider: r.Provider, Subject: r.Subject, Email: r.Email, CreatedAt: shape.T(r.CreatedAt), LastUsedAt: shape.TP(r.LastUsedAt)}
			})
			return err
		},
		func() error {
			list, err := q.ExportDevices(ctx, userID)
			k.Devices, err = mapRows(list, err, func(r selfservicesql.ExportDevicesRow) ExportDevice {
				return ExportDevice{Hash: r.DeviceHash, LastLoginAt: shape.T(r.LastLoginAt), PreviousLoginAt: shape.TP(r.PreviousLoginAt)}
			})
			return err
		},
		func() error {
			list, err := q.ExportPushes(ctx, userID)
			k.Browsers, err = mapRows(list, err, func(r selfservicesql.ExportPushesRow) ExportBrowser {
				return ExportBrowser{Endpoint: r.Endpoint, CreatedAt: shape.T(r.CreatedAt)}
			})
			return err
		},
		func() error {
			list, err := q.ExportVerifications(ctx, userID)
			k.Links, err = mapRows(list, err, func(r selfservicesql.ExportVerificationsRow) ExportLink {
				return ExportLink{Email: r.Email, CreatedAt: shape.T(r.CreatedAt), ExpiresAt: shape.T(r.ExpiresAt)}
			})
			return err
		},
	} {
		if err := read(); err != nil {
			return k, err
		}
	}
	err = s.loadExportedActivity(ctx, &k)
	return k, err
}

// loadExportedActivity loads the user's received invitations, API keys and impersonations.
func (s store) loadExportedActivity(ctx context.Context, k *Export) error {
	q, userID := s.q(ctx), k.Account.ID
	received, err := q.ExportInvitations(ctx, k.Account.Email)
	k.Invitations, err = mapRows(received, err, func(r selfservicesql.ExportInvitationsRow) ExportInvitation {
		return ExportInvitation{Tenant: r.TenantName, Status: r.Status, CreatedAt: shape.T(r.CreatedAt), ExpiresAt: shape.T(r.ExpiresAt)}
	})
	if err != nil {
		return err
	}
	keys, err := q.ExportKeys(ctx, &userID)
	k.Keys, err = mapRows(keys, err, func(r selfservicesql.ExportKeysRow) ExportKey {
		return ExportKey{ID: r.ID, Name: r.Name, CreatedAt: shape.T(r.CreatedAt)}
	})
	if err != nil {
		return err
	}
	acted, err := q.ExportImpersonations(ctx, userID)
	k.Impersonation, err = mapRows(acted, err, func(r selfservicesql.ExportImpersonationsRow) ExportImpersonation {
		return ExportImpersonation{Action: r.Action, CreatedAt: shape.T(r.CreatedAt)}
	})
	return err
}

// exportPageSize is the number of entries of a long list that are read at a time.
const exportPageSize = 500

// longList is a list of the export that is read while it is sent. next returns the next page, and
// whether there may be more.
type longList struct {
	name string
	next func(ctx context.Context) (entries []any, more bool, err error)
}

// sentInvitations returns the invitations that a user has sent, oldest first.
func (s store) sentInvitations(userID int64) longList {
	p := selfservicesql.ExportSentParams{InviterID: &userID, Most: exportPageSize}
	return longList{"invitations_sent", func(ctx context.Context) ([]any, bool, error) {
		list, err := s.q(ctx).ExportSent(ctx, p)
		if len(list) > 0 {
			last := list[len(list)-1]
			p.Since, p.After = last.CreatedAt, last.ID
		}
		entries, err := mapRows(list, err, func(r selfservicesql.ExportSentRow) any {
			return ExportSentInvitation{ID: r.ID, Status: r.Status, CreatedAt: shape.T(r.CreatedAt)}
		})
		return entries, len(list) == exportPageSize, err
	}}
}

// changes returns the audit entries of a user, oldest first.
func (s store) changes(userID int64) longList {
	p := selfservicesql.ExportEntriesParams{ActorID: &userID, Most: exportPageSize}
	return longList{"audit_log", func(ctx context.Context) ([]any, bool, error) {
		list, err := s.q(ctx).ExportEntries(ctx, p)
		if len(list) > 0 {
			last := list[len(list)-1]
			p.Since, p.After = last.CreatedAt, last.ID
		}
		entries, err := mapRows(list, err, func(r selfservicesql.ExportEntriesRow) any {
			return ExportChange{
				Action: r.Action, Resource: r.Resource, ResourceID: r.ResourceID, TenantID: r.TenantID, IP: r.Ip, UserAgent: r.UserAgent,
				CreatedAt: shape.T(r.CreatedAt),
			}
		})
		return entries, len(list) == exportPageSize, err
	}}
}

// requests returns the logged requests of a user, oldest first.
func (s store) requests(userID int64) longList {
	p := selfservicesql.ExportRequestsParams{UserID: &userID, Most: exportPageSize}
	return longList{"request_log", func(ctx context.Context) ([]any, bool, error) {
		list, err := s.q(ctx).ExportRequests(ctx, p)
		if len(list) > 0 {
			last := list[len(list)-1]
			p.Since, p.After = last.At, last.ID
		}
		entries, err := mapRows(list, err, func(r selfservicesql.ExportRequestsRow) any {
			return ExportRequest{
				Method: r.Method, Route: r.Route, Path: r.Path, Status: r.Status, Code: r.Code, TenantID: r.TenantID, IP: r.Ip, CreatedAt: shape.T(r.At),
			}
		})
		return entries, len(list) == exportPageSize, err
	}}
}
