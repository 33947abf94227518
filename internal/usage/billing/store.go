package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing/billingsql"
)

// store has the SQL of the package. Its methods take part in the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *billingsql.Queries { return billingsql.New(s.db.Conn(ctx)) }

// report is a row of the queue.
type report struct {
	id        uuid.UUID
	figures   []byte     // encoded
	done      int        // number of figures reported so far
	triedAt   *time.Time // when reporting of the next figures began; nil before the first
	createdAt time.Time
}

func reportOf(row billingsql.UsageReport) report {
	return report{row.ID, row.Events, int(row.Reported), row.TriedAt, row.CreatedAt}
}

func (s store) insertReport(ctx context.Context, figures []byte, now time.Time) error {
	err := s.q(ctx).InsertReport(ctx, billingsql.InsertReportParams{ID: sqldb.NewID(), Events: figures, CreatedAt: now})
	return sqldb.Wrap(err, "queue report")
}

// settlingTenants lists the tenants whose usage is being settled, according to the leased
// operations on their subscriptions.
func (s store) settlingTenants(ctx context.Context, now time.Time) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).SettlingTenants(ctx, now)
	return ids, sqldb.Wrap(err, "list tenants whose usage is being settled")
}

// isSettled reports whether an operation has settled the usage of a tenant that was queued at the
// given time.
func (s store) isSettled(ctx context.Context, tenantID uuid.UUID, queued time.Time) (bool, error) {
	settled, err := s.q(ctx).IsSettled(ctx, billingsql.IsSettledParams{TenantID: tenantID, Queued: queued})
	return settled, sqldb.Wrap(err, "find an operation that settled usage")
}

// oldestReport returns the first row of the queue, or errNoReport if the queue is empty.
func (s store) oldestReport(ctx context.Context) (report, error) {
	row, err := s.q(ctx).OldestReport(ctx)
	return reportOf(row), sqldb.WrapAbsent(err, "read oldest report", errNoReport)
}

// nextReport is like oldestReport but skips rows that are on hold.
func (s store) nextReport(ctx context.Context, now time.Time) (report, error) {
	row, err := s.q(ctx).NextReport(ctx, &now)
	return reportOf(row), sqldb.WrapAbsent(err, "read next report", errNoReport)
}

// holdReport puts a row on hold until the given time.
func (s store) holdReport(ctx context.Context, id uuid.UUID, until time.Time) error {
	return sqldb.Wrap(s.q(ctx).HoldReport(ctx, billingsql.HoldReportParams{ID: id, HeldUntil: &until}), "hold report")
}

// insertHeldReport stores a new row that is on hold until the given time.
func (s store) insertHeldReport(ctx context.Context, row report, until time.Time) error {
	err := s.q(ctx).InsertHeldReport(ctx, billingsql.InsertHeldReportParams{
		ID: row.id, Events: row.figures, CreatedAt: row.createdAt, TriedAt: row.triedAt, HeldUntil: &until,
	})
	return sqldb.Wrap(err, "insert held report")
}

// setFigures stores the figures of a row, a subset of its former figures, or returns errChanged.
func (s store) setFigures(ctx context.Context, row report, former []byte) error {
	n, err := s.q(ctx).LeaveFigures(ctx, billingsql.LeaveFiguresParams{ID: row.id, Free: row.figures, AllFigures: former})
	return changedUnlessOne(n, err, "split report")
}

// claimReport records that reporting of the next figures of a row begins now, unless it began
// before, and returns when it began. It returns errChanged if the row is not as it was read.
func (s store) claimReport(ctx context.Context, row report, now time.Time) (began time.Time, err error) {
	at, err := s.q(ctx).ClaimReport(ctx, billingsql.ClaimReportParams{ID: row.id, Reported: int32(row.done), Events: row.figures, Now: &now})
	if err != nil {
		return began, sqldb.WrapAbsent(err, "claim report", errChanged)
	}
	return *at, nil
}

// advanceReport records that the figures of a row up to done are reported, or returns errChanged.
func (s store) advanceReport(ctx context.Context, row report, done int, tried time.Time) error {
	n, err := s.q(ctx).AdvanceReport(ctx, billingsql.AdvanceReportParams{ID: row.id, DoneBefore: int32(row.done), Done: int32(done), TriedAt: &tried})
	return changedUnlessOne(n, err, "advance report")
}

// changedUnlessOne returns errChanged if no row was updated.
func changedUnlessOne(rows int64, err error, action string) error {
	if err == nil && rows == 0 {
		return errChanged
	}
	return sqldb.Wrap(err, action)
}

func (s store) deleteReport(ctx context.Context, id uuid.UUID) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		if err := s.q(ctx).KeepTold(ctx, id); err != nil {
			return sqldb.Wrap(err, "store report")
		}
		return sqldb.Wrap(s.q(ctx).DeleteReport(ctx, id), "delete report")
	})
}

// reportedBetween returns the figures of rows that were at least partly reported and whose IDs are
// between earliest and latest.
func (s store) reportedBetween(ctx context.Context, earliest, latest uuid.UUID) ([]usage.Figure, error) {
	rows, err := s.q(ctx).ToldBetween(ctx, billingsql.ToldBetweenParams{Earliest: earliest, Latest: latest})
	return decodeFigures(rows, sqldb.Wrap(err, "read reported usage"))
}

