package discount

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount/discountsql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

var errNoHold = errors.New("nothing is held")

// store runs the package's queries in the transaction of the context, or else directly on the
// database.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *discountsql.Queries { return discountsql.New(s.conn(ctx)) }

// load returns a discount, deleted or not, or catalog.ErrNotFound.
func (s store) load(ctx context.Context, id uuid.UUID) (Discount, error) {
	row, err := s.q(ctx).Discount(ctx, id)
	if err != nil {
		return Discount{}, sqldb.WrapAbsent(err, "read discount", catalog.ErrNotFound)
	}
	return newDiscount(row)
}

// byCode returns the discount with the code, ignoring case, or catalog.ErrNotFound.
func (s store) byCode(ctx context.Context, code string) (Discount, error) {
	row, err := s.q(ctx).DiscountByCode(ctx, codeKey(code))
	if err != nil {
		return Discount{}, sqldb.WrapAbsent(err, "read discount by code", catalog.ErrNotFound)
	}
	return newDiscount(row)
}

// lock locks a discount and returns it.
func (s store) lock(ctx context.Context, id uuid.UUID) (Discount, error) {
	row, err := s.q(ctx).LockDiscount(ctx, id)
	if err != nil {
		return Discount{}, sqldb.WrapAbsent(err, "lock discount", catalog.ErrNotFound)
	}
	return newDiscount(row)
}

// codeKey returns the form in which codes are compared.
func codeKey(code string) string { return strings.ToUpper(code) }

func newDiscount(r discountsql.Discount) (Discount, error) {
	d := Discount{
		ID: r.ID, Code: r.Code, PercentOff: r.PercentOff, Duration: r.Duration, Months: r.Months, FirstPurchaseOnly: r.FirstPurchaseOnly,
		MaxRedemptions: r.MaxRedemptions, MaxPerTenant: r.MaxPerTenant, StartsAt: r.StartsAt, EndsAt: r.EndsAt, IsActive: r.IsActive,
		Redemptions: r.Redemptions, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, DeletedAt: r.DeletedAt,
	}
	if r.PSPCodeID != nil {
		d.PSPCodeID = *r.PSPCodeID
	}
	for column, into := range map[*sqldb.JSON]any{&r.Name: &d.Name, &r.Amounts: &d.Amounts, &r.PlanIds: &d.PlanIDs} {
		if err := json.Unmarshal(*column, into); err != nil {
			return d, fmt.Errorf("discount %s: %w", r.ID, err)
		}
	}
	return d, nil
}

func (s store) page(ctx context.Context, q page.Query) ([]Discount, int64, error) {
	rows, total, err := page.Fetch(ctx, s.conn(ctx), q, page.Select{
		Columns: "d.id, d.code, d.name, d.percent_off, d.amounts, d.duration, d.months, d.plan_ids, d.first_purchase_only, d.max_redemptions, " +
			"d.max_per_tenant, d.starts_at, d.ends_at, d.is_active, d.redemptions, d.created_at, d.updated_at",
		From:  "discounts d",
		Where: "d.deleted_at IS NULL",
	}, func(row page.Scanner) (r discountsql.Discount, err error) {
		err = row.Scan(&r.ID, &r.Code, &r.Name, &r.PercentOff, &r.Amounts, &r.Duration, &r.Months, &r.PlanIds, &r.FirstPurchaseOnly, &r.MaxRedemptions,
			&r.MaxPerTenant, &r.StartsAt, &r.EndsAt, &r.IsActive, &r.Redemptions, &r.CreatedAt, &r.UpdatedAt)
		return r, err
	})
	if err != nil {
		return nil, 0, err
	}
	discounts := make([]Discount, len(rows))
	for i, row := range rows {
		if discounts[i], err = newDiscount(row); err != nil {
			return nil, 0, err
		}
	}
	return discounts, total, nil
}

