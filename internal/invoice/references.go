package invoice

import (
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/psp"
)

// references say what the provider's ids mean to a tenant. An id that is missing belongs
// to something that this service did not make.
type references struct {
	subscriptions map[string]subscriptionRef // by the provider's subscription
	lines         map[string]lineSource      // by the provider's line, as it was when it was first seen
	linked        map[string]lineSource      // by the provider's price, as it is linked now
	former        map[string]lineSource      // by the provider's price, what it last billed to the tenant
	minorUnits    map[string]int             // by currency
}

type subscriptionRef struct {
	id   uuid.UUID
	plan lineSource
}

// lineSource is what a line is for: a plan or a meter, or neither where nobody knows.
type lineSource struct {
	planID, meterID *uuid.UUID
	name            map[string]string // by locale
}

// sourceOf returns what a line is for. What was once said of a line holds (rules:
// invoices#lines). For a new one the price tells: as it is linked, else what it billed
// before it was linked to nothing, else the plan that its subscription has.
func (r references) sourceOf(l psp.InvoiceLine) lineSource {
	if known, ok := r.lines[l.ID]; ok {
		return known
	}
	for _, byPrice := range []map[string]lineSource{r.linked, r.former} {
		if known, ok := byPrice[l.PriceID]; ok && l.PriceID != "" {
			return known
		}
	}
	if l.Proration || l.SubscriptionID != "" || l.SubscriptionItemID != "" {
		return r.subscriptions[l.SubscriptionID].plan
	}
	return lineSource{}
}

// lineName is how lines name a plan: with its product.
func lineName(product, plan map[string]string) map[string]string {
	name := map[string]string{}
	for _, locale := range i18n.Locales() {
		name[locale] = lineTexts.Text(locale, "line.plan", map[string]any{"plan": i18n.Pick(plan, locale), "product": i18n.Pick(product, locale)})
	}
	return name
}
