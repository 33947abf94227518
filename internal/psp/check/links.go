package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/psp"
)

// links checks each linked price and its meter.
func (c *checker) links(ctx context.Context) {
	for _, link := range c.Links {
		name := "price: " + link.Name
		price, wrong, fix, err := link.inspect(ctx, c.Client)
		switch {
		case err != nil:
			c.failed(name, 0, err)
		case wrong != "":
			c.note(name, StatusError, wrong, fix)
		case c.meter(ctx, name, link, price):
			c.ok(name, link.PSPPriceID)
		}
	}
}

// FindProblem checks a link at the provider. It returns the problem, or "".
func (l Link) FindProblem(ctx context.Context, client *psp.Client) (string, error) {
	_, wrong, _, err := l.inspect(ctx, client)
	return wrong, err
}

// inspect reads the price of a link. It returns the problem and its fix, if there is one.
func (l Link) inspect(ctx context.Context, client *psp.Client) (price psp.Price, wrong, fix string, err error) {
	price, err = client.GetPrice(ctx, l.PSPPriceID)
	switch {
	case errors.Is(err, psp.ErrNotFound):
		return price, l.PSPPriceID + " does not exist at Stripe", "Unlink it and create it again, or check that the key belongs to the right account and mode.", nil
	case err != nil:
		return price, "", "", err
	case !price.Active:
		return price, l.PSPPriceID + " is archived", "Activate it in Stripe's dashboard, or link another price.", nil
	}
	if differs := l.differs(price); len(differs) > 0 {
		return price, l.PSPPriceID + " differs: " + strings.Join(differs, ", "), "Link a matching price. Prices at Stripe cannot be changed.", nil
	}
	return price, "", "", nil
}

// differs lists how a price differs from the link.
func (l Link) differs(p psp.Price) []string {
	var differs []string
	if p.Currency != l.Currency {
		differs = append(differs, fmt.Sprintf("currency %s instead of %s", p.Currency, l.Currency))
	}
	if l.Amount != nil && (p.UnitAmount == nil || *p.UnitAmount != *l.Amount) {
		there := "no single amount"
		if p.UnitAmount != nil {
			there = strconv.FormatInt(*p.UnitAmount, 10)
		}
		differs = append(differs, fmt.Sprintf("amount %s instead of %d", there, *l.Amount))
	}
	if l.UnitPrice != "" && p.UnitPrice != l.UnitPrice {
		differs = append(differs, fmt.Sprintf("unit price %s instead of %s", cmp.Or(p.UnitPrice, "no single amount"), l.UnitPrice))
	}
	if l.IntervalUnit != "" && (p.IntervalUnit != l.IntervalUnit || p.IntervalCount != l.IntervalCount) {
		differs = append(differs, fmt.Sprintf("every %d %s instead of every %d %s", p.IntervalCount, p.IntervalUnit, l.IntervalCount, l.IntervalUnit))
	}
	if p.Metered != l.Metered {
		kinds := map[bool]string{true: "billed by usage", false: "billed by quantity"}
		differs = append(differs, kinds[p.Metered]+" instead of "+kinds[l.Metered])
	}
	return differs
}

// meter checks the meter of a metered price. It reports whether it is usable.
func (c *checker) meter(ctx context.Context, name string, link Link, price psp.Price) bool {
	if !link.Metered {
		return true
	}
	if price.MeterID == "" {
		c.note(name, StatusError, link.PSPPriceID+" is not linked to a meter", "Link a price with a meter.")
		return false
	}
	meter, err := c.Client.GetMeter(ctx, price.MeterID)
	switch {
	case err != nil:
		c.failed(name, 0, err)
		return false
	case !meter.Active:
		c.note(name, StatusError, "the meter "+meter.EventName+" of "+link.PSPPriceID+" is inactive", "Reactivate it in Stripe's dashboard: Billing, Meters.")
		return false
	}
	return true
}
