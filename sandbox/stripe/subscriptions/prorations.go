package subscriptions

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The sign of a proration.
const (
	credit  = -1
	charged = 1
)

// newProration credits or charges the rest of an item's current period, beginning at from. off is
// the discount on the whole period. It returns nil if the amount is zero.
func newProration(sub *Subscription, item Item, off int64, name string, sign, from, now int64) *invoices.Item {
	whole := item.CurrentPeriodEnd - item.CurrentPeriodStart
	amount := sign * billing.Prorate(item.amount()-off, item.CurrentPeriodEnd-from, whole, billing.Step(sub.Currency))
	if amount == 0 {
		return nil
	}
	what := "Remaining"
	if sign == credit {
		what = "Unused"
	}
	if item.Quantity != 1 {
		name = fmt.Sprintf("%d × %s", item.Quantity, name)
	}
	ii := &invoices.Item{
		Header: invoices.Items.Start(now), Amount: amount, Currency: sub.Currency, Customer: sub.Customer, Date: now,
		Description: fmt.Sprintf("%s time on %s after %s", what, name, time.Unix(from, 0).UTC().Format("02 Jan 2006")),
		Metadata:    map[string]string{}, Period: invoices.Period{Start: from, End: item.CurrentPeriodEnd},
		Pricing: invoices.NewPricing(item.Price), Proration: true,
		Quantity: item.Quantity, QuantityText: strconv.FormatInt(item.Quantity, 10), TestClock: sub.TestClock,
	}
	ii.SetSubscription(sub.ID, &item.ID)
	ii.Pricing.UnitAmountDecimal = perUnit(amount, item.Quantity)
	return ii
}

// FindPayer returns the payer of a subscription. It refuses a subscription that has ended.
func FindPayer(ctx context.Context, st *kernel.Step, id string) (invoices.Payer, error) {
	sub, err := All.Get(ctx, st.Q, id, "subscription")
	if err == nil && sub.IsEnded() {
		err = form.Refuse("subscription", "", "The subscription %s is canceled: no invoice would include the item.", id)
	}
	if err != nil {
		return invoices.Payer{}, err
	}
	return invoices.Payer{Customer: sub.Customer, Currency: sub.Currency, TestClock: sub.TestClock}, nil
}

// perUnit returns the amount per unit, with up to twelve decimals.
func perUnit(amount, quantity int64) string {
	each := big.NewRat(amount, max(quantity, 1)).FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(each, "0"), ".")
}

// pendingItems returns the items that the next invoice of a subscription will include, oldest
// first.
func pendingItems(ctx context.Context, st *kernel.Step, sub *Subscription) ([]*invoices.Item, error) {
	return invoices.Items.FindWhere(ctx, st.Q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.invoice' IS NULL`,
		sub.Customer, sub.ID)
}