// reportedCarried returns the carried figures of rows that were at least partly reported.
func (s store) reportedCarried(ctx context.Context) ([]usage.Figure, error) {
	const version5, version6 = 0x50, 0x60 // high nibble of the seventh byte of a UUID
	rows, err := s.q(ctx).ToldOfVersion(ctx, billingsql.ToldOfVersionParams{FirstByte: []byte{version5}, LastByte: []byte{version6 - 1}})
	return decodeFigures(rows, sqldb.Wrap(err, "read carried-over usage"))
}

func decodeFigures(rows [][]byte, err error) ([]usage.Figure, error) {
	if err != nil {
		return nil, err
	}
	var told []usage.Figure
	for _, row := range rows {
		figures, err := decode(row)
		if err != nil {
			return nil, err
		}
		told = append(told, figures...)
	}
	return told, nil
}

func (s store) pruneReported(ctx context.Context, before time.Time) error {
	if err := s.q(ctx).PruneDecided(ctx, &before); err != nil {
		return sqldb.Wrap(err, "delete resolved rejected reports")
	}
	return sqldb.Wrap(s.q(ctx).PruneTold(ctx, before), "delete reported usage")
}

func (s store) insertRejection(ctx context.Context, f rejection, now time.Time) error {
	inserted, err := s.q(ctx).InsertRejection(ctx, billingsql.InsertRejectionParams{
		ID: f.ID, TenantID: f.TenantID, MeterID: f.MeterID, Quantity: int64(f.Quantity), RecordedAt: f.At,
		Reason: f.reason, RefusedAt: now,
	})
	if err == nil && inserted == 0 {
		err = s.q(ctx).RejectAgain(ctx, billingsql.RejectAgainParams{TenantID: f.TenantID, ID: f.ID, Reason: f.reason, RefusedAt: now})
	}
	return sqldb.Wrap(err, "insert rejected report")
}

func (s store) countRejections(ctx context.Context) (int64, error) {
	n, err := s.q(ctx).CountRejections(ctx)
	return n, sqldb.Wrap(err, "count rejected reports")
}

// rejectionsAfter lists at most n rejected reports after last, earliest first.
func (s store) rejectionsAfter(ctx context.Context, last RejectedReport, n int32) ([]RejectedReport, error) {
	rows, err := s.q(ctx).Rejections(ctx, billingsql.RejectionsParams{After: last.RejectedAt, AfterID: last.ID, MaxRejections: n})
	if err != nil {
		return nil, sqldb.Wrap(err, "list rejected reports")
	}
	page := make([]RejectedReport, len(rows))
	for i, row := range rows {
		f := row.UsageRefusal
		page[i] = RejectedReport{
			ID: f.ID, TenantID: f.TenantID, MeterCode: row.Code, Quantity: money.Quantity(f.Quantity),
			RecordedAt: f.RecordedAt, Reason: f.Reason, RejectedAt: f.RefusedAt,
		}
	}
	return page, nil
}

// takeRejection marks a rejected report as decided and returns it. It returns ErrNotRejected if
// it does not exist.
//
// Invariant: a decided report is never listed again. Its row stays as long as the provider can
// report the error again, and insertRejection does not change it.
func (s store) takeRejection(ctx context.Context, id uuid.UUID, now time.Time) (rejection, error) {
	row, err := s.q(ctx).TakeRejection(ctx, billingsql.TakeRejectionParams{ID: id, DecidedAt: &now})
	return rejection{
		usage.Figure{ID: row.ID, TenantID: row.TenantID, MeterID: row.MeterID, Quantity: money.Quantity(row.Quantity), At: row.RecordedAt},
		row.Reason,
	}, sqldb.WrapAbsent(err, "take rejected report", ErrNotRejected)
}

// linkedPrice returns the meter and the provider's price for a key, or errNotLinked.
func (s store) linkedPrice(ctx context.Context, key priceKey) (usage.Meter, string, error) {
	if key.pspPriceID != "" {
		row, err := s.q(ctx).MeterOfLink(ctx, key.pspPriceID)
		return meterOf(row.Meter), key.pspPriceID, sqldb.WrapAbsent(err, "read meter of a price", errNotLinked)
	}
	row, err := s.q(ctx).LinkedPrice(ctx, billingsql.LinkedPriceParams{MeterID: key.meterID, Currency: key.currency})
	if err != nil {
		return usage.Meter{}, "", sqldb.WrapAbsent(err, "read linked price", errNotLinked)
	}
	return meterOf(row.Meter), *row.PSPPriceID, nil
}

// reportsAfter returns up to 100 rows of the queue after the given row, oldest first.
func (s store) reportsAfter(ctx context.Context, id uuid.UUID) ([]report, error) {
	rows, err := s.q(ctx).ReportsAfter(ctx, id)
	reports := make([]report, len(rows))
	for i, row := range rows {
		reports[i] = reportOf(row)
	}
	return reports, sqldb.Wrap(err, "read reports")
}

// beginReport is like claimReport for some figures of a row, which may have changed. It returns
// errChanged if the row is gone.
func (s store) beginReport(ctx context.Context, id uuid.UUID, now time.Time) error {
	n, err := s.q(ctx).BeginReport(ctx, billingsql.BeginReportParams{ID: id, Now: &now})
	return changedUnlessOne(n, err, "begin report")
}
