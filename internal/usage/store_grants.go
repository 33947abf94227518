package usage

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// meterOfFeature returns the meter with the code of a feature. If only deleted meters have the
// code, it returns the newest of them, because the grants remain.
func (s store) meterOfFeature(ctx context.Context, code string) (Meter, error) {
	row, err := s.q(ctx).MeterOfFeature(ctx, code)
	return MeterOf(row), sqldb.WrapAbsent(err, "read meter of a feature", errNoSuchMeter)
}

// insertGrant stores a grant in a locked stream.
func (s store) insertGrant(ctx context.Context, g grant) error {
	author, err := encodeAuthor(g.by, true)
	if err != nil {
		return err
	}
	err = s.q(ctx).InsertGrant(ctx, usagesql.InsertGrantParams{
		TenantID: g.stream.TenantID, ID: g.id, MeterID: g.stream.MeterID, AmountUnits: g.amount.Units, AmountMillionths: g.amount.Millionths,
		StartsAt: g.startsAt, ExpiresAt: g.expiresAt, Priority: g.priority, Source: g.source, Reason: g.reason, Pack: g.pack,
		InvoiceID: g.invoiceID, PSPSessionID: g.sessionID, CreatedAt: g.createdAt, Author: author,
	})
	if err != nil {
		return sqldb.Wrap(err, "insert grant")
	}
	err = s.q(ctx).ExtendGrants(ctx, usagesql.ExtendGrantsParams{TenantID: g.stream.TenantID, MeterID: g.stream.MeterID, Until: g.endTime()})
	return sqldb.Wrap(err, "mark stream with grants")
}

func grantOf(row usagesql.UsageGrant, code string) grant {
	return grant{
		id: row.ID, stream: StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}, featureCode: code,
		amount: money.Total{Units: row.AmountUnits, Millionths: row.AmountMillionths}, rest: money.Total{Units: row.Units, Millionths: row.Millionths},
		startsAt: row.StartsAt, expiresAt: row.ExpiresAt, priority: row.Priority, source: row.Source, reason: row.Reason, pack: row.Pack,
		invoiceID: row.InvoiceID, sessionID: row.PSPSessionID, createdAt: row.CreatedAt, by: decodeAuthor(row.Author), usedUpAt: row.UsedUpAt,
	}
}

// encodeAuthor returns the stored form of the caller who made a change. It returns nil if by is nil
// or isSet is false.
func encodeAuthor(by *authz.Origin, isSet bool) (sqldb.JSON, error) {
	if by == nil || !isSet {
		return nil, nil
	}
	text, err := json.Marshal(by)
	return text, sqldb.Wrap(err, "encode author")
}

// decodeAuthor returns the caller of a change, or nil.
func decodeAuthor(text sqldb.JSON) *authz.Origin {
	var by authz.Origin
	if text == nil || json.Unmarshal(text, &by) != nil {
		return nil
	}
	return &by
}

// capAuthor returns the caller who set the cap of a reading, or nil without a cap.
func (s store) capAuthor(ctx context.Context, tenantID uuid.UUID, r Reading) (*authz.Origin, error) {
	if r.Cap == nil {
		return nil, nil //nolint:nilnil // no cap
	}
	authors, err := s.capAuthors(ctx, tenantID)
	return authors[r.Meter.ID], err
}

// capAuthors returns the callers who set the caps of a tenant, by meter.
func (s store) capAuthors(ctx context.Context, tenantID uuid.UUID) (map[uuid.UUID]*authz.Origin, error) {
	rows, err := s.q(ctx).CapAuthors(ctx, tenantID)
	by := make(map[uuid.UUID]*authz.Origin, len(rows))
	for _, row := range rows {
		by[row.MeterID] = decodeAuthor(row.CapBy)
	}
	return by, sqldb.Wrap(err, "read authors of caps")
}

// grants lists the grants of a tenant, newest first.
func (s store) grants(ctx context.Context, tenantID uuid.UUID) ([]grant, error) {
	rows, err := s.q(ctx).Grants(ctx, tenantID)
	list := make([]grant, len(rows))
	for i, row := range rows {
		list[i] = grantOf(row.UsageGrant, row.Code)
		list[i].isOfDeleted = row.DeletedAt != nil
	}
	return list, sqldb.Wrap(err, "list grants")
}

// grant returns a grant that is not deleted, or errNoGrant.
func (s store) grant(ctx context.Context, tenantID, id uuid.UUID) (grant, error) {
	row, err := s.q(ctx).Grant(ctx, usagesql.GrantParams{TenantID: tenantID, ID: id})
	return grantOf(row.UsageGrant, row.Code), sqldb.WrapAbsent(err, "read grant", errNoGrant)
}

// grantOfSession returns the grant of a purchase, even if it is deleted, or errNoGrant.
func (s store) grantOfSession(ctx context.Context, tenantID uuid.UUID, sessionID string) (grant, error) {
	row, err := s.q(ctx).GrantOfSession(ctx, usagesql.GrantOfSessionParams{TenantID: tenantID, SessionID: sessionID})
	return grantOf(row.UsageGrant, row.Code), sqldb.WrapAbsent(err, "read grant of a session", errNoGrant)
}

// voidGrant removes the remaining units of a grant whose stream is locked.
func (s store) voidGrant(ctx context.Context, tenantID, id uuid.UUID) error {
	err := s.q(ctx).VoidGrant(ctx, usagesql.VoidGrantParams{TenantID: tenantID, ID: id})
	return sqldb.Wrap(err, "void grant")
}

func (s store) setInvoiceOfGrant(ctx context.Context, tenantID, id, invoiceID uuid.UUID) error {
	err := s.q(ctx).SetInvoiceOfGrant(ctx, usagesql.SetInvoiceOfGrantParams{TenantID: tenantID, ID: id, InvoiceID: &invoiceID})
	return sqldb.Wrap(err, "store invoice of a grant")
}

// deleteGrant deletes a grant whose stream is locked, or returns errNoGrant.
func (s store) deleteGrant(ctx context.Context, tenantID, id uuid.UUID, now time.Time) error {
	n, err := s.q(ctx).DeleteGrant(ctx, usagesql.DeleteGrantParams{TenantID: tenantID, ID: id, Now: now})
	if err == nil && n == 0 {
		return errNoGrant
	}
	return sqldb.Wrap(err, "delete grant")
}

// expiredGrant identifies a grant that has expired with remaining units.
type expiredGrant struct {
	stream StreamKey
	id     uuid.UUID
}

// expiredGrants lists at most n grants that have expired with remaining units, by expiry.
func (s store) expiredGrants(ctx context.Context, now time.Time, n int32) ([]expiredGrant, error) {
	rows, err := s.q(ctx).ExpiredGrants(ctx, usagesql.ExpiredGrantsParams{Now: now, Most: n})
	list := make([]expiredGrant, len(rows))
	for i, row := range rows {
		list[i] = expiredGrant{StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}, row.ID}
	}
	return list, sqldb.Wrap(err, "list expired grants")
}
