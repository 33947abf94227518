package psp_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

const signingSecret = "whsec_of_tests"

// signed sets the signing secret so that a test can send notifications itself, see notify.
func signed(s *settings.Settings) { s.StripeWebhookSecrets = []settings.Secret{signingSecret} }

// notify sends a notification as the provider would, and returns once it is handled.
func notify(s *apptest.Server, kind, objectID string) {
	s.T.Helper()
	now := clock.System().Now()
	id := fmt.Sprintf("evt_%d", now.UnixNano())
	body, err := json.Marshal(apptest.Object{
		"id": id, "object": "event", "type": kind, "created": now.Unix(), "data": apptest.Object{"object": apptest.Object{"id": objectID}},
	})
	if err != nil {
		s.T.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(signingSecret))
	fmt.Fprintf(mac, "%d.%s", now.Unix(), body)
	r := s.NewRequest("POST", "/api/v1/webhooks/stripe", "", string(body))
	r.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", now.Unix(), hex.EncodeToString(mac.Sum(nil))))
	s.Do(r).Want(200)
	apptest.Eventually(s.T, "the handling of "+kind, func() bool {
		return s.CountRows(`SELECT count(*) FROM psp_events WHERE id = $1 AND handled_at IS NOT NULL`, id) == 1
	})
}

// changeAtProvider sets a field of an object of the sandbox provider, to simulate changes that
// would take days.
func changeAtProvider(s *apptest.Server, id, field, value string) {
	s.T.Helper()
	apptest.Exec(s.T, s.SandboxDB(), `UPDATE stripe_objects SET doc = json_set(doc, '$.' || $2, $3) WHERE id = $1`, id, field, value)
}

// hideAtProvider makes an object of the sandbox provider disappear.
func hideAtProvider(s *apptest.Server, id string) {
	s.T.Helper()
	apptest.Exec(s.T, s.SandboxDB(), `UPDATE stripe_objects SET kind = 'hidden' WHERE id = $1`, id)
}

// mailsTitled counts the mails whose subject contains the text.
func mailsTitled(s *apptest.Server, subject string) (n int) {
	s.T.Helper()
	for _, m := range s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200).At("data").([]any) {
		if strings.Contains(m.(map[string]any)["subject"].(string), subject) {
			n++
		}
	}
	return n
}

// noticed is a tenant that changes at the provider. Only the notification under test reports the
// change.
type noticed struct {
	*apptest.Customer
	sub, invoice string // the IDs of its purchase at the provider
}

// bought subscribes the tenant. From then on, no notification is sent automatically.
func (n *noticed) bought() *noticed {
	n.T.Helper()
	n.Chaos(nil)
	n.BuyPlan(n.Owner, "starter")
	n.AwaitNotifications()
	n.sub, n.invoice = n.ProviderObjects(n.Owner, "subscription")[0].Str("id"), n.ProviderObjects(n.Owner, "invoice")[0].Str("id")
	n.Chaos(apptest.ChaosNoWebhooks)
	return n
}

// billed subscribes the tenant and makes the provider create another invoice with the status.
func (n *noticed) billed(status string) string {
	n.T.Helper()
	n.bought()
	item := n.AtProvider("GET", "/subscriptions/"+n.sub).Str("items.data.0.id")
	n.AtProvider("POST", "/subscriptions/"+n.sub, "items[0][id]", item, "items[0][quantity]", "2", "proration_behavior", "always_invoice")
	id := n.ProviderObjects(n.Owner, "invoice")[1].Str("id")
	changeAtProvider(n.Server, id, "status", status)
	return id
}

// told bills an invoice and reports it, so that the service stores it as open.
func (n *noticed) told() string {
	n.T.Helper()
	id := n.billed("open")
	notify(n.Server, "invoice.finalized", id)
	return id
}

