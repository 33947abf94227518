package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

const signingSecret = "whsec_of_tests"

// signed lets a test send notifications itself, see server.notify.
func signed(s *settings.Settings) { s.StripeWebhookSecrets = []settings.Secret{signingSecret} }

// notify sends a notification as the provider would, and returns when it has been
// handled.
func (s *server) notify(kind, objectID string) {
	s.t.Helper()
	now := clock.System().Now()
	id := fmt.Sprintf("evt_%d", now.UnixNano())
	body, err := json.Marshal(object{
		"id": id, "object": "event", "type": kind, "created": now.Unix(), "data": object{"object": object{"id": objectID}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(signingSecret))
	fmt.Fprintf(mac, "%d.%s", now.Unix(), body)
	r := s.request("POST", "/api/v1/webhooks/stripe", "", string(body))
	r.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil))))
	s.do(r).want(200)
	eventually(s.t, "the handling of "+kind, func() bool {
		return s.count(`SELECT count(*) FROM psp_events WHERE id = $1 AND handled_at IS NOT NULL`, id) == 1
	})
}

// change sets a field of one of the sandbox provider's objects, for what would take
// days there.
func (s *server) change(id, field, value string) {
	s.t.Helper()
	execute(s.t, s.sandbox(), `UPDATE stripe_objects SET doc = json_set(doc, '$.' || $2, $3) WHERE id = $1`, id, field, value)
}

