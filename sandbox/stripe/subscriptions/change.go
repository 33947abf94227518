package subscriptions

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// The proration behaviors of a change during a period.
const (
	prorationsPending = "create_prorations" // credit and charge go on the next invoice
	prorationsNow     = "always_invoice"    // credit and charge are invoiced immediately
	prorationsNone    = "none"
)

// change is a requested change of a subscription's items, billing cycle and trial.
type change struct {
	items     []itemChange
	proration string
	date      int64 // start of the proration
	anchorNow bool  // whether to start a new period now
	trialEnd  int64 // 0 leaves the trial as it is
	extra     []addedItem
	params    *form.Params
}

// itemChange changes the price or quantity of an item, removes it, or adds an item if the id is
// empty.
type itemChange struct {
	params   *form.Params
	id       string
	price    string // empty leaves the price unchanged
	inline   *catalog.Inline
	quantity int64 // 0 leaves the quantity unchanged
	deleted  bool
}

// revision is the result of a change, apart from the changed subscription itself.
type revision struct {
	prorations []*invoices.Item
	// restarted means that a new period began, which is billed immediately.
	restarted bool
	// now means that an invoice is due immediately.
	now bool
	// since is the start of the previous period.
	since int64
	// usage has the lines for the metered usage in the period that was cut short.
	usage []invoices.Line
	names ProductNames
	// offs has the discount of each item before the change, for the whole period. charged has the
	// discount of each item that is charged. Both are by item id.
	offs, charged map[string]int64
}

// readChange reads the parameters that an update and its preview have in common.
func readChange(p *form.Params, now int64) change {
	ch := change{params: p, proration: prorationsPending, date: now}
	for _, given := range p.List("items") {
		change := itemChange{params: given}
		given.Text("id", &change.id)
		change.readPrice(given, now)
		given.Integer("quantity", 1, maxQuantity, &change.quantity)
		given.Boolean("deleted", &change.deleted)
		if given.Has("clear_usage") {
			given.Fail("clear_usage", "", "`clear_usage` is not supported for subscriptions with `billing_mode` set to `flexible`.")
			given.Boolean("clear_usage", new(bool))
		}
		ch.items = append(ch.items, change)
	}
	p.Choice("proration_behavior", &ch.proration, prorationsPending, prorationsNow, prorationsNone)
	p.Integer("proration_date", 0, 1<<40, &ch.date)
	anchor := "unchanged"
	p.Choice("billing_cycle_anchor", &anchor, "now", "unchanged")
	ch.anchorNow = anchor == "now"
	ch.readTrialEnd(p, now)
	return ch
}

func (ch *change) readTrialEnd(p *form.Params, now int64) {
	switch value, ok := p.ReadFilled("trial_end"); {
	case !ok:
	case value == "now":
		ch.trialEnd = now
	default:
		latest := time.Unix(now, 0).UTC().AddDate(0, 0, maxTrialDays).Unix()
		at, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
			p.Fail("trial_end", "parameter_invalid_integer", "Invalid integer: %s", value)
		case at <= now:
			p.Fail("trial_end", "", "Invalid timestamp: must be an integer Unix timestamp in the future.")
		case at > latest:
			p.Fail("trial_end", "", "Invalid timestamp: a trial can last at most %d days.", maxTrialDays)
		}
		ch.trialEnd = at
	}
	if ch.anchorNow && ch.trialEnd > 0 {
		p.Fail("billing_cycle_anchor", "", "You cannot set billing_cycle_anchor together with trial_end.")
	}
}

// readPrice reads price or price_data. A new item requires one of them.
func (w *itemChange) readPrice(given *form.Params, now int64) {
	switch {
	case given.Has("price_data") && given.Has("price"):
		given.Fail("price_data", "", "You may only specify one of these parameters: price, price_data.")
	case given.Has("price_data"):
		w.inline = catalog.ReadRecurring(given, now)
	case !given.Has("id"):
		given.Require("price")
	}
	given.Text("price", &w.price)
}

// isEmpty reports whether the change has no effect on billing.
func (ch change) isEmpty() bool {
	return len(ch.items) == 0 && !ch.anchorNow && ch.trialEnd == 0 && len(ch.extra) == 0
}

