package invoice

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/invoice/invoicesql"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// references loads the references of a tenant. It loads line sources only for the given invoices,
// because a tenant can have thousands of lines.
func (s store) references(ctx context.Context, tenantID uuid.UUID, invoices ...psp.Invoice) (references, error) {
	refs := references{
		subscriptions: map[string]subscriptionRef{}, lines: map[string]lineSource{}, linked: map[string]lineSource{}, former: map[string]lineSource{},
		products: map[string]lineSource{}, codes: map[string]string{},
	}
	var err error
	if refs.minorUnits, err = s.decimals(ctx); err != nil {
		return refs, err
	}
	subscriptions, err := s.q(ctx).SubscriptionsOfTenant(ctx, tenantID)
	if err != nil {
		return refs, sqldb.Wrap(err, "list subscriptions of a tenant")
	}
	for _, row := range subscriptions {
		name, err := planNameOf(row.ProductName, row.PlanName)
		if err != nil {
			return refs, err
		}
		refs.subscriptions[row.PSPSubscriptionID] = subscriptionRef{row.ID, lineSource{planID: &row.PlanID, name: name}}
	}
	plans, err := s.q(ctx).LinkedPlanPrices(ctx)
	if err != nil {
		return refs, sqldb.Wrap(err, "list linked prices of plans")
	}
	for _, row := range plans {
		name, err := planNameOf(row.ProductName, row.PlanName)
		if err != nil {
			return refs, err
		}
		of := lineSource{planID: &row.PlanID, name: name}
		refs.linked[*row.PSPPriceID] = of
		if row.PSPProductID != nil {
			refs.products[*row.PSPProductID] = of
		}
	}
	meters, err := s.q(ctx).LinkedMeterPrices(ctx)
	if err != nil {
		return refs, sqldb.Wrap(err, "list linked prices of meters")
	}
	for _, row := range meters {
		name, err := i18n.LocalizedNames(row.Name, row.FeatureName)
		if err != nil {
			return refs, err
		}
		refs.linked[row.PSPPriceID] = lineSource{meterID: &row.MeterID, name: name}
	}
	if err := s.addLinesSeen(ctx, tenantID, refs, invoices); err != nil {
		return refs, err
	}
	if err := s.addCodes(ctx, refs, invoices); err != nil {
		return refs, err
	}
	return refs, s.addFormer(ctx, tenantID, refs, invoices)
}

// couponPrefix is the prefix of the coupons of discounts; the rest is the ID of the discount.
const couponPrefix = "discount-"

// addCodes loads the promotion codes of the invoices' discounts, including deleted discounts.
func (s store) addCodes(ctx context.Context, refs references, invoices []psp.Invoice) error {
	for _, in := range invoices {
		text, ours := strings.CutPrefix(in.CouponID, couponPrefix)
		id, err := uuid.Parse(text)
		if _, known := refs.codes[in.CouponID]; !ours || err != nil || known {
			continue
		}
		code, err := s.q(ctx).DiscountCode(ctx, id)
		if errors.Is(err, sqldb.ErrNoRows) {
			continue
		}
		if err != nil {
			return sqldb.Wrap(err, "read promotion code")
		}
		refs.codes[in.CouponID] = code
	}
	return nil
}

// addLinesSeen loads the sources of the invoices' lines that were seen before.
func (s store) addLinesSeen(ctx context.Context, tenantID uuid.UUID, refs references, invoices []psp.Invoice) error {
	var ids []string
	for _, in := range invoices {
		for _, line := range in.Lines {
			ids = append(ids, line.ID)
		}
	}
	err := s.queryByIDs(ctx, `SELECT psp_line_id, plan_id, meter_id, name FROM psp_invoice_lines WHERE tenant_id = $1::uuid AND psp_line_id`, tenantID, ids,
		func(scan func(...any) error) error {
			var id string
			var of lineSource
			var name sqldb.JSON
			if err := scan(&id, &of.planID, &of.meterID, &name); err != nil {
				return err
			}
			err := json.Unmarshal(name, &of.name)
			refs.lines[id] = of
			return err
		})
	return sqldb.Wrap(err, "list stored lines")
}

// addFormer loads the last billed source of each unlinked price that a new line uses.
func (s store) addFormer(ctx context.Context, tenantID uuid.UUID, refs references, invoices []psp.Invoice) error {
	for _, in := range invoices {
		for _, line := range in.Lines {
			_, seen := refs.lines[line.ID]
			_, linked := refs.linked[line.PriceID]
			_, read := refs.former[line.PriceID]
			if seen || linked || read || line.PriceID == "" {
				continue
			}
			row, err := s.q(ctx).LastBilled(ctx, invoicesql.LastBilledParams{TenantID: tenantID, PSPPriceID: line.PriceID})
			if errors.Is(err, sqldb.ErrNoRows) {
				continue
			}
			if err != nil {
				return sqldb.Wrap(err, "read the last billed line of a price")
			}
			of := lineSource{planID: row.PlanID, meterID: row.MeterID}
			if err := json.Unmarshal(row.Name, &of.name); err != nil {
				return sqldb.Wrap(err, "parse name of a line")
			}
			refs.former[line.PriceID] = of
		}
	}
	return nil
}

// storeLineSources stores the sources of an invoice's new lines, if they are known.
func (s store) storeLineSources(ctx context.Context, tenantID uuid.UUID, in psp.Invoice, refs references, now time.Time) error {
	for _, line := range in.Lines {
		of := refs.sourceOf(line)
		if _, seen := refs.lines[line.ID]; seen || of.planID == nil && of.meterID == nil {
			continue
		}
		name, err := json.Marshal(of.name)
		if err != nil {
			return err
		}
		err = s.q(ctx).RememberLine(ctx, invoicesql.RememberLineParams{
			TenantID: tenantID, PSPLineID: line.ID, PSPPriceID: line.PriceID, PlanID: of.planID, MeterID: of.meterID, Name: name, CreatedAt: now,
		})
		if err != nil {
			return sqldb.Wrap(err, "store line")
		}
	}
	return nil
}

func planNameOf(product, plan sqldb.JSON) (map[string]string, error) {
	var products, plans map[string]string
	if err := json.Unmarshal(product, &products); err != nil {
		return nil, sqldb.Wrap(err, "parse name of a product")
	}
	if err := json.Unmarshal(plan, &plans); err != nil {
		return nil, sqldb.Wrap(err, "parse name of a plan")
	}
	return lineName(products, plans), nil
}

// decimals returns the number of decimals of each currency.
func (s store) decimals(ctx context.Context) (map[string]int, error) {
	rows, err := s.q(ctx).Decimals(ctx)
	all := make(map[string]int, len(rows))
	for _, row := range rows {
		all[row.Code] = int(row.MinorUnits)
	}
	return all, sqldb.Wrap(err, "list decimals of currencies")
}