// hide makes the sandbox provider lose an object.
func (s *server) hide(id string) {
	s.t.Helper()
	execute(s.t, s.sandbox(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, id)
}

// titled counts the mails whose subject has a text.
func (s *server) titled(subject string) (n int) {
	s.t.Helper()
	for _, m := range s.call("GET", "/sandbox/mail/messages", "", nil).want(200).at("data").([]any) {
		if strings.Contains(m.(map[string]any)["subject"].(string), subject) {
			n++
		}
	}
	return n
}

// noticed is a tenant whose provider changes something that only the notification
// under test tells of.
type noticed struct {
	*life
	sub, invoice string // what it has bought, at the provider
}

// bought subscribes, and from then on no notification comes by itself.
func (n *noticed) bought() *noticed {
	n.t.Helper()
	n.chaos(nil)
	n.subscribe(n.owner, "starter")
	n.settled()
	n.sub, n.invoice = n.held(n.owner, "subscription")[0].str("id"), n.held(n.owner, "invoice")[0].str("id")
	n.chaos(noWebhooks)
	return n
}

// billed buys, and has the provider make another invoice in a status.
func (n *noticed) billed(status string) string {
	n.t.Helper()
	n.bought()
	item := n.byHand("GET", "/subscriptions/"+n.sub).str("items.data.0.id")
	n.byHand("POST", "/subscriptions/"+n.sub, "items[0][id]", item, "items[0][quantity]", "2", "proration_behavior", "always_invoice")
	id := n.held(n.owner, "invoice")[1].str("id")
	n.change(id, "status", status)
	return id
}

// told is billed with an invoice that is known here as open.
func (n *noticed) told() string {
	n.t.Helper()
	id := n.billed("open")
	n.notify("invoice.finalized", id)
	return id
}

// paid fills the hosted page of a checkout, and returns the session.
func (n *noticed) session(fill func(page string)) string {
	n.t.Helper()
	n.chaos(noWebhooks)
	a := n.order(n.plan(n.owner, "starter"), "EUR").want(200)
	fill(a.str("data.url"))
	return a.str("data.session_id")
}

func (n *noticed) byCard(page string)  { n.fill(page, card(goodCard)).want(303) }
func (n *noticed) byDebit(page string) { n.fill(page, debit(goodAccount)).want(303) }

// trial makes a trial by hand, and tells of it.
func (n *noticed) trial() string {
	n.t.Helper()
	n.chaos(noWebhooks)
	n.call("PATCH", "/api/v1/tenant", n.token, object{"settings": object{"locale": "fr"}}).want(200)
	n.order(n.plan(n.owner, "starter"), "EUR").want(200)
	customer := n.held(n.owner, "customer")[0].str("id")
	id := n.byHand("POST", "/subscriptions", "customer", customer, "items[0][price]", n.priceThere(n.plan(n.owner, "starter")),
		"items[0][quantity]", "1", "trial_period_days", "7").str("id")
	return id
}

// has tells whether the tenant has n rows of a table that fulfil a condition.
func (n *noticed) has(count int, table, condition string) bool {
	n.t.Helper()
	return n.count(`SELECT count(*) FROM `+table+` WHERE tenant_id = $1 AND `+condition, n.tenant) == count
}

// Every kind of notification that the service asks for does what it is there for:
// none of the effects is there before.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := start(t, dialect, platformManaged, signed)
			for i, test := range []struct {
				kind   string
				change func(n *noticed) (objectID string)
				effect func(n *noticed) bool
			}{
				{
					"checkout.session.completed",
					func(n *noticed) string { return n.session(n.byCard) },
					func(n *noticed) bool {
						return n.has(1, "subscriptions", "status = 'active'") && n.has(1, "checkouts", "completed_at IS NOT NULL")
					},
				},
				{
					"checkout.session.async_payment_succeeded",
					func(n *noticed) string { return n.session(n.byDebit) },
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'active'") },
				},
				{
					"checkout.session.async_payment_failed",
					func(n *noticed) string {
						id := n.session(n.byDebit)
						n.change(n.held(n.owner, "subscription")[0].str("id"), "status", "past_due")
						return id
					},
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'past_due'") },
				},
				{
					"checkout.session.expired",
					func(n *noticed) string {
						id := n.session(func(string) {})
						n.byHand("POST", "/checkout/sessions/"+id+"/expire")
						return id
					},
					func(n *noticed) bool { return n.has(1, "checkouts", "expired_at IS NOT NULL") },
				},
				{
					"customer.subscription.created", (*noticed).trial,
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'trialing'") },
				},
				{
					"customer.subscription.updated",
					func(n *noticed) string {
						n.byHand("POST", "/subscriptions/"+n.bought().sub, "cancel_at_period_end", "true")
						return n.sub
					},
					func(n *noticed) bool { return n.has(1, "subscriptions", "cancel_at_period_end") },
				},
				{
					"customer.subscription.deleted",
					func(n *noticed) string { return n.byHand("DELETE", "/subscriptions/"+n.bought().sub).str("id") },
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'canceled'") },
				},
				{
					"customer.subscription.paused",
					func(n *noticed) string { n.change(n.bought().sub, "status", "paused"); return n.sub },
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'paused'") },
				},
				{
					"customer.subscription.resumed",
					func(n *noticed) string {
						n.change(n.bought().sub, "status", "paused")
						n.notify("customer.subscription.paused", n.sub)
						n.byHand("POST", "/subscriptions/"+n.sub+"/resume")
						return n.sub
					},
					func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'active'") },
				},
				{
					"customer.subscription.trial_will_end", (*noticed).trial,
					func(n *noticed) bool { return n.titled("essai de l’offre « Débutant »") == 1 },
				},
				{
					"invoice.created", func(n *noticed) string { return n.billed("draft") },
					func(n *noticed) bool { return n.has(2, "psp_invoices", "true") && n.has(1, "invoices", "true") },
				},
				{
					"invoice.deleted",
					func(n *noticed) string {
						id := n.billed("draft")
						n.notify("invoice.created", id)
						n.hide(id)
						return id
					},
					func(n *noticed) bool { return n.has(1, "psp_invoices", "true") && n.has(1, "invoices", "true") },
				},
				{
					"invoice.updated", func(n *noticed) string { return n.billed("open") },
					func(n *noticed) bool { return n.has(1, "invoices", "status = 'open'") },
				},
				{
					"invoice.finalized", func(n *noticed) string { return n.billed("open") },
					func(n *noticed) bool { return n.has(1, "invoices", "status = 'open'") },
				},
				{
					"invoice.paid",
					func(n *noticed) string { id := n.told(); n.change(id, "status", "paid"); return id },
					func(n *noticed) bool { return n.has(2, "invoices", "status = 'paid'") },
				},
				{
					"invoice.payment_failed", (*noticed).told,
					func(n *noticed) bool { return n.titled("Payment for the plan “Starter” failed") == 1 },
				},
				{
					"invoice.voided",
					func(n *noticed) string { id := n.told(); n.change(id, "status", "void"); return id },
					func(n *noticed) bool { return n.has(1, "invoices", "status = 'void'") },
				},
				{
					"invoice.marked_uncollectible",
					func(n *noticed) string { id := n.told(); n.change(id, "status", "uncollectible"); return id },
					func(n *noticed) bool { return n.has(1, "invoices", "status = 'uncollectible'") },
				},
				{
					"customer.deleted",
					func(n *noticed) string {
						n.bought()
						return n.byHand("DELETE", "/customers/"+n.held(n.owner, "customer")[0].str("id")).str("id")
					},
					func(n *noticed) bool {
						return n.has(1, "subscriptions", "status = 'canceled'") && n.has(0, "psp_customers", "true") &&
							n.has(1, "audit_logs", "action = 'customer.deleted'")
					},
				},
			} {
				n := &noticed{life: s.life(fmt.Sprintf("tenant%d", i))}
				id := test.change(n)
				if test.effect(n) {
					t.Errorf("%s: it happened before", test.kind)
				}
				s.notify(test.kind, id)
				eventually(t, "the effect of "+test.kind, func() bool { return test.effect(n) }) // a mail takes a while
			}
			s.pricesNoticed()
		})
	}
}

