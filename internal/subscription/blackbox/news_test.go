package blackbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// withNews enables the optional mails that serve sends by default.
func withNews(s *settings.Settings) { s.OptionalMails = letters.DefaultOptionalMails() }

// wantSubjects waits until all mails are sent, and compares the subjects of the mails to an address,
// oldest first.
func wantSubjects(s *apptest.Server, address string, want ...string) {
	s.T.Helper()
	s.AwaitNotifications()
	apptest.Eventually(s.T, "the mails", func() bool {
		return len(s.Mails(address)) >= len(want) && s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'mail.send'`) == 0
	})
	var got []string
	for _, m := range s.Mails(address) {
		got = append(got, m["subject"].(string))
	}
	slices.Reverse(got)
	if diff := cmp.Diff(want, got); diff != "" {
		s.T.Errorf("mails to %s: -want +got\n%s", address, diff)
	}
}

// wantText checks that the newest mail to an address contains the parts.
func wantText(s *apptest.Server, address string, parts ...string) {
	s.T.Helper()
	text := s.Mails(address)[0]["text"].(string)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			s.T.Errorf("no %q in\n%s", part, text)
		}
	}
}

// The billing address gets one mail for the purchase, the change of plan and the cancellation. No mail
// is sent for a repeated notification, for a resumed subscription, or when the scheduled end is
// reached.
func TestMailsAboutASubscription(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("life")
		small := k.CreatePricedPlan(product, "small", map[string]int{"EUR": 2000})
		k.CreatePricedPlan(product, "large", map[string]int{"EUR": 5000})
		ada, to := newBilled(s, "ada")
		ada.Buy(small, "EUR", apptest.Card(apptest.CardPays))
		const started, changed, canceled = "Your “Plan small” plan is active", "Your plan is now “Plan large”", "Your “Plan large” plan was canceled"
		wantSubjects(s, to, started)
		wantText(s, to, "€20.00", periodEnd(ada).Format("2 January 2006"), "/billing")

		s.ChangePlan(ada.Owner, "large", nil).Want(200)
		wantSubjects(s, to, started, changed)
		wantText(s, to, "from “Plan small” to “Plan large”", "€50.00")

		ada.Cancel(ada.Owner, false).Want(200)
		wantSubjects(s, to, started, changed, canceled)
		end := periodEnd(ada)
		wantText(s, to, "Ends on: "+end.Format("2 January 2006"))
		ada.Resume(ada.Owner).Want(200)
		ada.Cancel(ada.Owner, false).Want(200)
		s.AdvanceTo(end.Add(2 * time.Hour))
		wantSubjects(s, to, started, changed, canceled, canceled)
		ada.WantStatus("canceled")

		ada.Call("PATCH", "/api/v1/tenant", ada.Token, apptest.Object{"settings": apptest.Object{"locale": "fr"}}).Want(200)
		ada.Buy(small, "EUR", apptest.Card(apptest.CardPays))
		ada.Cancel(ada.Owner, true).Want(200)
		wantSubjects(s, to, started, changed, canceled, canceled, "Votre offre «\u00a0Plan small\u00a0» est active", "Votre offre «\u00a0Plan small\u00a0» a été résiliée")
	}, withNews)
}

// A mail reports the end of a subscription after failed payments, whether the subscription is canceled
// or unpaid.
func TestMailAboutTheEndAfterFailedPayments(t *testing.T) {
	t.Parallel()
	for _, outcome := range []string{"canceled", "unpaid"} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			apptest.Each(t, func(t *testing.T, s *apptest.Server) {
				s.SetDunning(outcome)
				ada, to := newBilled(s, "ada")
				ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
				s.Advance(month)
				s.Advance(month)
				ada.WantStatus(outcome)
				var texts []string
				apptest.Eventually(t, "the mail", func() bool {
					texts = nil
					for _, m := range s.Mails(to) {
						if m["subject"] == "Your “Starter” plan has ended" {
							texts = append(texts, m["text"].(string))
						}
					}
					return len(texts) > 0
				})
				if len(texts) != 1 || !strings.Contains(texts[0], "could not collect the payment") || !strings.Contains(texts[0], "Ended on: ") {
					t.Errorf("%d mails: %s", len(texts), texts)
				}
			}, withNews)
		})
	}
}

// The mail about a trial states its end instead of a renewal.
func TestMailAboutATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("tried", "flat", "month", 1000, 14, nil)
		ada, to := newBilled(s, "ada")
		ada.Buy(s.PlanID(ada.Owner, "tried"), "EUR", apptest.Card(apptest.CardPays))
		wantSubjects(s, to, "Your “tried” plan is active")
		ends, err := time.Parse(time.RFC3339, ada.Subscription(ada.Owner).Str("data.trial_ends_at"))
		if err != nil {
			t.Fatal(err)
		}
		wantText(s, to, "Trial ends on: "+ends.Format("2 January 2006"), "€10.00")
		if strings.Contains(s.Mails(to)[0]["text"].(string), "Renews on") {
			t.Error("a trial has a renewal")
		}
	}, withNews)
}