// session submits the hosted page of a checkout and returns the session.
func (n *noticed) session(fill func(page string)) string {
	n.T.Helper()
	n.Chaos(apptest.ChaosNoWebhooks)
	a := n.OpenCheckout(n.PlanID(n.Owner, "starter"), "EUR").Want(200)
	fill(a.Str("data.url"))
	return a.Str("data.session_id")
}

func (n *noticed) byCard(page string)  { n.Submit(page, apptest.Card(apptest.CardPays)).Want(303) }
func (n *noticed) byDebit(page string) { n.Submit(page, apptest.Debit(apptest.DebitPays)).Want(303) }

// trial creates a trial at the provider and sends the notification.
func (n *noticed) trial() string {
	n.T.Helper()
	n.Chaos(apptest.ChaosNoWebhooks)
	n.Call("PATCH", "/api/v1/tenant", n.Token, apptest.Object{"settings": apptest.Object{"locale": "fr"}}).Want(200)
	n.OpenCheckout(n.PlanID(n.Owner, "starter"), "EUR").Want(200)
	customer := n.ProviderObjects(n.Owner, "customer")[0].Str("id")
	card := n.AtProvider("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).Str("id")
	id := n.AtProvider("POST", "/subscriptions", "customer", customer, "default_payment_method", card, "items[0][price]", n.ProviderPriceOf(n.PlanID(n.Owner, "starter")),
		"items[0][quantity]", "1", "trial_period_days", "7").Str("id")
	return id
}

// has reports whether the tenant has count rows of a table that satisfy a condition.
func (n *noticed) has(count int, table, condition string) bool {
	n.T.Helper()
	return n.CountRows(`SELECT count(*) FROM `+table+` WHERE tenant_id = $1 AND `+condition, n.Tenant) == count
}

// notification is a type of notification with the change that it reports, and its effect.
type notification struct {
	kind   string
	change func(n *noticed) (objectID string)
	effect func(n *noticed) bool
}

var subscriptionNotifications = []notification{
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
			changeAtProvider(n.Server, n.ProviderObjects(n.Owner, "subscription")[0].Str("id"), "status", "past_due")
			return id
		},
		func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'past_due'") },
	},
	{
		"checkout.session.expired",
		func(n *noticed) string {
			id := n.session(func(string) {})
			n.AtProvider("POST", "/checkout/sessions/"+id+"/expire")
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
			n.AtProvider("POST", "/subscriptions/"+n.bought().sub, "cancel_at_period_end", "true")
			return n.sub
		},
		func(n *noticed) bool { return n.has(1, "subscriptions", "cancel_at_period_end") },
	},
	{
		"customer.subscription.deleted",
		func(n *noticed) string { return n.AtProvider("DELETE", "/subscriptions/"+n.bought().sub).Str("id") },
		func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'canceled'") },
	},
	{
		"customer.subscription.paused",
		func(n *noticed) string {
			changeAtProvider(n.Server, n.bought().sub, "status", "paused")
			return n.sub
		},
		func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'paused'") },
	},
	{
		"customer.subscription.resumed",
		func(n *noticed) string {
			changeAtProvider(n.Server, n.bought().sub, "status", "paused")
			notify(n.Server, "customer.subscription.paused", n.sub)
			n.AtProvider("POST", "/subscriptions/"+n.sub+"/resume")
			return n.sub
		},
		func(n *noticed) bool { return n.has(1, "subscriptions", "status = 'active'") },
	},
	{
		"customer.subscription.trial_will_end", (*noticed).trial,
		func(n *noticed) bool {
			return mailsTitled(n.Server, "essai de l’offre « Essentiel »") == 1
		},
	},
	{
		"invoice.created", func(n *noticed) string { return n.billed("draft") },
		func(n *noticed) bool { return n.has(2, "psp_invoices", "true") && n.has(1, "invoices", "true") },
	},
	{
		"invoice.deleted",
		func(n *noticed) string {
			id := n.billed("draft")
			notify(n.Server, "invoice.created", id)
			hideAtProvider(n.Server, id)
			return id
		},
		func(n *noticed) bool { return n.has(1, "psp_invoices", "true") && n.has(1, "invoices", "true") },
	},
	{
		"invoice.updated", func(n *noticed) string { return n.billed("open") },
		func(n *noticed) bool { return n.has(1, "invoices", "status = 'open'") },
	},
}

