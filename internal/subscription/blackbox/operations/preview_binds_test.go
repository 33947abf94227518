package blackbox_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// amounts holds the amounts of a preview.
type amounts struct{ credit, charge, net, pending float64 }

// amountsAt reads the amounts of a preview, which is at data or preview in the response.
func amountsAt(a apptest.Reply, at string) amounts {
	a.T.Helper()
	cents := func(name string) float64 { return a.At(at + "." + name + ".cents").(float64) }
	return amounts{cents("credit"), cents("charge"), cents("net"), cents("breakdown.pending")}
}

// setPrice sets the EUR price of a plan directly in the database.
func setPrice(s *apptest.Server, slug string, cents int) {
	s.T.Helper()
	apptest.Exec(s.T, s.DB(), `UPDATE plan_prices SET price_cents = $1, psp_price_id = NULL
		WHERE currency = 'EUR' AND plan_id = (SELECT id FROM plans WHERE slug = $2)`, cents, slug)
}

// buyer is a tenant whose last invoice is checked.
type buyer struct{ *apptest.Customer }

func (b buyer) invoices() []apptest.Reply { return b.ProviderObjects(b.Owner, "invoice") }

// changes selects another plan and expects exactly these amounts to be charged.
func (b buyer) changes(slug string, more apptest.Object, want amounts) {
	b.T.Helper()
	before := len(b.invoices())
	b.ChangePlan(b.Owner, slug, more).Want(200).WantAt("data.action", "updated")
	b.charged(before, want)
}

// charged expects exactly one new invoice, with these amounts.
func (b buyer) charged(before int, want amounts) {
	b.T.Helper()
	made := b.invoices()[before:]
	if len(made) != 1 {
		b.T.Fatalf("%d invoices for %+v", len(made), want)
	}
	var credit, charge float64
	for _, line := range made[0].At("lines.data").([]any) {
		if amount := line.(apptest.Object)["amount"].(float64); amount < 0 {
			credit -= amount
		} else {
			charge += amount
		}
	}
	if credit != want.credit || charge != want.charge || made[0].At("total") != want.net {
		b.T.Errorf("charged %v − %v = %v, but the preview shows %+v", charge, credit, made[0].At("total"), want)
	}
}

// outdated expects the change to be rejected without effect because the amounts have changed, and
// returns the new amounts.
func (b buyer) outdated(slug string, more apptest.Object, shown amounts) amounts {
	b.T.Helper()
	before, plan := len(b.invoices()), b.Subscription(b.Owner).At("data.plan.id")
	a := b.ChangePlan(b.Owner, slug, more)
	a.WantRefused(409, "preview_outdated")
	now := amountsAt(a, "preview")
	if now == shown || a.At("preview.breakdown.method") == nil {
		b.T.Errorf("the new amounts are the old ones: %+v", now)
	}
	if b.Subscription(b.Owner).At("data.plan.id") != plan || len(b.invoices()) != before {
		b.T.Error("the refused change had an effect")
	}
	return now
}

func (b buyer) sees(slug string, quantity int) amounts {
	b.T.Helper()
	a := b.PreviewChange(b.Owner, slug, quantity)
	wantAmounts(a)
	return amountsAt(a, "data")
}

// joins adds a member and waits until the seat is billed.
func (b buyer) joins(name string, seats float64) {
	b.T.Helper()
	b.Join(b.Owner, name, name+"@example.com", "member")
	apptest.Eventually(b.T, "the seats", func() bool { return b.Subscription(b.Owner).At("data.quantity") == seats })
	b.AwaitNotifications()
}

// newShop adds the plans of the preview tests. It returns a function that creates a tenant with one
// of them.
func newShop(s *apptest.Server) func(name, slug string) buyer {
	s.AddPlan("pro", "flat", "month", 4900, 0, nil)
	s.AddPlan("max", "flat", "month", 90000, 0, nil)
	s.AddPlan("crew", "seat", "month", 3000, 0, nil)
	return func(name, slug string) buyer {
		s.T.Helper()
		b := buyer{s.NewCustomer(name)}
		s.BuyPlan(b.Owner, slug)
		s.AwaitNotifications()
		return b
	}
}

