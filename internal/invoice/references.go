package invoice

import (
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
)

// references maps the provider's IDs to the plans, meters and subscriptions of a tenant. An ID that
// is missing belongs to an object that this service did not create.
type references struct {
	subscriptions map[string]subscriptionRef // by the provider's subscription ID
	lines         map[string]lineSource      // by the provider's line ID, as recorded when the line was first seen
	linked        map[string]lineSource      // by the provider's price ID: the current link
	former        map[string]lineSource      // by the provider's price ID: the source that it last billed to the tenant
	products      map[string]lineSource      // by the provider's product ID: the plan that it was created for
	minorUnits    map[string]int             // by currency
	codes         map[string]string          // promotion codes by the provider's coupon
}

type subscriptionRef struct {
	id   uuid.UUID
	plan lineSource
}

// lineSource is the plan or the meter that a line bills. Both IDs are nil if it is unknown.
type lineSource struct {
	planID, meterID *uuid.UUID
	name            map[string]string // by locale
}

// sourceOf returns the source of a line. The source of a known line never changes
// (rules: invoices#lines). The source of a new line follows from its price: the current link of the
// price, or else the last source before the price was unlinked, or else the plan of its product, or
// else the plan of the line's subscription. A charge for unpaid time has a price of its own and the
// product of the earlier plan.
func (r references) sourceOf(l psp.InvoiceLine) lineSource {
	if known, ok := r.lines[l.ID]; ok {
		return known
	}
	for _, byPrice := range []map[string]lineSource{r.linked, r.former} {
		if known, ok := byPrice[l.PriceID]; ok && l.PriceID != "" {
			return known
		}
	}
	if known, ok := r.products[l.ProductID]; ok {
		return known
	}
	if l.Proration || l.SubscriptionID != "" || l.SubscriptionItemID != "" {
		return r.subscriptions[l.SubscriptionID].plan
	}
	return lineSource{}
}

// lineName returns the name of a plan in lines, which includes its product.
func lineName(product, plan map[string]string) map[string]string {
	name := map[string]string{}
	for _, locale := range i18n.Locales() {
		name[locale] = lineTexts.Text(locale, "line.plan", map[string]any{"plan": i18n.Pick(plan, locale), "product": i18n.Pick(product, locale)})
	}
	return name
}
