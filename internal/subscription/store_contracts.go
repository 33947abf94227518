package subscription

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// insertContract stores a subscription that the platform is about to make.
func (s store) insertContract(ctx context.Context, c checkout, p purchase, leasedUntil, now time.Time) error {
	text, err := json.Marshal(c.contract)
	if err != nil {
		return sqldb.Wrap(err, "encode contract")
	}
	params := subscriptionsql.InsertContractParams{
		ID: c.id, TenantID: c.tenantID, PlanID: c.planID, Currency: p.price.Currency, PriceCents: p.price.PriceCents,
		Quantity: p.quantity, Contract: text, LeasedUntil: &leasedUntil, CreatedAt: now,
	}
	if p.replaces != uuid.Nil {
		params.ReplacesSubscriptionID = &p.replaces
	}
	if p.discount != nil {
		params.DiscountID = &p.discount.ID
	}
	return sqldb.Wrap(s.q(ctx).InsertContract(ctx, params), "insert contract")
}

// updateContract stores the request of a contract again.
func (s store) updateContract(ctx context.Context, c checkout) error {
	text, err := json.Marshal(c.contract)
	if err != nil {
		return sqldb.Wrap(err, "encode contract")
	}
	err = s.q(ctx).UpdateContract(ctx, subscriptionsql.UpdateContractParams{TenantID: c.tenantID, ID: c.id, Contract: text})
	return sqldb.Wrap(err, "update contract")
}

// openContract returns the subscription that the platform is making for a tenant, or errNoCheckout.
func (s store) openContract(ctx context.Context, tenantID uuid.UUID) (checkout, error) {
	row, err := s.q(ctx).OpenContract(ctx, tenantID)
	if err != nil {
		return checkout{}, sqldb.WrapAbsent(err, "read open contract", errNoCheckout)
	}
	return toCheckout(row)
}

// lastContracts returns the newest subscriptions that the platform has made for a tenant.
func (s store) lastContracts(ctx context.Context, tenantID uuid.UUID, since time.Time) ([]checkout, error) {
	rows, err := s.q(ctx).LastContracts(ctx, subscriptionsql.LastContractsParams{TenantID: tenantID, Since: since})
	if err != nil {
		return nil, sqldb.Wrap(err, "list contracts")
	}
	list := make([]checkout, len(rows))
	for i, row := range rows {
		if list[i], err = toCheckout(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (s store) leaseContract(ctx context.Context, c checkout, until time.Time) error {
	err := s.q(ctx).LeaseContract(ctx, subscriptionsql.LeaseContractParams{TenantID: c.tenantID, ID: c.id, LeasedUntil: &until})
	return sqldb.Wrap(err, "lease contract")
}

func (s store) completeContract(ctx context.Context, c checkout, pspID string, now time.Time) error {
	err := s.q(ctx).CompleteContract(ctx, subscriptionsql.CompleteContractParams{TenantID: c.tenantID, ID: c.id, PSPSessionID: &pspID, CompletedAt: &now})
	return sqldb.Wrap(err, "complete contract")
}

func (s store) dropContract(ctx context.Context, c checkout, now time.Time) error {
	err := s.q(ctx).DropContract(ctx, subscriptionsql.DropContractParams{TenantID: c.tenantID, ID: c.id, ExpiredAt: &now})
	return sqldb.Wrap(err, "drop contract")
}
