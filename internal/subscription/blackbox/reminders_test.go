package blackbox_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// reminders checks the reminders that one periodic job sends. subject is the subject of its mails in
// one language.
type reminders struct {
	*apptest.Server
	job, subject string
}

// at advances the clock to a time, and waits until the periodic job has run and sent its mails.
func (r reminders) at(to time.Time) {
	r.T.Helper()
	r.AdvanceTo(to)
	apptest.Eventually(r.T, r.job, func() bool {
		return r.CountRows(`SELECT count(*) FROM jobs WHERE kind = $1 AND due_at > $2 AND lease_id IS NULL`, "every:"+r.job, to) == 1 &&
			r.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'mail.send'`) == 0
	})
}

// to returns the texts of the mails to an address, newest first.
func (r reminders) to(address string) []string {
	r.T.Helper()
	var texts []string
	for _, m := range r.Mails(address) {
		if strings.HasPrefix(m["subject"].(string), r.subject) {
			texts = append(texts, m["text"].(string))
		}
	}
	return texts
}

// want checks the number of mails to an address, and that the newest one contains the parts.
func (r reminders) want(when, address string, n int, parts ...string) {
	r.T.Helper()
	got := r.to(address)
	if len(got) != n {
		r.T.Errorf("%s: %d mails to %s, want %d", when, len(got), address, n)
		return
	}
	for _, part := range parts {
		if !strings.Contains(got[0], part) {
			r.T.Errorf("%s: no %q in\n%s", when, part, got[0])
		}
	}
}

// newBilled registers a customer with its own billing address.
func newBilled(s *apptest.Server, name string) (c *apptest.Customer, address string) {
	s.T.Helper()
	c, address = s.NewCustomer(name), "bills-"+name+"@example.com"
	s.Call("PATCH", "/api/v1/tenant", c.Token, apptest.Object{"billing_email": address}).Want(200)
	return c, address
}

func periodEnd(c *apptest.Customer) time.Time {
	c.T.Helper()
	end, err := time.Parse(time.RFC3339, c.Subscription(c.Owner).Str("data.current_period_end"))
	if err != nil {
		c.T.Fatal(err)
	}
	return end
}

func withOptionalMails(s *settings.Settings) {
	s.OptionalMails = []string{letters.MailCardExpires, letters.MailRenewalReminder, letters.MailLastAttempt}
}

// The renewal of a cycle of six months or more is announced once, seven days before, unless a
// cancellation is scheduled.
func TestRenewalReminder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("long")
		half := k.CreatePricedPlan(product, "half", map[string]int{"EUR": 12300}, apptest.Object{"interval_unit": "month", "interval_count": 6})
		five := k.CreatePricedPlan(product, "five", map[string]int{"EUR": 12300}, apptest.Object{"interval_unit": "month", "interval_count": 5})
		r := reminders{s, "subscription.renewal-reminder", "Your “"}
		ada, adas := newBilled(s, "ada")
		bob, bobs := newBilled(s, "bob")
		eve, eves := newBilled(s, "eve")
		ada.Buy(half, "EUR", apptest.Card(apptest.CardPays))
		bob.Buy(five, "EUR", apptest.Card(apptest.CardPays))
		eve.Buy(half, "EUR", apptest.Card(apptest.CardPays))
		eve.Cancel(eve.Owner, false).Want(200)
		end := periodEnd(ada)
		r.at(end.AddDate(0, 0, -7).Add(-time.Minute))
		r.want("before the seven days", adas, 0)
		r.at(end.AddDate(0, 0, -7).Add(time.Minute))
		r.want("seven days before", adas, 1, "€123.00", end.Format("2 January 2006"))
		r.at(end.AddDate(0, 0, -1))
		r.want("a day before", adas, 1)
		r.want("a scheduled cancellation", eves, 0)
		r.want("five months", bobs, 0)
		eve.LogInAgain()
		eve.Resume(eve.Owner).Want(200)
		r.at(end.Add(-time.Hour))
		r.want("a resumed subscription", eves, 1)
		r.at(end.Add(2 * time.Hour))
		r.want("after the renewal", adas, 1)
		ada.LogInAgain()
		r.at(periodEnd(ada).AddDate(0, 0, -6))
		r.want("the next renewal", adas, 2)
	}, withOptionalMails)
}

// If a change is scheduled, the reminder of the renewal names the plan that renews, with its price.
func TestRenewalReminderOfAScheduledChange(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("long")
		yearly := apptest.Object{"interval_unit": "year", "interval_count": 1}
		old := k.CreatePricedPlan(product, "bronze", map[string]int{"EUR": 12300}, yearly)
		next := k.CreatePricedPlan(product, "silver", map[string]int{"EUR": 33300}, yearly)
		name := k.AdminCall("GET", "/plans/"+next, nil).Want(200).Str("data.translations.en.name")
		r := reminders{s, "subscription.renewal-reminder", "Your “" + name + "” plan"}
		ada, adas := newBilled(s, "ada")
		ada.Buy(old, "EUR", apptest.Card(apptest.CardPays))
		later(ada, next).Want(200)
		r.at(periodEnd(ada).AddDate(0, 0, -6))
		r.want("the scheduled change", adas, 1, name, "€333.00")
		if n := countMails(s, adas, "renews soon"); n != 1 {
			t.Errorf("%d reminders", n)
		}
	}, withOptionalMails)
}

// The expiry of a card is announced 30 and 7 days before the end of its month.
func TestCardReminder(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		r := reminders{s, "subscription.card-reminder", "Your card"}
		now := s.Now().UTC()
		month := time.Date(now.Year(), now.Month()+3, 1, 0, 0, 0, 0, time.UTC)
		end := month.AddDate(0, 1, 0)
		expire := func(c *apptest.Customer, in time.Time) {
			for _, pm := range c.ProviderObjects(c.Owner, "payment_method") {
				s.AtProvider("POST", "/payment_methods/"+pm.Str("id"), "card[exp_month]", strconv.Itoa(int(in.Month())), "card[exp_year]", strconv.Itoa(in.Year()))
			}
		}
		all := map[string]string{}
		customers := map[string]*apptest.Customer{}
		for _, name := range []string{"ada", "next", "ends", "over", "debit", "replaces"} {
			c, address := newBilled(s, name)
			way := apptest.Card(apptest.CardPays)
			if name == "debit" {
				way = apptest.Debit(apptest.DebitPays)
			}
			c.Buy(s.PlanID(c.Owner, "starter"), "EUR", way)
			if name != "debit" {
				expire(c, month)
			}
			all[name], customers[name] = address, c
		}
		expire(customers["next"], end)
		customers["ends"].Call("POST", customers["ends"].Path("/subscription/cancel"), customers["ends"].Token, apptest.Object{"immediately": false}).Want(200)
		customers["over"].Cancel(customers["over"].Owner, true).Want(200)

		r.at(end.AddDate(0, 0, -30).Add(-time.Minute))
		r.want("before the 30 days", all["ada"], 0)
		r.at(end.AddDate(0, 0, -30).Add(time.Minute))
		r.want("30 days before", all["ada"], 1, "4242", month.Format("01/2006"))
		r.want("30 days before", all["replaces"], 1)
		customers["replaces"].LogInAgain()
		customers["replaces"].ReplaceCard(apptest.CardPays)
		r.at(end.AddDate(0, 0, -8))
		r.want("8 days before", all["ada"], 1)
		r.at(end.AddDate(0, 0, -7).Add(time.Minute))
		r.want("7 days before", all["ada"], 2, "4242")
		r.at(end.Add(time.Minute))
		r.at(end.AddDate(0, 0, 3)) // at most 30 days before the end of the next month
		r.want("afterwards", all["ada"], 2)
		r.want("a replaced card", all["replaces"], 1)
		r.want("the next month", all["next"], 1)
		for _, name := range []string{"ends", "over", "debit"} {
			r.want(name, all[name], 0)
		}
	}, withOptionalMails)
}

// The last attempt to collect an invoice is announced a day before, with the link to pay.
func TestLastAttemptReminder(t *testing.T) {
	t.Parallel()
	for attempts, days := range map[int]int{0: 15, 3: 8} { // the sandbox retries after 3, 8 and 15 days
		t.Run(strconv.Itoa(attempts), func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				s.SetDunning("past_due")
				r := reminders{s, "invoice.last-attempt", "Last payment attempt"}
				ada, adas := newBilled(s, "ada")
				eve, eves := newBilled(s, "eve")
				pays, payss := newBilled(s, "pays")
				for _, c := range []*apptest.Customer{ada, eve, pays} {
					c.Buy(s.PlanID(c.Owner, "starter"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				}
				s.Advance(month)
				last := firstFailures(ada)[0].AddDate(0, 0, days)
				eve.LogInAgain()
				eve.Cancel(eve.Owner, false).Want(200)
				r.at(last.Add(-24*time.Hour - time.Minute))
				r.want("before the day", adas, 0)
				pays.LogInAgain()
				pays.ReplaceCard(apptest.CardPays)
				pays.PayOpenInvoices(apptest.Card(apptest.CardPays))
				r.at(last.Add(-24*time.Hour + time.Minute))
				var link string
				for _, in := range ada.ProviderObjects(ada.Owner, "invoice") {
					if in.At("status") == "open" {
						link = in.Str("hosted_invoice_url")
					}
				}
				r.want("a day before", adas, 1, link, "€19.00")
				r.at(last.Add(-time.Hour))
				r.want("an hour before", adas, 1)
				r.at(last.Add(8 * apptest.Day))
				r.want("afterwards", adas, 1)
				r.want("a scheduled cancellation", eves, 0)
				r.want("a paid invoice", payss, 0)
			}, withOptionalMails, func(s *settings.Settings) { s.PaymentAttempts = attempts })
		})
	}
}

// Without the setting, none of the three mails is sent.
func TestRemindersAreOptional(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, adas := newBilled(s, "ada")
		k := s.CatalogAdmin()
		year := k.CreatePricedPlan(k.CreateProduct("long"), "year", map[string]int{"EUR": 12300}, apptest.Object{"billing_cycle": "yearly"})
		ada.Buy(year, "EUR", apptest.Card(apptest.CardPays))
		r := reminders{s, "subscription.renewal-reminder", ""}
		r.at(periodEnd(ada).AddDate(0, 0, -6))
		r.want("off", adas, 0)
	})
}
