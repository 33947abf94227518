package subscription

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// An event is published for a change that the API shows, and for no other.
func TestSameViews(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	elsewhere := now.In(time.FixedZone("CET", 3600))
	plan := uuid.New()
	example := func() Subscription {
		return Subscription{
			ID: uuid.New(), PlanID: plan, Status: Active, Currency: "EUR", PriceCents: 1900, Quantity: 1, IntervalUnit: "month",
			IntervalCount: 1, CurrentPeriodStart: now, CurrentPeriodEnd: now.AddDate(0, 1, 0), TrialEndsAt: &now,
			Pending: &PendingChange{PlanID: plan, ExpiresAt: now}, Scheduled: &scheduledChange{PlanID: plan, Quantity: 1, EffectiveAt: now},
		}
	}
	for name, change := range map[string]func(*Subscription){
		"the same":                    func(*Subscription) {},
		"the time of the last change": func(s *Subscription) { s.UpdatedAt = now },
		"the number of states":        func(s *Subscription) { s.SyncVersion++ },
		"the provider's price ID":     func(s *Subscription) { s.PSPPriceID = "price_2" },
		"departures":                  func(s *Subscription) { s.Departures = 3 },
		"the items of usage":          func(s *Subscription) { s.metered = sqldb.JSON(`[1]`) },
		"former terms":                func(s *Subscription) { s.former = sqldb.JSON(`[1]`) },
		"a time of another place":     func(s *Subscription) { s.CurrentPeriodStart, s.TrialEndsAt = elsewhere, &elsewhere },
		"the price of the schedule":   func(s *Subscription) { s.Scheduled.PSPPriceID, s.ScheduleID = "price_2", "sub_sched_2" },
		"the invoice that it awaits":  func(s *Subscription) { s.Pending.PSPInvoiceID = "in_2" },
	} {
		after := example()
		change(&after)
		if !example().hasSameView(after) || !after.hasSameView(example()) {
			t.Errorf("%s is published", name)
		}
	}
	other := now.Add(time.Second)
	for name, change := range map[string]func(*Subscription){
		"status":             func(s *Subscription) { s.Status = Unpaid },
		"plan":               func(s *Subscription) { s.PlanID = uuid.New() },
		"price":              func(s *Subscription) { s.PriceCents++ },
		"quantity":           func(s *Subscription) { s.Quantity++ },
		"unit":               func(s *Subscription) { s.IntervalUnit = "year" },
		"count":              func(s *Subscription) { s.IntervalCount = 3 },
		"begin of a period":  func(s *Subscription) { s.CurrentPeriodStart = other },
		"end of a period":    func(s *Subscription) { s.CurrentPeriodEnd = other },
		"end of the trial":   func(s *Subscription) { s.TrialEndsAt = &other },
		"no trial":           func(s *Subscription) { s.TrialEndsAt = nil },
		"an end":             func(s *Subscription) { s.CancelAt = &other },
		"an end, as a flag":  func(s *Subscription) { s.CancelAtPeriodEnd = true },
		"cancellation":       func(s *Subscription) { s.CanceledAt = &other },
		"payment action":     func(s *Subscription) { s.Action = money.PaymentAction{Type: "pay", URL: "https://example.com"} },
		"nothing scheduled":  func(s *Subscription) { s.Scheduled = nil },
		"scheduled seats":    func(s *Subscription) { s.Scheduled.Quantity++ },
		"scheduled price":    func(s *Subscription) { s.Scheduled.PriceCents++ },
		"nothing waits":      func(s *Subscription) { s.Pending = nil },
		"another plan waits": func(s *Subscription) { s.Pending.PlanID = uuid.New() },
		"another end of it":  func(s *Subscription) { s.Pending.ExpiresAt = other },
	} {
		after := example()
		change(&after)
		if example().hasSameView(after) || after.hasSameView(example()) {
			t.Errorf("a change of %s is not published", name)
		}
	}
}