func (s store) insert(ctx context.Context, d Discount) error {
	amounts, err := json.Marshal(append([]Amount{}, d.Amounts...))
	if err != nil {
		return err
	}
	plans, err := json.Marshal(append([]uuid.UUID{}, d.PlanIDs...))
	if err != nil {
		return err
	}
	return sqldb.Wrap(s.q(ctx).InsertDiscount(ctx, discountsql.InsertDiscountParams{
		ID: d.ID, Code: d.Code, CodeKey: codeKey(d.Code), Name: d.Name.Column(), PercentOff: d.PercentOff, Amounts: amounts, Duration: d.Duration,
		Months: d.Months, PlanIds: plans, FirstPurchaseOnly: d.FirstPurchaseOnly, MaxRedemptions: d.MaxRedemptions, MaxPerTenant: d.MaxPerTenant,
		StartsAt: d.StartsAt, EndsAt: d.EndsAt, IsActive: d.IsActive, CreatedAt: d.CreatedAt,
	}), "insert discount")
}

func (s store) save(ctx context.Context, d Discount) error {
	return sqldb.Wrap(s.q(ctx).SaveDiscount(ctx, discountsql.SaveDiscountParams{
		ID: d.ID, Name: d.Name.Column(), IsActive: d.IsActive, UpdatedAt: d.UpdatedAt,
	}), "save discount")
}

func (s store) delete(ctx context.Context, id uuid.UUID, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteDiscount(ctx, discountsql.DeleteDiscountParams{ID: id, DeletedAt: &now}), "delete discount")
}

func (s store) setPSPCode(ctx context.Context, id uuid.UUID, code string) error {
	return sqldb.Wrap(s.q(ctx).SetPSPCode(ctx, discountsql.SetPSPCodeParams{ID: id, PSPCodeID: &code}), "store promotion code of a discount")
}

// countHolds counts the uses that other tenants hold.
func (s store) countHolds(ctx context.Context, id, tenantID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountHolds(ctx, discountsql.CountHoldsParams{DiscountID: id, TenantID: tenantID})
	return n, sqldb.Wrap(err, "count holds of a discount")
}

func (s store) expiredHolds(ctx context.Context, id uuid.UUID, now time.Time) ([]Holder, error) {
	rows, err := s.q(ctx).ExpiredHolds(ctx, discountsql.ExpiredHoldsParams{DiscountID: id, Now: &now})
	holders := make([]Holder, len(rows))
	for i, row := range rows {
		holders[i] = Holder{row.TenantID, row.ID}
	}
	return holders, sqldb.Wrap(err, "list expired holds of a discount")
}

// countOfTenant counts the redemptions by a tenant.
func (s store) countOfTenant(ctx context.Context, tenantID, id uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountOfTenant(ctx, discountsql.CountOfTenantParams{TenantID: tenantID, DiscountID: id})
	return n, sqldb.Wrap(err, "count redemptions of a tenant")
}

// hasPaidInvoice reports whether a tenant has a paid invoice above 0.
func (s store) hasPaidInvoice(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	paid, err := s.q(ctx).HasPaidInvoice(ctx, tenantID)
	return paid, sqldb.Wrap(err, "find paid invoice")
}

func (s store) insertHold(ctx context.Context, id, tenantID, discountID uuid.UUID, until *time.Time, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertHold(ctx, discountsql.InsertHoldParams{
		ID: id, TenantID: tenantID, DiscountID: discountID, HeldUntil: until, CreatedAt: now,
	}), "hold discount")
}

// discountOfHold returns the discount that a holder holds, or errNoHold.
func (s store) discountOfHold(ctx context.Context, tenantID, id uuid.UUID) (uuid.UUID, error) {
	discountID, err := s.q(ctx).DiscountOfHold(ctx, discountsql.DiscountOfHoldParams{TenantID: tenantID, ID: id})
	return discountID, sqldb.WrapAbsent(err, "read hold of a discount", errNoHold)
}

// redeem marks a hold as redeemed. It reports false if the hold does not exist or was redeemed
// before.
func (s store) redeem(ctx context.Context, tenantID, id uuid.UUID, now time.Time) (bool, error) {
	n, err := s.q(ctx).Redeem(ctx, discountsql.RedeemParams{TenantID: tenantID, ID: id, RedeemedAt: &now})
	return n == 1, sqldb.Wrap(err, "redeem discount")
}

func (s store) countRedemption(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).CountRedemption(ctx, id), "count redemption")
}

func (s store) release(ctx context.Context, tenantID, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).Release(ctx, discountsql.ReleaseParams{TenantID: tenantID, ID: id}), "release discount")
}

func (s store) releaseTenant(ctx context.Context, tenantID uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).ReleaseTenant(ctx, tenantID), "delete redemptions of a tenant")
}
