package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

const grace = 7 * apptest.Day

func withGrace(s *settings.Settings) { s.PastDueGrace = grace }

// wantFeatures checks whether the customer has its features and when the grace period ends. since is
// the start of the grace period, or zero without one.
func wantFeatures(c *apptest.Customer, what string, has bool, since time.Time) {
	c.T.Helper()
	c.LogInAgain()
	if got := c.HasAccess(); got != has {
		c.T.Errorf("%s: features %v", what, got)
	}
	var want any
	if !since.IsZero() {
		want = since.Add(grace).UTC().Format("2006-01-02T15:04:05Z")
	}
	got := c.Subscription(c.Owner).As(what)
	if at, _ := got.At("data.features_until").(string); at != "" {
		parsed, err := time.Parse(time.RFC3339, at)
		if err != nil || want == nil || !parsed.Equal(since.Add(grace)) {
			c.T.Errorf("%s: features until %s, want %v", what, at, want)
		}
	} else if want != nil {
		c.T.Errorf("%s: no end of the features, want %v: %s", what, want, got.Text)
	}
}

// firstFailures returns the times of the first failed charge of each open invoice, oldest first.
func firstFailures(c *apptest.Customer) []time.Time {
	c.T.Helper()
	var all []time.Time
	seen := map[any]bool{}
	for _, ch := range c.ProviderObjects(c.Owner, "charge") {
		if intent := ch.At("payment_intent"); ch.At("status") == "failed" && !seen[intent] {
			seen[intent] = true
			all = append(all, time.Unix(int64(ch.At("created").(float64)), 0))
		}
	}
	return all
}

// A past_due subscription keeps its features for the days of the grace period, which begins with the
// first failed attempt to pay the oldest unpaid invoice (rules: subscription#grace-period).
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.SetDunning("past_due")
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		wantFeatures(ada, "active", true, time.Time{})
		s.Advance(month)
		first := firstFailures(ada)[0]
		wantFeatures(ada, "past_due", true, first)
		s.AdvanceTo(first.Add(grace - 10*time.Minute)) // the first retry has failed, too
		wantFeatures(ada, "before the end", true, first)
		s.Call("GET", "/api/v1/studio/access", ada.Token, nil).Want(200)
		s.AdvanceTo(first.Add(grace))
		wantFeatures(ada, "at the end", false, first)

		// The next invoice is unpaid as well. Once the older invoice is paid, the grace period counts
		// from the newer one.
		s.Advance(31 * apptest.Day)
		all := firstFailures(ada)
		if len(all) != 2 {
			t.Fatalf("failures: %v", all)
		}
		wantFeatures(ada, "two unpaid invoices", false, first)
		ada.ReplaceCard(apptest.CardPays)
		var open []string
		for _, in := range ada.ProviderObjects(ada.Owner, "invoice") {
			if in.At("status") == "open" {
				open = append(open, in.Str("id"))
			}
		}
		s.PayAtProvider(open[0])
		s.AwaitNotifications()
		if ada.Subscription(ada.Owner).At("data.status") == "past_due" {
			wantFeatures(ada, "the younger invoice", s.Now().Before(all[1].Add(grace)), all[1])
			s.PayAtProvider(open[1])
			s.AwaitNotifications()
		} else {
			t.Error("the sandbox activates a subscription with an open invoice")
		}
		wantFeatures(ada, "paid", true, time.Time{})
	}, withGrace)
}

// A bank debit fails days after the attempt. The grace period begins when it fails.
func TestGracePeriodOfADebit(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Debit(apptest.DebitFails))
		s.Advance(5*apptest.Day + time.Hour)
		ada.LogInAgain()
		until, err := time.Parse(time.RFC3339, ada.Subscription(ada.Owner).Str("data.features_until"))
		if err != nil || until.Before(s.Now().Add(grace-2*time.Hour)) || until.After(s.Now().Add(grace)) {
			t.Errorf("features until %v, now %v", until, s.Now())
		}
		s.Advance(apptest.Day)
		s.AtProvider("POST", "/subscriptions/"+ada.ProviderObjects(ada.Owner, "subscription")[0].Str("id"), "metadata[a]", "b")
		s.AwaitNotifications()
		wantFeatures(ada, "a day later", true, until.Add(-grace))
		ada.Cancel(ada.Owner, true).Want(200)
		ada.WantStatus("canceled")
	}, withGrace)
}

// Without a grace period, late payments take the features away.
func TestNoGracePeriod(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.NewCustomer("ada")
		ada.Buy(s.PlanID(ada.Owner, "starter"), "EUR", apptest.Card(apptest.CardFailsAtRenewal))
		s.Advance(month)
		ada.WantStatus("past_due")
		wantFeatures(ada, "past_due", false, time.Time{})
	})
}