var invoiceNotifications = []notification{
	{
		"invoice.finalized", func(n *noticed) string { return n.billed("open") },
		func(n *noticed) bool { return n.has(1, "invoices", "status = 'open'") },
	},
	{
		"invoice.paid",
		func(n *noticed) string {
			id := n.told()
			changeAtProvider(n.Server, id, "status", "paid")
			return id
		},
		func(n *noticed) bool { return n.has(2, "invoices", "status = 'paid'") },
	},
	{
		"invoice.payment_failed", (*noticed).told,
		func(n *noticed) bool {
			return mailsTitled(n.Server, "Payment failed for the “Starter” plan") == 1
		},
	},
	{
		"invoice.voided",
		func(n *noticed) string {
			id := n.told()
			changeAtProvider(n.Server, id, "status", "void")
			return id
		},
		func(n *noticed) bool { return n.has(1, "invoices", "status = 'void'") },
	},
	{
		"invoice.marked_uncollectible",
		func(n *noticed) string {
			id := n.told()
			changeAtProvider(n.Server, id, "status", "uncollectible")
			return id
		},
		func(n *noticed) bool { return n.has(1, "invoices", "status = 'uncollectible'") },
	},
	{
		"customer.deleted",
		func(n *noticed) string {
			n.bought()
			return n.AtProvider("DELETE", "/customers/"+n.ProviderObjects(n.Owner, "customer")[0].Str("id")).Str("id")
		},
		func(n *noticed) bool {
			return n.has(1, "subscriptions", "status = 'canceled'") && n.has(0, "psp_customers", "true") &&
				n.has(1, "audit_logs", "action = 'customer.deleted'")
		},
	},
}

// Every type of notification that the service handles has its effect, and no effect occurs before
// the notification.
func TestNotifications(t *testing.T) {
	t.Parallel()
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			s := apptest.Start(t, dialect, apptest.WithPlatformInvoices, signed)
			for i, test := range slices.Concat(subscriptionNotifications, invoiceNotifications) {
				n := &noticed{Customer: s.NewCustomer(fmt.Sprintf("tenant%d", i))}
				id := test.change(n)
				if test.effect(n) {
					t.Errorf("%s: the effect preceded the notification", test.kind)
				}
				notify(s, test.kind, id)
				apptest.Eventually(t, "the effect of "+test.kind, func() bool { return test.effect(n) }) // a mail takes some time
			}
			pricesNoticed(s)
		})
	}
}

// pricesNoticed is TestNotifications for prices, which belong to no tenant.
func pricesNoticed(s *apptest.Server) {
	s.T.Helper()
	s.Chaos(nil)
	n := &noticed{Customer: s.NewCustomer("prices")}
	n.bought()
	unsold := func(id string) bool {
		return s.CountRows(`SELECT count(*) FROM psp_price_states WHERE psp_price_id = $1 AND (is_missing OR NOT is_active)`, id) == 1
	}
	for kind, change := range map[string]func(id string){
		"price.updated": func(id string) { s.AtProvider("POST", "/prices/"+id, "active", "false") },
		"price.deleted": func(id string) { hideAtProvider(s, id) },
	} {
		n.AddPlan("sold-"+kind[len("price."):], "flat", "month", 900, 0, nil)
		plan := n.PlanID(n.Owner, "sold-"+kind[len("price."):])
		s.PreviewChange(n.Owner, "sold-"+kind[len("price."):], 0).Want(200) // creates the provider's price
		id := s.ProviderPriceOf(plan)
		if unsold(id) {
			s.T.Fatalf("%s: %s is not sold", kind, id)
		}
		change(id)
		notify(s, kind, id)
		if !unsold(id) {
			s.T.Errorf("%s: no effect", kind)
		}
	}
}