// A change charges the amounts of the last preview, or it is not made.
func TestPreviewBinds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		buys := newShop(s)
		t.Run("a price changes", func(t *testing.T) {
			b := buys("price", "starter")
			shown := b.sees("pro", 0)
			setPrice(s, "pro", 8000)
			now := b.outdated("pro", nil, shown)
			setPrice(s, "pro", 9000)
			now = b.outdated("pro", nil, now)
			b.changes("pro", nil, now)
			setPrice(s, "pro", 4900)
		})
		t.Run("pending seats", func(t *testing.T) {
			b := buys("pending", "crew")
			b.joins("pending1", 2)
			shown := b.sees("max", 0)
			if shown.pending < 2990 || shown.pending > 3000 || shown.credit < 6000 || shown.net != shown.charge-shown.credit {
				t.Errorf("one more seat for the rest of the period: %+v", shown)
			}
			// Another member joins, possibly within the same second.
			b.joins("pending2", 3)
			now := b.outdated("max", nil, shown)
			if now.pending < 5980 || now.pending > 6000 {
				t.Errorf("two more seats: %+v", now)
			}
			b.changes("max", nil, now)
		})
		t.Run("somebody joins", func(t *testing.T) {
			b := buys("joins", "starter")
			one, two := b.sees("crew", 0), b.sees("crew", 2)
			b.Join(b.Owner, "joins1", "joins1@example.com", "member")
			if now := b.outdated("crew", nil, one); now != two {
				t.Errorf("two seats cost %+v, the preview shows %+v", now, two)
			}
			b.changes("crew", nil, two)
		})
		t.Run("from a free plan", func(t *testing.T) {
			b := buys("free", "free")
			shown := b.sees("pro", 0)
			setPrice(s, "pro", 8000)
			now := b.outdated("pro", apptest.ReturnURLs, shown)
			if now.charge != 8000 {
				t.Errorf("now it costs %+v", now)
			}
			b.ChangePlan(b.Owner, "pro", apptest.ReturnURLs).Want(200).WantAt("data.action", "checkout_required")
			setPrice(s, "pro", 4900)
		})
	})
}

// A preview is binding for 15 minutes, for every user of the tenant, and within its period.
func TestPreviewBindsForItsTime(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		buys := newShop(s)
		t.Run("several look", func(t *testing.T) {
			b := buys("several", "starter")
			s.Join(b.Owner, "several1", "several1@example.com", "admin")
			s.Advance(time.Hour)
			b.LogInAgain()
			shown := b.sees("max", 0)
			s.Advance(5 * time.Minute)
			// A preview binds the changes of the user who saw it.
			path := b.Path("/subscription/preview-change?new_plan_id=") + s.PlanID(b.Owner, "max")
			s.Call("GET", path, s.LogIn("several1@example.com"), nil).Want(200)
			s.Advance(9 * time.Minute)
			b.LogInAgain()
			b.changes("max", nil, shown)
		})
		t.Run("too late", func(t *testing.T) {
			b := buys("late", "starter")
			shown := b.sees("max", 0)
			s.Advance(16 * time.Minute)
			b.LogInAgain()
			before := len(b.invoices())
			b.ChangePlan(b.Owner, "max", nil).Want(200)
			if total := b.invoices()[before].At("total").(float64); total >= shown.net {
				t.Errorf("after its time %v, the preview was %v", total, shown.net)
			}
		})
		t.Run("the period is over", func(t *testing.T) {
			b := buys("renews", "starter")
			end, err := time.Parse(time.RFC3339Nano, b.Subscription(b.Owner).Str("data.current_period_end"))
			if err != nil {
				t.Fatal(err)
			}
			s.AdvanceTo(end.Add(-5 * time.Minute))
			b.LogInAgain()
			shown := b.sees("max", 0)
			s.Advance(10 * time.Minute)
			b.outdated("max", nil, shown)
			s.AwaitNotifications()
		})
	})
}

// While the team changes, a change of plan charges the previewed amounts or is not made, whether it
// comes before or after the change of seats.
func TestPreviewBindsWhileTheTeamChanges(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		s.AddPlan("max", "flat", "month", 90000, 0, nil)
		refused := 0
		for round := range dbtest.Rounds(3, 15) {
			b := buyer{s.NewCustomer(fmt.Sprintf("ada%d", round))}
			s.BuyPlan(b.Owner, "crew")
			s.AwaitNotifications()
			plan, email := s.PlanID(b.Owner, "max"), fmt.Sprintf("grace%d@example.com", round)
			token := s.RegisterAlone("Member", email)
			_, invitation := s.Invite(b.Owner, email, "member")
			shown, before := b.sees("max", 0), len(b.invoices())
			var changed apptest.Reply
			var wg sync.WaitGroup
			wg.Go(func() { s.Call("POST", "/api/v1/invitations/"+invitation+"/accept", token, nil).Want(200) })
			wg.Go(func() {
				time.Sleep(time.Duration(round%5) * 40 * time.Millisecond) // varies the order of the two
				changed = s.Call("POST", b.Path("/subscription/change-plan"), b.Token, apptest.Object{"new_plan_id": plan})
			})
			wg.Wait()
			for changed.Status == http.StatusConflict { // at most once for the member and once for the seat
				refused++
				changed.WantRefused(409, "preview_outdated")
				shown = amountsAt(changed, "preview")
				if n := len(b.invoices()); n != before {
					t.Fatalf("rejected change created %d invoices", n-before)
				}
				changed = b.ChangePlan(b.Owner, "max", nil)
			}
			changed.Want(200)
			b.charged(before, shown)
			s.AwaitNotifications()
		}
		t.Logf("%d changes were refused first", refused)
	})
}