// revise applies a change to a subscription and returns the resulting revision. It stores nothing:
// an update applies the revision, a preview shows it.
func revise(ctx context.Context, st *kernel.Step, sub *Subscription, ch change) (*revision, error) {
	was := sub.Clone()
	old := was.Items.Data
	rev, err := startRevision(ctx, st, sub)
	if err != nil {
		return nil, err
	}
	if err := ch.check(sub); err != nil {
		return nil, err
	}
	for _, removing := range []bool{false, true} { // remove items last, so that the subscription is never empty
		for _, w := range ch.items {
			if w.deleted != removing {
				continue
			}
			if err := changeItem(ctx, st, sub, w); err != nil {
				return nil, err
			}
		}
	}
	if err := sub.checkItems(ch); err != nil {
		return nil, err
	}
	if err := oneInterval(sub, ch); err != nil {
		return nil, err
	}
	for _, items := range [][]Item{old, sub.Items.Data} {
		if err := ReadProductNames(ctx, st, items, rev.names); err != nil {
			return nil, err
		}
	}
	trialing := sub.Status == StatusTrialing
	rev.restarted = sub.restart(ch, old, st.Now)
	if !trialing && ch.proration != prorationsNone {
		rev.prorate(sub, old, ch.date, st.Now)
	}
	if !trialing && !rev.restarted && ch.proration != prorationsNone {
		if err := rev.billRemovedUsage(ctx, st, was, sub); err != nil {
			return nil, err
		}
	}
	if rev.restarted {
		if rev.usage, err = meteredLines(ctx, st, was, rev.since, st.Now, rev.names); err != nil {
			return nil, err
		}
	}
	rev.now = rev.restarted || ch.proration == prorationsNow && len(rev.prorations) > 0
	// In the flexible billing mode, added items alone cause no invoice
	// (https://docs.stripe.com/billing/subscriptions/billing-mode/compare#invoice-one-time-charges).
	if err := rev.addItems(ctx, st, sub, ch.extra); err != nil {
		return nil, err
	}
	return rev, nil
}

// startRevision returns an empty revision of a subscription.
func startRevision(ctx context.Context, st *kernel.Step, sub *Subscription) (*revision, error) {
	rev := &revision{names: ProductNames{}, offs: map[string]int64{}, charged: map[string]int64{}}
	rev.since, _ = sub.Period()
	for _, item := range sub.Items.Data {
		var err error
		if rev.offs[item.ID], err = readBilledOff(ctx, st, item.ID); err != nil {
			return nil, err
		}
	}
	return rev, sub.loadDiscount(ctx, st)
}

// check refuses a change that the subscription's state does not allow.
func (ch change) check(sub *Subscription) error {
	start, end := sub.Period()
	switch {
	case ch.isEmpty():
		return nil
	case sub.IsEnded():
		return form.Refuse("", "", "A canceled subscription can only update its cancellation_details and metadata.")
	case sub.Status == StatusIncomplete, sub.Status == StatusPaused:
		return form.Refuse("", "", "The sandbox changes nothing but metadata of a subscription that is %s.", sub.Status)
	case ch.params.Has("proration_date") && (ch.date < start || ch.date > end):
		return form.Refuse(ch.params.Name("proration_date"), "", "Cannot specify proration date outside of current subscription period.")
	case ch.anchorNow && sub.Status == StatusTrialing:
		return form.Refuse(ch.params.Name("billing_cycle_anchor"), "", "The sandbox does not move the billing cycle of a trial; end it with trial_end=now.")
	}
	return nil
}

// changeItem adds or removes an item, or sets its new price and quantity.
func changeItem(ctx context.Context, st *kernel.Step, sub *Subscription, w itemChange) error {
	if w.id == "" {
		return addItem(ctx, st, sub, w)
	}
	i := slices.IndexFunc(sub.Items.Data, func(item Item) bool { return item.ID == w.id })
	if i < 0 {
		return form.NewMissing(itemKind.Label, w.id, w.params.Name("id"))
	}
	if w.deleted {
		sub.Items.Data = slices.Delete(sub.Items.Data, i, i+1)
		return nil
	}
	item := &sub.Items.Data[i]
	if w.quantity > 0 {
		if item.Price.IsMetered() {
			return form.Refuse(w.params.Name("quantity"), "", "Quantity should not be specified where usage_type is `metered`.")
		}
		item.Quantity = w.quantity
	}
	if w.inline != nil || w.price != "" && w.price != item.Price.ID {
		pr, err := w.findPrice(ctx, st, sub)
		if err != nil {
			return err
		}
		if pr.IsMetered() != item.Price.IsMetered() {
			return form.Refuse(w.params.Name("price"), "", "The sandbox does not change an item between licensed and metered prices.")
		}
		if item.Price = *pr; pr.IsMetered() {
			item.usageFrom = st.Now
		}
	}
	return w.checkAmount(*item, sub)
}

// addItem adds an item with the current period of the subscription. A metered item bills usage from
// now on.
func addItem(ctx context.Context, st *kernel.Step, sub *Subscription, w itemChange) error {
	pr, err := w.findPrice(ctx, st, sub)
	if err != nil {
		return err
	}
	start, end := sub.Period()
	item := Item{
		ID: form.NewID(itemKind.Prefix), Object: itemKind.Name, Created: st.Now, CurrentPeriodStart: start, CurrentPeriodEnd: end,
		Metadata: map[string]string{}, Price: *pr, Quantity: w.quantity, Subscription: sub.ID,
	}
	switch {
	case !pr.IsMetered():
		item.Quantity = max(item.Quantity, 1)
	case w.quantity > 0:
		return form.Refuse(w.params.Name("quantity"), "", "Quantity should not be specified where usage_type is `metered`.")
	default:
		item.usageFrom = st.Now
	}
	sub.Items.Data = append(sub.Items.Data, item)
	return w.checkAmount(item, sub)
}