// The end of a trial is mailed once, in the tenant's language, however often the notification
// arrives. A changed end is mailed again, and no mail is sent if the subscription ends with the
// trial.
func TestTrialEndIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		const kind = "customer.subscription.trial_will_end"
		n := &noticed{Customer: s.NewCustomer("ada")}
		id := n.trial()
		told := func(want int) {
			t.Helper()
			notify(s, kind, id)
			notify(s, kind, id)
			apptest.Eventually(t, "the sending of mail", func() bool { return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'mail.send'`) == 0 })
			if got := mailsTitled(s, "essai de l’offre « Essentiel »"); got != want {
				t.Errorf("%d mails, want %d", got, want)
			}
		}
		told(1)
		end := s.Now().Add(20 * apptest.Day).Unix()
		s.AtProvider("POST", "/subscriptions/"+id, "trial_end", fmt.Sprint(end))
		told(2)
		s.AtProvider("POST", "/subscriptions/"+id, "trial_end", fmt.Sprint(end+86400), "cancel_at_period_end", "true")
		told(2)
		message := s.Call("GET", "/sandbox/mail/messages", "", nil).Want(200)
		if !strings.Contains(message.Text, "billing@example.com") || !strings.Contains(message.Text, "19,00") {
			t.Errorf("the mails are %s", message.Text)
		}
	}, signed)
}

// If a tenant's customer is deleted at the provider, the tenant can buy again as a new customer and
// keeps the invoices of the old one.
func TestDeletedCustomer(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		first := s.ProviderObjects(o, "customer")[0].Str("id")
		s.AtProvider("DELETE", "/customers/"+first)
		s.AwaitNotifications()
		if a := s.Subscription(o); a.At("data") != nil {
			t.Errorf("the subscription is %s", a.Text)
		}
		s.Call("POST", o.Path("/docs/billing/portal"), o.Token, nil).Want(422)
		if n := s.CountAudited(o, "customer.deleted"); n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
		s.BuyPlan(o, "starter")
		s.AwaitNotifications()
		sub := s.AtProvider("GET", "/subscriptions", "status", "active", "limit", "100")
		second := ""
		for _, found := range sub.At("data").([]any) {
			if found := found.(map[string]any); found["metadata"].(map[string]any)["tenant_id"] == o.Tenant {
				second = found["customer"].(string)
			}
		}
		if second == "" || second == first {
			t.Errorf("the new subscription is of %q, the old one was of %s", second, first)
		}
		s.Invoices(o, 2)
		if found := s.Reconcile(false); len(found) != 0 {
			t.Errorf("differences: %v", found)
		}
		// Delete the customer again. The third customer is a new one, too.
		s.AtProvider("DELETE", "/customers/"+second)
		s.AwaitNotifications()
		s.BuyPlan(o, "starter")
		if got := s.CountRows(`SELECT count(*) FROM psp_customers WHERE psp_customer_id IN ($1, $2)`, first, second); got != 0 {
			t.Errorf("deleted customer was used again")
		}
	})
}

// An upcoming invoice has no ID, so there is nothing to read back.
func TestAnnouncedInvoicesAreIgnored(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.test", true)
		s.BuyPlan(o, "starter")
		s.Advance(25 * 24 * time.Hour)
		events := s.AtProvider("GET", "/events", "type", "invoice.upcoming")
		events.WantAt("data.0.data.object.object", "invoice")
		events.WantAt("data.0.data.object.billing_reason", "upcoming")
		if id := events.At("data.0.data.object.id"); id != nil {
			t.Errorf("an upcoming invoice has the id %v", id)
		}
		if n := s.CountRows(`SELECT count(*) FROM psp_events WHERE type = 'invoice.upcoming'`); n != 0 {
			t.Errorf("%d upcoming invoices are stored", n)
		}
		apptest.Eventually(t, "the end of all jobs", func() bool {
			return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'psp.event'`) == 0
		})
	})
}