// pricesNoticed is TestNotifications for prices, which are nobody's.
func (s *server) pricesNoticed() {
	s.t.Helper()
	s.chaos(nil)
	n := &noticed{life: s.life("prices")}
	n.bought()
	linked := func(id string) bool {
		return s.count(`SELECT count(*) FROM plan_prices WHERE psp_price_id = $1`, id) == 1
	}
	for kind, change := range map[string]func(id string){
		"price.updated": func(id string) { s.byHand("POST", "/prices/"+id, "active", "false") },
		"price.deleted": s.hide,
	} {
		n.sell("sold-"+kind[len("price."):], "flat", "month", 900, 0, nil)
		plan := n.plan(n.owner, "sold-"+kind[len("price."):])
		s.preview(n.owner, "sold-"+kind[len("price."):], 0).want(200) // makes the provider's price
		id := s.priceThere(plan)
		if !linked(id) {
			s.t.Fatalf("%s: %s is not linked", kind, id)
		}
		change(id)
		s.notify(kind, id)
		if linked(id) {
			s.t.Errorf("%s: nothing happened", kind)
		}
	}
}

// The end of a trial is told once, in the tenant's language, however often it is
// notified; another end is told again, and one that ends the subscription is not.
func TestTrialEndIsToldOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		const kind = "customer.subscription.trial_will_end"
		n := &noticed{life: s.life("ada")}
		id := n.trial()
		told := func(want int) {
			t.Helper()
			s.notify(kind, id)
			s.notify(kind, id)
			eventually(t, "the sending of mail", func() bool { return s.count(`SELECT count(*) FROM jobs WHERE kind = 'mail.send'`) == 0 })
			if got := s.titled("essai de l’offre « Débutant »"); got != want {
				t.Errorf("%d mails, want %d", got, want)
			}
		}
		told(1)
		end := s.now().Add(20 * day).Unix()
		s.byHand("POST", "/subscriptions/"+id, "trial_end", fmt.Sprint(end))
		told(2)
		s.byHand("POST", "/subscriptions/"+id, "trial_end", fmt.Sprint(end+86400), "cancel_at_period_end", "true")
		told(2)
		message := s.call("GET", "/sandbox/mail/messages", "", nil).want(200)
		if !strings.Contains(message.text, "billing@example.com") || !strings.Contains(message.text, "19,00") {
			t.Errorf("the mails are %s", message.text)
		}
	}, signed)
}

// A customer that was deleted at the provider leaves the tenant free to buy again,
// as a new one; the invoices of the old one stay its own.
func TestDeletedCustomer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.settled()
		first := s.held(o, "customer")[0].str("id")
		s.byHand("DELETE", "/customers/"+first)
		s.settled()
		if a := s.subscription(o); a.at("data") != nil {
			t.Errorf("the subscription is %s", a.text)
		}
		s.call("POST", "/api/v1/tenant/"+o.tenant+"/docs/billing/portal", o.token, nil).want(422)
		if n := s.recorded(o, "customer.deleted"); n != 1 {
			t.Errorf("%d entries in the trail", n)
		}
		s.subscribe(o, "starter")
		s.settled()
		sub := s.byHand("GET", "/subscriptions", "status", "active", "limit", "100")
		second := ""
		for _, found := range sub.at("data").([]any) {
			if found := found.(map[string]any); found["metadata"].(map[string]any)["tenant_id"] == o.tenant {
				second = found["customer"].(string)
			}
		}
		if second == "" || second == first {
			t.Errorf("the new subscription is of %q, the old one was of %s", second, first)
		}
		s.invoices(o, 2)
		if found := s.reconcile(false); len(found) != 0 {
			t.Errorf("differences: %v", found)
		}
		// Once more: the third customer is neither of the others.
		s.byHand("DELETE", "/customers/"+second)
		s.settled()
		s.subscribe(o, "starter")
		if got := s.count(`SELECT count(*) FROM psp_customers WHERE psp_customer_id IN ($1, $2)`, first, second); got != 0 {
			t.Errorf("a deleted customer was taken again")
		}
	})
}