// findPrice returns the new price of an item.
func (w itemChange) findPrice(ctx context.Context, st *kernel.Step, sub *Subscription) (*catalog.Price, error) {
	param := w.params.Name("price")
	var pr *catalog.Price
	var err error
	if w.inline != nil {
		pr, _, err = w.inline.Store(ctx, st)
	} else {
		pr, _, err = catalog.FindSellable(ctx, st, w.price, param)
	}
	if err == nil && pr.Currency != sub.Currency {
		err = catalog.WrongCurrency(param, pr.Currency, sub.Currency)
	}
	return pr, err
}

func (w itemChange) checkAmount(item Item, sub *Subscription) error {
	if most := billing.MaxAmount(sub.Currency); item.amount() > most {
		return form.Refuse(w.params.Name("quantity"), "amount_too_large", "The amount of an item must be at most %s.", form.FormatAmount(most, sub.Currency))
	}
	return nil
}

// oneInterval refuses prices with different intervals.
func oneInterval(sub *Subscription, ch change) error {
	for _, item := range sub.Items.Data[1:] {
		if !item.Price.Recurring.SameInterval(*sub.Items.Data[0].Price.Recurring) {
			return form.Refuse(ch.params.Name("items"), "", "The sandbox requires that all prices of a subscription have the same interval.")
		}
	}
	return nil
}

// restart starts a new period if the change requests it, changes the interval, switches between
// free and paid, or starts or ends a trial. It reports whether a new period began. Moving the end
// of a trial only moves the end of the current period.
func (sub *Subscription) restart(ch change, old []Item, now int64) bool {
	trialing := sub.Status == StatusTrialing
	switch {
	case ch.trialEnd > now:
		if !trialing {
			sub.Status, sub.TrialStart = StatusTrialing, &now
			sub.setPeriod(now, ch.trialEnd)
		} else {
			start, _ := sub.Period()
			sub.setPeriod(start, ch.trialEnd)
		}
		sub.TrialEnd, sub.BillingCycleAnchor = &ch.trialEnd, ch.trialEnd
		return !trialing
	case trialing && ch.trialEnd == 0:
		return false
	case trialing:
		sub.Status, sub.TrialEnd = StatusActive, &now
	case !ch.anchorNow && old[0].Price.Recurring.SameInterval(*sub.Items.Data[0].Price.Recurring) && (isFree(old) == isFree(sub.Items.Data) || sameLicensed(old, sub.Items.Data)):
		return false
	}
	sub.BillingCycleAnchor = now
	sub.setPeriod(now, sub.cycle().Boundary(1))
	return true
}

// isFree reports whether the items are free and not metered.
func isFree(items []Item) bool {
	return !slices.ContainsFunc(items, func(item Item) bool { return item.Price.IsMetered() || item.amount() > 0 })
}

// sameLicensed reports whether the non-metered items are the same. Metered items are billed in
// arrears and do not count.
func sameLicensed(old, is []Item) bool {
	var prices [2][]string
	for i, items := range [][]Item{old, is} {
		for _, item := range items {
			if !item.Price.IsMetered() {
				prices[i] = append(prices[i], item.Price.ID)
			}
		}
	}
	return slices.Equal(prices[0], prices[1])
}

// prorate credits the unused part of the period of each changed or removed item. If no new period
// is billed, it also charges that part of the period for each changed or added item.
func (rev *revision) prorate(sub *Subscription, old []Item, from, now int64) {
	for _, was := range old {
		is := sub.item(was.ID)
		if !rev.restarted && is != nil && was.Price.ID == is.Price.ID && was.Quantity == is.Quantity {
			continue
		}
		rev.add(sub, was, credit, from, now)
		if !rev.restarted && is != nil {
			rev.add(sub, *is, charged, from, now)
		}
	}
	for _, is := range sub.Items.Data {
		isNew := !slices.ContainsFunc(old, func(was Item) bool { return was.ID == is.ID })
		if isNew && !rev.restarted {
			rev.add(sub, is, charged, from, now)
		}
	}
}

// add adds a credit or a charge for the rest of an item's period, unless it is zero. Metered items have
// no prorations (https://docs.stripe.com/billing/subscriptions/prorations).
func (rev *revision) add(sub *Subscription, item Item, sign, from, now int64) {
	if item.Price.IsMetered() {
		return
	}
	off := rev.offs[item.ID]
	if sign == charged {
		off = sub.periodOff(item, from)
		rev.charged[item.ID] = off
	}
	if ii := newProration(sub, item, off, rev.names[item.Price.Product], sign, from, now); ii != nil {
		rev.prorations = append(rev.prorations, ii)
	}
}
